"""Which span ran which request: by the id of the call, by equal arguments, else by order; never by an id alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import TEXT, one_chunk, valid
from tracelens.sources.backends.steps.model import I64, UNKNOWN, Mask, joint_codes, text_codes

SPACES = " \n\r\t"


def occurrences(key: I64) -> I64:
    """int64[n]: how many equal keys come before each.

    Example:
        >>> occurrences(np.array([7, 3, 7, 7])).tolist()
        [0, 0, 1, 2]
    """
    order = np.argsort(key, kind="stable")
    sorted_ = key[order]
    first = np.ones(key.size, np.bool_)
    first[1:] = sorted_[1:] != sorted_[:-1]
    start = np.maximum.accumulate(np.where(first, np.arange(key.size), 0))
    out = np.empty(key.size, np.int64)
    out[order] = np.arange(key.size) - start
    return out


def partners(left: I64, right: I64) -> I64:
    """int64[left]: the row on the right with the same key and the same occurrence of it, -1 for none.

    Keys below zero have no partner.

    Example:
        >>> partners(np.array([5, 5, -1, 6]), np.array([6, 5, -1])).tolist()
        [1, -1, -1, 0]
    """
    out = np.full(left.size, -1, np.int64)
    a, b = np.flatnonzero(left >= 0), np.flatnonzero(right >= 0)
    if not a.size or not b.size:
        return out
    key = joint_codes(
        np.concatenate([left[a], right[b]]), np.concatenate([occurrences(left[a]), occurrences(right[b])])
    )
    there = key[a.size :]
    order = np.argsort(there)
    at = np.minimum(np.searchsorted(there[order], key[: a.size]), order.size - 1)
    hit = there[order[at]] == key[: a.size]
    out[a[hit]] = b[order[at[hit]]]
    return out


@dataclass(frozen=True, slots=True)
class Side:
    """Requests, or spans that may have run one, in order.

    Attributes:
        trace: int64[n].
        name: str?[n].
        call_id: str?[n].
        arguments: str?[n].
    """

    trace: I64
    name: pa.Array
    call_id: pa.Array
    arguments: pa.Array


def matched(asks: Side, runs: Side) -> I64:
    """int64[asks]: the span that ran each request, -1 for none.

    Spans with an id take the request with that id, of several the one with the same name and occurrence; spans without
    one take a request that is left with the same name, of these first the one with the same arguments.
    """
    n, m = asks.trace.size, runs.trace.size
    out = np.full(n, -1, np.int64)
    if not n or not m:
        return out
    trace = (asks.trace, runs.trace)
    names = text_codes(asks.name, runs.name)
    ids = text_codes(asks.call_id, runs.call_id)
    nameless = ids[1] < 0
    none = pa.nulls(0, TEXT)
    same = text_codes(*((_plain(asks.arguments), _plain(runs.arguments)) if nameless.any() else (none, none)))
    taken = np.zeros(m, np.bool_)
    for codes, mask in (
        ([ids, names], ~nameless),
        ([ids], ~nameless),
        ([names, same], nameless),
        ([names], nameless),
    ):
        free, left = np.flatnonzero(out < 0), np.flatnonzero(~taken & mask)
        if not free.size or not left.size:
            continue
        key = joint_codes(np.concatenate([trace[0][free], trace[1][left]]), *_both(codes, free, left))
        found = partners(key[: free.size], key[free.size :])
        hit = found >= 0
        out[free[hit]] = left[found[hit]]
        taken[left[found[hit]]] = True
    return out


def _both(codes: list[list[I64]], free: I64, left: I64) -> list[I64]:
    return [np.concatenate([one[free], other[left]]) for one, other in codes]


def _plain(arguments: pa.Array) -> pa.Array:
    """Arguments without white space: good enough to tell that two records mean the same call."""
    for space in SPACES:
        arguments = pc.replace_substring(arguments, space, "")
    return arguments


def repeated(asks: pa.Table, trace: I64, rank: I64, above: I64, start: I64, end: I64) -> Mask:
    """bool[asks]: requests that another model span records again.

    A model span around another (a wrapper of the framework) or beside it at the same time (a second instrumentor), or
    any other where nothing has a time, may record the same request: same name, and same id or, without one, same arguments. The later, inner record stays.

    Args:
        asks: See `tracelens.sources.backends.steps.model.ASKS`.
        trace: int64[asks].
        rank: int64[steps]: order of the spans.
        above: int64[steps]: the nearest model span around each, -1 for none.
        start: int64[steps].
        end: int64[steps].
    """
    n = asks.num_rows
    out = np.zeros(n, np.bool_)
    if n < 2:
        return out
    step = asks["step"].to_numpy()
    (ids,) = text_codes(asks["call_id"])
    (names,) = text_codes(asks["name"])
    same = np.zeros(n, np.int64)
    if (ids < 0).any() or (start[step] == UNKNOWN).any():
        (same,) = text_codes(_plain(one_chunk(asks["arguments"])))
    plain = same
    key = joint_codes(trace, np.where(ids >= 0, ids * 2, same * 2 + 1), names)
    order = np.lexsort((rank[step], key))
    one, next_ = order[:-1], order[1:]
    equal = (key[one] == key[next_]) & (key[one] >= 0) & (step[one] != step[next_])
    a, b = step[one], step[next_]
    inside = above[b] == a
    known = valid(asks["call_id"])[one]
    timeless = (start[a] == UNKNOWN) & (start[b] == UNKNOWN) & (plain[one] == plain[next_])
    at_once = known & (((start[b] < end[a]) & (start[a] <= start[b])) | timeless)
    out[one[equal & (inside | at_once)]] = True
    return out
