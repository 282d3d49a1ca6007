"""What safety has to look for in a run, compiled once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tracelens.rungs.safety import destructive, masking, network, shell
from tracelens.rungs.safety.own import OwnPattern, PatternLike
from tracelens.rungs.safety.paths import Restricted
from tracelens.rungs.safety.rules import Rule, rust_gate, window_table

_PACK_RULES: dict[str, tuple[Rule, ...]] = {
    "shell": shell.RULES,
    "destructive": destructive.RULES,
    "network": network.RULES,
}


class SafetyLike(Protocol):
    """The safety table of a suite."""

    @property
    def packs(self) -> Iterable[str]:
        """Built-in packs that are on."""

    @property
    def restricted_paths(self) -> Iterable[str]:
        """What the pack ``paths`` guards."""

    @property
    def patterns(self) -> Iterable[PatternLike]:
        """Own patterns."""


@dataclass(frozen=True, slots=True)
class SafetyPlan:
    """What to look for.

    Attributes:
        packs: Built-in packs that are on.
        rules: Rules of the packs shell, destructive and network that are on, with their compiled gates.
        restricted: Guarded paths; None when the pack is off.
        own: The suite's own patterns.
        gate: Rust regular expression found in every JSON text with a hit of a pack, "" when no pack is on.
        loose_gate: The same for texts that are not valid JSON.
        table: uint64[1024], the byte patterns that go with the gates (see `mark_texts`).
    """

    packs: frozenset[str]
    rules: tuple[tuple[Rule, re.Pattern[str]], ...]
    restricted: Restricted | None
    own: tuple[OwnPattern, ...]
    gate: str
    loose_gate: str
    table: npt.NDArray[np.uint64]

    @classmethod
    def compile(cls, safety: SafetyLike) -> SafetyPlan:
        """The plan for the safety table of a suite.

        Example:
            >>> from types import SimpleNamespace
            >>> plan = SafetyPlan.compile(SimpleNamespace(packs=["shell"], restricted_paths=[], patterns=[]))
            >>> plan.active, plan.masks
            (True, False)
        """
        packs = frozenset(safety.packs)
        rules = tuple(rule for pack in sorted(packs & set(_PACK_RULES)) for rule in _PACK_RULES[pack])
        paths = tuple(safety.restricted_paths) if "paths" in packs else ()
        restricted = Restricted.of(paths) if paths else None
        gates = [rule.gate for rule in rules]
        windows = [window for rule in rules for window in rule.windows]
        if restricted is not None:
            gates.append(restricted.gate())
            windows += restricted.windows()
        if "secrets" in packs:
            gates.append(masking.GATE)
            windows += masking.WINDOWS
        return cls(
            packs=packs,
            rules=tuple((rule, rule.compiled()) for rule in rules),
            restricted=restricted,
            own=tuple(OwnPattern.of(pattern) for pattern in safety.patterns),
            gate=rust_gate(gates) if gates else "",
            loose_gate=rust_gate([*gates, shell.SUBSTITUTION] if "shell" in packs else gates) if gates else "",
            table=window_table(windows),
        )

    @property
    def active(self) -> bool:
        """Whether there is anything to look for."""
        return bool(self.gate or self.own)

    @property
    def masks(self) -> bool:
        """Whether secrets are masked in what is stored."""
        return "secrets" in self.packs
