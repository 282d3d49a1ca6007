"""What a run must reach: the suite's table ``[gate]``, and what a caller says beyond it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tracelens.errors import UsageError, did_you_mean
from tracelens.suite.names import PASS_RATE, SCORES, VERDICTS

if TYPE_CHECKING:
    from tracelens.suite.blocks import Gate

KNOWN = (PASS_RATE, *SCORES, *VERDICTS)
"""Metrics that every run has; those of dialects come to them."""


@dataclass(frozen=True, slots=True)
class GateRules:
    """What a run must reach.

    Attributes:
        min: Lowest mean by metric.
        max_drop: How far a mean may fall below that of the base, by metric.
        min_scored: How many values a mean needs.
        allow_unscored: How many traces may lack a value that they should have.
        allow_missing: How many cases may have no trace.
        confidence: Confidence at which a drop must be significant; None: any drop counts.
        allow_inconclusive: Whether the gate passes where too few cases could have shown a drop.
        no_safety_hits: Whether any safety hit fails it.
    """

    min: Mapping[str, float] = field(default_factory=dict)
    max_drop: Mapping[str, float] = field(default_factory=dict)
    min_scored: int = 1
    allow_unscored: int = 0
    allow_missing: int = 0
    confidence: float | None = None
    allow_inconclusive: bool = False
    no_safety_hits: bool = False

    @classmethod
    def of(
        cls,
        suite: Gate,
        *,
        min: Mapping[str, float] | None = None,
        max_drop: Mapping[str, float] | None = None,
        min_scored: int | None = None,
        allow_unscored: int | None = None,
        allow_missing: int | None = None,
        confidence: float | None = None,
        allow_inconclusive: bool = False,
    ) -> GateRules:
        """The suite's rules, with what a caller says in their place.

        Args:
            suite: The table ``[gate]``.
            min: Goes over the suite's, metric by metric; so does ``max_drop``. What else is given takes its place.
            max_drop: As above.
            min_scored: As above.
            allow_unscored: As above.
            allow_missing: As above.
            confidence: As above.
            allow_inconclusive: As above, where true.

        Raises:
            UsageError: A number is out of range.

        Example:
            >>> from tracelens.suite import Suite
            >>> suite = Suite.from_dict({"gate": {"min": {"f1": 0.5, "recall": 0.8}, "min_scored": 20}})
            >>> rules = GateRules.of(suite.gate, min={"f1": 0.75})
            >>> dict(rules.min), rules.min_scored
            ({'f1': 0.75, 'recall': 0.8}, 20)
        """
        if confidence is not None and not 0.5 < confidence < 1:
            raise UsageError(f"a confidence of {confidence} is not between 0.5 and 1", hint="such as 0.95")
        if min_scored is not None and min_scored < 1:
            raise UsageError(f"--min-scored {min_scored} would accept a mean of nothing", hint="at least 1")
        for name, number in (("unscored traces", allow_unscored), ("missing cases", allow_missing)):
            if number is not None and number < 0:
                raise UsageError(f"cannot allow {number} {name}", hint="at least 0")
        return cls(
            min={**suite.min, **(min or {})},
            max_drop={**suite.max_drop, **(max_drop or {})},
            min_scored=suite.min_scored if min_scored is None else min_scored,
            allow_unscored=suite.allow_unscored if allow_unscored is None else allow_unscored,
            allow_missing=suite.allow_missing if allow_missing is None else allow_missing,
            confidence=suite.confidence if confidence is None else confidence,
            allow_inconclusive=suite.allow_inconclusive or allow_inconclusive,
            no_safety_hits=suite.no_safety_hits,
        )


def limits(texts: Iterable[str], option: str, more: Iterable[str] = ()) -> dict[str, float]:
    """Limits from texts ``metric=number``.

    Args:
        texts: The texts.
        option: How the option is called, for messages.
        more: Further metrics, those of the suite's dialects.

    Raises:
        UsageError: A text is none, names no metric, or its number is none.

    Example:
        >>> limits(["pass_rate=0.95", "f1=1"], "--min")
        {'pass_rate': 0.95, 'f1': 1.0}
        >>> limits(["pas_rate=1"], "--min")
        Traceback (most recent call last):
        ...
        tracelens.errors.UsageError: --min: unknown metric 'pas_rate'. Hint: did you mean 'pass_rate'?
    """
    found, known = {}, (*KNOWN, *more)
    for text in texts:
        name, _, number = text.partition("=")
        name = name.strip()
        if name not in known:
            hint = did_you_mean(name, known) or f"metrics are {', '.join(known)}"
            raise UsageError(f"unknown metric {name!r}", where=option, hint=hint)
        try:
            value = float(number)
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or (option == "--max-drop" and value < 0):
            raise UsageError(f"{text!r} gives no limit", where=option, hint=f"such as {option} {name}=0.05")
        found[name] = value
    return found
