"""What has to be reached, and whether a call has the arguments that a milestone asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from tracelens.kernels.reference.matchers import matcher
from tracelens.kernels.reference.normal import NO_RULES, Rules
from tracelens.kernels.reference.relation import exact
from tracelens.kernels.reference.values import is_object, parse
from tracelens.suite import Suite

_UNKNOWN = ("not_captured", "truncated")


class MustCallLike(Protocol):
    """A call that must appear."""

    @property
    def tool(self) -> str:
        """Name of the tool."""

    @property
    def arguments(self) -> Any:
        """Values or matchers of some arguments; None: any arguments."""

    @property
    def min(self) -> int:
        """How many such calls at least."""


class MilestonesLike(Protocol):
    """Milestones of a suite or a case."""

    @property
    def must_call(self) -> Iterable[MustCallLike]:
        """Calls that must appear."""

    @property
    def order(self) -> Iterable[Iterable[str]]:
        """Chains of tools."""

    @property
    def max_steps(self) -> int | None:
        """Most calls."""


def _same_name(name: str) -> str | None:
    return name


def _no_rules(_: str) -> Rules:
    return NO_RULES


@dataclass(frozen=True, slots=True)
class MilestonePlan:
    """What has to be reached.

    Attributes:
        suite: Milestones of all traces; None where the suite has none.
        cases: ``case_id`` str, ``milestones`` str? (JSON text); see the references of a suite.
        read: Reads milestones from JSON text.
        canonical_name: The name a tool goes by.
        rules_of: Normalisation rules of a tool, for its arguments.
        executed_only: Whether calls that did not run are left out.
    """

    suite: MilestonesLike | None
    cases: pa.Table
    read: Callable[[str], MilestonesLike]
    canonical_name: Callable[[str], str | None] = field(default=_same_name)
    rules_of: Callable[[str], Rules] = field(default=_no_rules)
    executed_only: bool = False

    @classmethod
    def of(cls, suite: Suite, rules_of: Callable[[str], Rules] = _no_rules) -> MilestonePlan:
        """The milestones of a suite and its cases.

        Args:
            suite: The suite.
            rules_of: Normalisation rules of a tool.

        Example:
            >>> from tracelens.suite import Suite
            >>> MilestonePlan.of(Suite.default()).active
            False
        """
        from tracelens.suite.validate import milestones_from

        cases = suite.references.cases.select(["case_id", "milestones"])
        return cls(
            suite.milestones,
            cases.filter(pc.is_valid(cases["milestones"])).combine_chunks(),
            lambda text: milestones_from(text)[0],
            suite.canonical_name,
            rules_of,
            suite.match.count == "executed",
        )

    @property
    def active(self) -> bool:
        """Whether there is anything to reach."""
        return self.suite is not None or self.cases.num_rows > 0


def matches_arguments(expected: str, actual: str | None, state: str, rules: Rules) -> bool | None:
    """Whether a call has the arguments of a milestone.

    Args:
        expected: Values or matchers of some arguments, JSON text.
        actual: The call's arguments as text.
        state: Their state.
        rules: Normalisation rules of the tool.

    Returns:
        None where the arguments are not known; false where they are no object.

    Example:
        >>> matches_arguments('{"id": {"$regex": "^UA"}}', '{"id": "UA-512", "seat": "12A"}', "object", NO_RULES)
        True
    """
    if state in _UNKNOWN:
        return None
    asked = parse(expected)
    if state == "text":
        return exact(actual or "", asked, rules)
    try:
        made = parse(actual) if state == "object" and actual is not None else {}
        made = parse(made) if isinstance(made, str) else made
    except ValueError:
        return False
    if state not in {"object", "empty"} or not is_object(made):
        return False
    if matcher(asked) is None:
        made = {name: value for name, value in made.items() if name in asked}
    return exact(made, asked, rules)
