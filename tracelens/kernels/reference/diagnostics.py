"""What went on in a trace, in plain Python: errors, repeats, loops."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

SHORTEST_SWING = 4
"""Calls that go back and forth at least: a b a b."""


@dataclass(frozen=True, slots=True)
class Step:
    """One call as diagnostics see it.

    Attributes:
        tool: Name of the tool; None for a call without one, which equals no other.
        arguments: Canonical arguments; None where they are not known, which equal no others.
        status: ok, error, denied, or None for unknown (which counts as ok, unless there is an error text).
        error: Error text, None without one.
    """

    tool: str | None
    arguments: Hashable | None
    status: str | None = None
    error: str | None = None

    @property
    def failed(self) -> bool:
        """Whether the call ended in an error."""
        return self.status == "error" or (self.status is None and self.error is not None)

    @property
    def succeeded(self) -> bool:
        """Whether the call ran and did not end in an error."""
        return not self.failed and self.status in {None, "ok"}


def same_call(one: Step, other: Step) -> bool:
    """Whether two calls have the same tool and the same known canonical arguments.

    Example:
        >>> same_call(Step("a", 1), Step("a", 1)), same_call(Step("a", None), Step("a", None))
        (True, False)
    """
    return (
        one.tool is not None
        and one.arguments is not None
        and (one.tool, one.arguments) == (other.tool, other.arguments)
    )


def errors(steps: Sequence[Step]) -> int:
    """Calls that ended in an error."""
    return sum(step.failed for step in steps)


def repeated_errors(steps: Sequence[Step]) -> int:
    """Failed calls that repeat an earlier failed call: same tool, same arguments, same error text.

    Example:
        >>> repeated_errors([Step("a", 1, "error", "x"), Step("a", 1, "error", "x"), Step("a", 1, "error", "y")])
        1
    """
    return sum(
        step.failed
        and any(before.failed and same_call(before, step) and before.error == step.error for before in steps[:i])
        for i, step in enumerate(steps)
    )


def recovered_errors(steps: Sequence[Step]) -> int:
    """Failed calls after which a call of the same tool succeeded, with whatever arguments.

    Example:
        >>> recovered_errors([Step("a", 1, "error"), Step("a", 2, "ok"), Step("a", 3, "error")])
        1
    """
    return sum(
        step.failed
        and step.tool is not None
        and any(later.succeeded and later.tool == step.tool for later in steps[i + 1 :])
        for i, step in enumerate(steps)
    )


def identical_repeats(steps: Sequence[Step]) -> int:
    """Calls that repeat an earlier one: same tool, same arguments.

    Example:
        >>> identical_repeats([Step("a", 1), Step("b", 1), Step("a", 1), Step("a", 1)])
        2
    """
    return sum(any(same_call(before, step) for before in steps[:i]) for i, step in enumerate(steps))


def longest_loop(steps: Sequence[Step]) -> int:
    """Length of the longest run of one call, made again and again without another in between.

    Returns:
        Number of calls in the run; 1 where no call is repeated at once, 0 without calls.

    Example:
        >>> longest_loop([Step("a", 1), Step("b", 1), Step("b", 1), Step("b", 1)])
        3
    """
    best = run = 0
    for i, step in enumerate(steps):
        run = run + 1 if i and same_call(steps[i - 1], step) else 1
        best = max(best, run)
    return best


def oscillation(steps: Sequence[Step]) -> int:
    """Length of the longest run in which two different calls take turns (a b a b).

    Returns:
        Number of calls in the run, at least 4; 0 where there is no such run.

    Example:
        >>> a, b = Step("a", 1), Step("b", 1)
        >>> oscillation([a, b, a, b, a]), oscillation([a, b, a])
        (5, 0)
    """
    best = 0
    for start in range(len(steps)):
        for end in range(start + SHORTEST_SWING, len(steps) + 1):
            part = steps[start:end]
            turns = all(same_call(x, y) for x, y in zip(part, part[2:], strict=False))
            if turns and not same_call(part[0], part[1]):
                best = max(best, len(part))
    return best
