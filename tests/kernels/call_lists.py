"""Random lists of calls, as the plain-Python reference takes them and as the kernels do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from tracelens.kernels.calls import CAPTURED, JOINED, MALFORMED_ENTRY, USABLE, Calls
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


def for_kernels(match: Match) -> tuple[Calls, Calls]:
    """Both sides of a match as kernels take them."""
    codes: dict[str, int] = {}
    overrides = getattr(match, "overrides", {})
    links = sorted((i, j) for i, j in overrides if i < len(match.actual) and j < len(match.expected))
    joined = [False] * len(match.actual)
    for group in match.groups():
        for i in group[1:]:
            joined[i] = True
    flat = np.array([(j, overrides[i, j][1], overrides[i, j][0]) for i, j in links], np.int64).ravel()
    count = np.bincount(np.array([i for i, _ in links], np.int64), minlength=len(match.actual))
    first = np.cumsum(count) - count
    actual = side(match.actual, codes, joined)._replace(link_first=first, link_count=count, links=flat)
    return actual, side(match.expected, codes, [False] * len(match.expected))


def side(calls: Sequence[Call], codes: dict[str, int], joined: list[bool]) -> Calls:
    """Calls without links; digests are the values themselves, numbered."""
    code, flags, numbers, top = list[int](), list[int](), list[int](), list[tuple[int, int, int]]()
    for one, behind in zip(calls, joined, strict=True):
        values = dict(one.arguments)  # type: ignore[call-overload] # pairs of name and value
        numbers.append(sum((values.get(k, -1) + 1) * 10**n for n, k in enumerate("xyz")))
        known = USABLE * (one.usable and one.captured) + CAPTURED * one.captured
        flags.append(known + MALFORMED_ENTRY * one.malformed + JOINED * behind)
        named = bool(one.name) and not one.malformed
        code.append(codes.setdefault(str(one.name), len(codes)) if named else -1)
        top += [(ord(k), 0, one.top[k]) for k in sorted(one.top)]
    sizes, low = np.array([len(one.top) for one in calls], np.int64), np.array(numbers, np.uint64)
    none = np.zeros(len(calls), np.int64)
    return Calls(
        np.array(code, np.int32),
        np.array(flags, np.uint8),
        low // np.uint64(10),
        low,
        np.cumsum(sizes) - sizes,
        sizes,
        np.array(top, np.uint64).ravel(),
        none,
        none,
        np.zeros(0, np.int64),
    )


def one_unit(match: Match) -> np.ndarray:
    """The only unit of a match."""
    return np.array([[0, len(match.actual), 0, len(match.expected)]], np.int64)
