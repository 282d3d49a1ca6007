"""Random lists of calls, as the plain-Python reference takes them and as the kernels do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from tracelens.kernels.calls import CallColumns, Relations, Units
from tracelens.kernels.reference.pairing import UNIT, Call, Match

NAMES = ("a", "b", "c")


def call(name: str | None, arguments: dict[str, int] | None = None, **state: object) -> Call:
    """A call whose canonical arguments are the arguments themselves."""
    arguments = arguments or {}
    return Call(name, tuple(sorted(arguments.items())), arguments, **state)  # type: ignore[arg-type] # free keywords


def arguments() -> st.SearchStrategy[dict[str, int]]:
    """Few keys and few values, so that ties are common."""
    return st.dictionaries(st.sampled_from("xyz"), st.integers(0, 2), max_size=3)


@st.composite
def actual_calls(draw: st.DrawFn, names: Sequence[str] = NAMES) -> Call:
    """Mostly ordinary calls, some malformed, unnamed, unusable or not captured."""
    made = call(draw(st.sampled_from([*names, *names, *names, ""])), draw(arguments()), turn=draw(st.integers(0, 3)))
    odd = draw(st.integers(0, 19))
    if odd == 0:
        return replace(made, name=None, malformed=True)
    if odd == 1:
        return replace(made, usable=False, top={})
    if odd == 2:
        return replace(made, captured=False, top={})
    return replace(made, turn=None) if odd == 3 else made


@st.composite
def matches(draw: st.DrawFn, most: int = 6, names: Sequence[str] = NAMES, related: bool = True) -> Match:
    """Two lists of calls, sometimes in parallel turns, sometimes with relations that override values."""
    actual = draw(st.lists(actual_calls(names), max_size=most))
    expected = [call(draw(st.sampled_from(names)), draw(arguments())) for _ in range(draw(st.integers(0, most)))]
    match = Match.by_value(actual, expected, parallel=draw(st.booleans()))
    if not related or draw(st.booleans()):
        return match
    overrides = draw(
        st.dictionaries(
            st.tuples(st.integers(0, most), st.integers(0, most)),
            st.tuples(st.booleans(), st.sampled_from([0, UNIT // 2, UNIT])),
            max_size=8,
        )
    )
    return relate(match, overrides)


class Related(Match):
    """A match that remembers its overrides."""

    overrides: dict[tuple[int, int], tuple[bool, int]]


def relate(match: Match, overrides: dict[tuple[int, int], tuple[bool, int]]) -> Match:
    """Override exactness and agreement of some pairs."""
    related = Related(
        match.actual,
        match.expected,
        lambda i, j: overrides[i, j][0] if (i, j) in overrides else match.exact(i, j),
        lambda i, j: overrides[i, j][1] if (i, j) in overrides else match.agreement(i, j),
        match.parallel,
    )
    object.__setattr__(related, "overrides", overrides)
    return related


def call_columns(calls: Sequence[Call], codes: dict[str, int]) -> CallColumns:
    """Calls as arrays; digests are the values themselves, numbered."""
    first, key, value = [0], [], []
    for one in calls:
        for name in sorted(one.top):
            key.append(ord(name))
            value.append(one.top[name])
        first.append(len(key))
    numbers = [sum((one.top.get(k, -1) + 1) * 10**n for n, k in enumerate("xyz")) for one in map(_whole, calls)]
    return CallColumns(
        code=np.array(
            [codes.setdefault(c.name, len(codes)) if c.name and not c.malformed else -1 for c in calls], np.int32
        ),
        hi=np.array(numbers, np.uint64) // np.uint64(10),
        lo=np.array(numbers, np.uint64),
        captured=np.array([c.captured for c in calls], np.bool_),
        usable=np.array([c.usable for c in calls], np.bool_),
        malformed=np.array([c.malformed for c in calls], np.bool_),
        top_first=np.array(first, np.int64),
        top_key=np.array(key, np.uint64),
        top_hi=np.zeros(len(key), np.uint64),
        top_lo=np.array(value, np.uint64),
    )


def _whole(one: Call) -> Call:
    """A call whose `top` holds all arguments, captured or not."""
    return replace(one, top=dict(one.arguments))  # type: ignore[call-overload] # a tuple of pairs here


def relations(match: Match) -> Relations:
    """The overrides of a match as arrays."""
    overrides = getattr(match, "overrides", {})
    n = len(match.actual)
    kept = sorted((i, j) for i, j in overrides if i < n and j < len(match.expected))
    return Relations(
        first=np.searchsorted([i for i, _ in kept], np.arange(n + 1)).astype(np.int64),
        expected=np.array([j for _, j in kept], np.int64),
        exact=np.array([overrides[pair][0] for pair in kept], np.bool_),
        agreement=np.array([overrides[pair][1] for pair in kept], np.int64),
    )


def one_unit(match: Match) -> tuple[Units, CallColumns, CallColumns, Relations, np.ndarray]:
    """A match as the arguments kernels take: the only unit, both sides, relations, joined."""
    codes: dict[str, int] = {}
    n, m = len(match.actual), len(match.expected)
    units = Units(*(np.array([x], np.int64) for x in (0, n, 0, m)))
    joined = np.ones(n, np.bool_)
    for group in match.groups():
        joined[group.start] = False
    return units, call_columns(match.actual, codes), call_columns(match.expected, codes), relations(match), joined
