r"""Which texts of a column need the exact analysis: byte patterns first, then one regular expression in Rust.

A filter may let too much through, never too little. JSON escapes are undone (by Rust, as often as the analysis does)
before the regular expression looks; texts with ``\u`` escapes always pass.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from tracelens.columns import Texts, texts
from tracelens.kernels.windows import ESCAPED, HIT, mark_texts
from tracelens.rungs.safety.masking import LEVELS
from tracelens.rungs.safety.own import OwnPattern

_ESCAPES = ["\\\\", '\\"', "\\/", "\\n", "\\t", "\\r", "\\b", "\\f"]
_MEANINGS = ["\\", '"', "/", "\n", "\t", "\r", "\b", "\f"]


def marks(values: pl.Series, table: npt.NDArray[np.uint64], given: Texts | None = None) -> npt.NDArray[np.uint8]:
    """uint8[n]: what `mark_texts` says of each text.

    Args:
        values: Strings; nulls are empty texts.
        table: See `mark_texts`.
        given: The same texts as a kernel sees them, where the caller has them.
    """
    seen = given if given is not None else texts(values.to_arrow())
    out = np.zeros(len(seen), np.uint8)
    mark_texts(seen.data, seen.offsets, table, out)
    return out


def passes(values: pl.Series, gate: str, seen: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    """bool[n]: which texts may match the gate, as they are or with JSON escapes undone.

    Args:
        values: Strings; nulls never pass.
        gate: Rust regular expression.
        seen: Marks of the texts.
    """
    out = np.zeros(len(values), np.bool_)
    rows = np.flatnonzero(seen & HIT)
    if rows.size:
        out[rows] = _contains(values.gather(rows), gate)
    rows = np.flatnonzero((seen & ESCAPED) != 0)
    rows = rows[~out[rows]]
    level = 0
    part = values.gather(rows)
    while rows.size and level <= LEVELS:
        unicode = part.str.contains("\\u", literal=True).fill_null(value=False).to_numpy()
        part = part.str.replace_many(_ESCAPES, _MEANINGS)
        out[rows] |= unicode | _contains(part, gate)
        left = part.str.contains("\\", literal=True).fill_null(value=False).to_numpy() & ~out[rows]
        rows, part = rows[left], part.filter(pl.Series(left))
        level += 1
    return out


def own_passes(values: pl.Series, tools: pl.Series, patterns: Sequence[OwnPattern]) -> npt.NDArray[np.bool_]:
    """bool[n]: which calls may match one of the suite's own patterns.

    Args:
        values: Arguments as text; nulls never pass.
        tools: Tool of each call.
        patterns: The patterns.
    """
    out = np.zeros(len(values), np.bool_)
    if not patterns or not len(values):
        return out
    present = values.is_not_null().to_numpy()
    # what Rust and Python may read differently: escapes, controls and everything beyond ASCII
    odd: npt.NDArray[np.bool_] | None = None
    for pattern in patterns:
        meant = present & _meant(tools, pattern)
        if not meant.any():
            continue
        if pattern.gate is None:
            out |= meant
            continue
        if odd is None:
            odd = _contains(values, r"[^\x20-\x7e]|\\")
        out |= meant & (odd | _contains(values, pattern.gate))
    return out


def _meant(tools: pl.Series, pattern: OwnPattern) -> npt.NDArray[np.bool_]:
    if not pattern.tools:
        return np.ones(len(tools), np.bool_)
    names = [name for name in tools.unique().to_list() if pattern.looks_at(name)]
    return tools.is_in(names).fill_null(value=False).to_numpy()


def _contains(values: pl.Series, regex: str) -> npt.NDArray[np.bool_]:
    return np.asarray(values.str.contains(regex).fill_null(value=False).to_numpy())
