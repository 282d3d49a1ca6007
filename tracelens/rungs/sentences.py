"""Many sentences at once, put together from texts that some of them share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from tracelens.columns import PADDING, Texts, offsets_of
from tracelens.kernels.sentences import add_sizes, append_texts

Part = tuple[Texts, npt.NDArray[Any]]
"""Some texts, and int[n]: which of them each row takes, below zero for none."""


def sentences(parts: Iterable[Part]) -> Texts:
    """The parts of each row one behind the other.

    Args:
        parts: At least one, each with as many rows.

    Example:
        >>> from tracelens.columns import texts
        >>> tools, ends = texts(["find", "book"]), texts([" failed", " was not called"])
        >>> list(sentences([(tools, np.array([1, 0])), (ends, np.array([0, -1]))]))
        [b'book failed', b'find']
    """
    chosen = [(texts, which.astype(np.int32, copy=False)) for texts, which in parts]
    sizes = np.zeros(chosen[0][1].size, np.int64)
    for texts, which in chosen:
        add_sizes(texts.offsets, which, sizes)
    offsets = offsets_of(sizes)
    out = np.zeros(int(offsets[-1]) + PADDING, np.uint8)
    at = offsets[:-1].copy()
    for texts, which in chosen:
        append_texts(texts.data, texts.offsets, which, at, out)
    return Texts(out, offsets)
