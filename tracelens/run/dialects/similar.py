"""How similar calls are by their arguments, for all pairs of calls of one name; see `tracelens.dialects.similar`."""

from __future__ import annotations

import json

import numpy as np
import numpy.typing as npt

from tracelens.dialects.similar import similar_arguments
from tracelens.dialects.view import Equality
from tracelens.groups import offsets_of
from tracelens.kernels.meetings import compare_members
from tracelens.kernels.scan import OBJECT
from tracelens.kernels.similar import align_similar, pick_similar
from tracelens.run.dialects.keys import Keys
from tracelens.run.dialects.lists import Lists

I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]

MOST_PAIRS = 20_000_000
"""Pairs of calls of a batch that are compared at once; where there are more, traces are looked at one by one."""

MOST_NAMES = 512
"""Arguments of two calls up to which their share is added up as the library does."""


def compare_rows(keys: Keys, made: I64, wanted: I64) -> I64:
    """int64[pairs, 2]: how many arguments are equal, and how many are there, on both sides of pairs of rows."""
    out = np.empty((made.size, 2), np.int64)
    compare_members(made, wanted, keys.top_first, keys.top_count, keys.top, out)
    return out


def similarities(lists: Lists, code: I32, *, ordered: bool) -> F64:
    """Similarities of pairs added up, greedily or in order.

    Args:
        lists: The calls.
        code: int32, of actual calls: equal calls have equal codes.
        ordered: Whether pairs must not cross.

    Returns:
        float64[units].
    """
    units = lists.units
    first = offsets_of(lists.n * lists.m)
    unit = np.repeat(np.arange(units.shape[0]), lists.n * lists.m)
    at = np.arange(unit.size) - first[unit]
    width = np.maximum(lists.n[unit], 1)
    made, wanted = units[unit, 0] + at % width, units[unit, 2] + at // width
    alike = np.flatnonzero(lists.a.name[made] == lists.e.name[wanted])
    score = np.zeros(unit.size)
    score[alike] = _of_rows(lists, lists.a.row[made[alike]], lists.e.row[wanted[alike]])
    out = np.empty(units.shape[0])
    if ordered:
        align_similar(units, first, score, np.empty(int(lists.n.max(initial=0)) + 1), out)
    else:
        pick_similar(units, first, score, code, np.zeros(1 + int(code.max(initial=-1)), np.int64), out)
    return out


def _of_rows(lists: Lists, made: I64, wanted: I64) -> F64:
    """The similarity of pairs of rows; distinct pairs with objects inside go to the definition itself."""
    keys = lists.keys(Equality.PYTHON)
    equal, common = compare_rows(keys, made, wanted).T
    union = keys.top_count[made] + keys.top_count[wanted] - common
    score = _shares(equal, union)
    nested = _with_objects(lists)
    open_ = np.flatnonzero((equal < common) & nested[made] & nested[wanted])
    if open_.size:
        pairs, back = np.unique(np.stack([made[open_], wanted[open_]], axis=1), axis=0, return_inverse=True)
        read = {row: json.loads(lists.arguments.text(row)) for row in np.unique(pairs).tolist()}
        score[open_] = np.array([similar_arguments(read[e], read[a]) for a, e in pairs.tolist()])[back.ravel()]
    return score


def _shares(equal: I64, union: I64) -> F64:
    """``equal / union`` as the library adds it up, ``1 / union`` at a time, so that ties are broken as it breaks them."""
    score = np.divide(equal, union, out=np.ones(equal.size), where=union > 0)
    most = int(union.max(initial=0))
    if most <= MOST_NAMES:
        parts = np.broadcast_to(1 / np.maximum(np.arange(most + 1), 1), (most, most + 1))
        added = np.concatenate([np.zeros((1, most + 1)), np.cumsum(parts, axis=0)])
        score = np.where(equal == union, 1.0, added[equal, union])
    return score


def _with_objects(lists: Lists) -> npt.NDArray[np.bool_]:
    """bool[rows]: arguments of which some are objects."""
    tape = lists.arguments.tape
    out = np.zeros(tape.first.size - 1, np.bool_)
    inner = np.flatnonzero((tape.kind == OBJECT) & (tape.parent >= 0))
    inner = inner[tape.parent[tape.parent[inner]] < 0]
    out[np.searchsorted(tape.first, inner, side="right") - 1] = True
    return out
