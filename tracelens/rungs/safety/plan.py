"""What safety has to look for in a run, compiled once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from tracelens.kernels.windows import Look
from tracelens.rungs.safety import destructive, masking, network, shell
from tracelens.rungs.safety.looks import look_for
from tracelens.rungs.safety.own import OwnPattern, PatternLike
from tracelens.rungs.safety.paths import Restricted
from tracelens.rungs.safety.rules import Rule, spread

_PACK_RULES: dict[str, tuple[Rule, ...]] = {
    "shell": shell.RULES,
    "destructive": destructive.RULES,
    "network": network.RULES,
}

EVERYTHING = (1 << 63) - 1
"""All groups of windows."""

PATHS = 61
"""Group of the windows of guarded paths; below are those of ``SafetyPlan.rules``, in order."""

SECRETS = 62
"""Group of the windows of secrets."""


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
        rules: Rules of the packs shell, destructive and network that are on.
        restricted: Guarded paths; None when the pack is off.
        own: The suite's own patterns.
        windows: Windows of the packs, a group for each rule, for guarded paths and for secrets.
    """

    packs: frozenset[str]
    rules: tuple[Rule, ...]
    restricted: Restricted | None
    own: tuple[OwnPattern, ...]
    windows: tuple[tuple[str, ...], ...]

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
        windows: list[tuple[str, ...]] = [()] * (SECRETS + 1)
        windows[: len(rules)] = [rule.windows for rule in rules]
        windows[PATHS] = restricted.windows() if restricted is not None else ()
        windows[SECRETS] = masking.WINDOWS if "secrets" in packs else ()
        plan = cls(
            packs=packs,
            rules=rules,
            restricted=restricted,
            own=tuple(OwnPattern.of(pattern) for pattern in safety.patterns),
            windows=tuple(windows),
        )
        if plan.looks:
            plan.look()
        return plan

    def look(self, *, loose: bool = False) -> Look:
        """The windows as `mark_texts` reads them.

        Args:
            loose: For texts that are not valid JSON.
        """
        return _look(self.windows, loose=loose)

    @property
    def looks(self) -> bool:
        """Whether a pack is on."""
        return any(self.windows)

    @property
    def active(self) -> bool:
        """Whether there is anything to look for."""
        return self.looks or bool(self.own)

    @property
    def masks(self) -> bool:
        """Whether secrets are masked in what is stored."""
        return "secrets" in self.packs


@lru_cache(maxsize=16)
def _look(windows: tuple[tuple[str, ...], ...], *, loose: bool) -> Look:
    return look_for(tuple(tuple(spread(some, loose=loose)) for some in windows))
