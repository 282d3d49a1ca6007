"""Many sentences at once, put together from texts that some of them share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tracelens.columns import PADDING, Texts, texts
from tracelens.groups import offsets_of
from tracelens.kernels.sentences import add_sizes, append_texts, cut_long

I64 = npt.NDArray[np.int64]


class Spans(NamedTuple):
    """Texts that lie anywhere in some bytes.

    Attributes:
        data: uint8, padded UTF-8.
        begin: int64[k], first byte of each text.
        end: int64[k], byte behind it.
    """

    data: npt.NDArray[np.uint8]
    begin: I64
    end: I64

    @classmethod
    def of(cls, given: Spans | Texts | Sequence[str]) -> Spans:
        """Texts however they are given."""
        if isinstance(given, Spans):
            return given
        known = given if isinstance(given, Texts) else texts(given)
        return cls(known.data, known.offsets[:-1], known.offsets[1:])


Part = tuple[Spans | Texts | Sequence[str], npt.NDArray[Any]]
"""Some texts, and int[n]: which of them each row takes, below zero for none."""


def sentences(parts: Iterable[Part]) -> Texts:
    """The parts of each row one behind the other.

    Args:
        parts: At least one, each with as many rows.

    Example:
        >>> tools, ends = ["find", "book"], [" failed", " was not called"]
        >>> list(sentences([(tools, np.array([1, 0])), (ends, np.array([0, -1]))]))
        [b'book failed', b'find']
    """
    chosen = [(Spans.of(given), which.astype(np.int32, copy=False)) for given, which in parts]
    sizes = np.zeros(chosen[0][1].size, np.int64)
    for (_, begin, end), which in chosen:
        add_sizes(begin, end, which, sizes)
    offsets = offsets_of(sizes)
    out = np.empty(int(offsets[-1]) + PADDING, np.uint8)
    out[offsets[-1] :] = 0
    at = offsets[:-1].copy()
    for (data, begin, end), which in chosen:
        append_texts(data, begin, end, which, at, out)
    return Texts(out, offsets)


def shortened(given: Spans | Texts, which: npt.NDArray[Any], most: int, mark: str) -> list[Part]:
    r"""Parts that show texts, of long ones the beginning and a mark: ``most`` characters in all.

    Args:
        given: The texts.
        which: int[n], which of them each row takes, below zero for none.
        most: Most characters of one.
        mark: What stands at the end of a shortened one.

    Example:
        >>> list(sentences(shortened(texts(["abcdef", "äbcde"]), np.array([1, 0, -1]), 5, "..")))
        [b'\xc3\xa4bcde', b'abc..', b'']
    """
    data, begin, end = Spans.of(given)
    rows = np.flatnonzero(which >= 0)
    begin, end = begin[which[rows]], end[which[rows]]
    cut = np.empty(rows.size, np.int32)
    cut_long(data, begin, end, most, most - len(mark), cut)
    place, marked = np.full(which.size, -1, np.int32), np.full(which.size, -1, np.int32)
    place[rows], marked[rows] = np.arange(rows.size), cut
    return [(Spans(data, begin, end), place), ([mark], marked)]


def together(given: Sequence[Texts], order: npt.NDArray[Any]) -> Texts:
    """All rows of several texts, which are numbered one lot after the other, in an order.

    Example:
        >>> list(together([texts(["a", "b"]), texts(["c"])], np.array([2, 0, 1])))
        [b'c', b'a', b'b']
    """
    before = offsets_of(np.array([each.offsets[-1] for each in given]))
    every = np.concatenate([*(each.data[: each.offsets[-1]] for each in given), np.zeros(PADDING, np.uint8)])
    begin, end = (
        np.concatenate([each.offsets[part] + base for each, base in zip(given, before[:-1], strict=True)])
        for part in (slice(None, -1), slice(1, None))
    )
    return sentences([(Spans(every, begin, end), order)])
