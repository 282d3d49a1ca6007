"""Which texts of a column need the exact analysis.

A filter may let too much through, never too little.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from tracelens.columns import PADDING, Texts, texts
from tracelens.kernels.sizes import longest_text
from tracelens.kernels.windows import Look, mark_texts
from tracelens.rungs.safety.own import OwnPattern


def marks(values: pl.Series, look: Look) -> npt.NDArray[np.uint64]:
    """uint64[n]: the groups of which each text holds a window, see `mark_texts`.

    Args:
        values: Strings; nulls are empty texts.
        look: What to look for.
    """
    if values.null_count() == len(values):
        return np.zeros(len(values), np.uint64)
    out = marked(texts(values.to_arrow()), look)
    if values.null_count():
        out[values.is_null().to_numpy()] = 0  # bytes may still lie below a null
    return out


def marked(given: Texts, look: Look) -> npt.NDArray[np.uint64]:
    """`marks` of texts as a kernel sees them."""
    out = np.empty(len(given), np.uint64)
    room = np.empty((2, longest_text(given.offsets) + PADDING), np.uint8)
    mark_texts(given.data, given.offsets, look, room, out)
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
