"""Lint of rules that contradict each other, so that no trace can pass them all."""

from __future__ import annotations

import itertools
from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from tracelens.errors import counted
from tracelens.lint.limits import may_call
from tracelens.lint.problem import Found
from tracelens.suite import Suite

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tracelens.suite.blocks import Answer, Milestones


def lint_clashes(suite: Suite, found: Found) -> None:
    """Milestones, invariants, field checks and checks of the answer that cannot hold together.

    Args:
        suite: The suite.
        found: Where to note problems.
    """
    if suite.milestones is not None:
        _lint_milestones(suite, suite.milestones, found)
    after = [(_canonical(suite, second), _canonical(suite, first)) for first, second in suite.invariants.after]
    for tool in _before_themselves(after):
        message = f"{tool!r} may only be called after itself, so it may never be called"
        found.warning(suite.where(["invariants", "after"]), message, "forbidden_tools says so plainly")
    _lint_fields(suite, found)
    for message in _answer_clashes(suite.answer) if suite.answer is not None else ():
        found.error(suite.where(["answer"]), f"no answer can pass: {message}")


def _canonical(suite: Suite, name: str) -> str:
    return suite.canonical_name(name) or name


def _lint_milestones(suite: Suite, milestones: Milestones, found: Found) -> None:
    """Calls that must appear, held against their order and against the invariants."""
    canonical, needed = partial(_canonical, suite), defaultdict[str, int](int)
    asked: list[tuple[list[str | int], str, int]] = [
        (["must_call", index], call.tool, call.min) for index, call in enumerate(milestones.must_call)
    ]
    for index, chain in enumerate(milestones.order):
        asked += [(["order", index, step], name, 1) for step, name in enumerate(chain)]
    for at, name, least in asked:
        needed[canonical(name)] = max(needed[canonical(name)], least)
        if not may_call(suite, name):
            place = suite.where(["milestones", *at])
            found.error(place, f"{name!r} must be called, and the invariants forbid it")
    steps = [(canonical(a), canonical(b)) for chain in milestones.order for a, b in itertools.pairwise(chain)]
    for tool in _before_themselves(steps):
        found.error(
            suite.where(["milestones", "order"]), f"the first call of {tool!r} would have to come before itself"
        )
    total, limits = sum(needed.values()), suite.invariants.max_calls_by_tool
    for limit, path in (
        (milestones.max_steps, ["milestones", "max_steps"]),
        (suite.invariants.max_calls, ["invariants", "max_calls"]),
    ):
        if limit is not None and total > limit:
            found.error(suite.where(path), f"at most {counted(limit, 'call')} allowed, and milestones ask for {total}")
    for name, limit in limits.items():
        if needed.get(canonical(name), 0) > limit:
            message = f"at most {counted(limit, 'call')} of {name!r} allowed, and milestones ask for {needed[canonical(name)]}"
            found.error(suite.where(["invariants", "max_calls_by_tool", name]), message)


def _before_themselves(steps: Iterable[tuple[str, str]]) -> list[str]:
    """The first tool of each circle in an order of tools."""
    after = defaultdict[str, list[str]](list)
    for first, second in steps:
        after[first].append(second)
    circles: list[str] = []
    for tool in after:
        seen, queue = set[str](), [tool]
        while queue:
            reached = [name for name in after.get(queue.pop(), ()) if name not in seen]
            seen.update(reached)
            queue += reached
        if tool in seen and not seen & set(circles):
            circles.append(tool)
    return circles


def _lint_fields(suite: Suite, found: Found) -> None:
    from tracelens.kernels.reference.patterns import python_pattern

    for tool, checks in suite.fields.items():
        for path, check in checks.items():
            both = check.regex is not None and check.has_equals and isinstance(check.equals, str)
            if both and not python_pattern(check.regex or "").found(check.equals):
                message = f"{check.equals!r}, which it should equal, does not match {check.regex!r}"
                found.error(suite.where(["fields", tool, path]), f"no value can pass: {message}")


def _answer_clashes(checks: Answer) -> list[str]:
    """What the checks of the answer say against each other."""
    from tracelens.rungs.answers import check_answers

    if checks.equals is not None:
        said = check_answers(pl.Series([checks.equals]), checks).findings
        errors = said.filter(pl.col("severity") == "error")["message"].to_list()
        return [f"the text that it should equal fails another check: {message}" for message in errors]
    out = [
        f"it should contain {text!r}, and not {part!r}"
        for text in checks.contains
        for part in checks.not_contains
        if part in text
    ]
    if checks.max_length is not None:
        longest = max(map(len, checks.contains), default=0)
        if longest > checks.max_length:
            out.append(f"it should contain {counted(longest, 'character')}, and have at most {checks.max_length}")
    return out
