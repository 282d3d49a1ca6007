"""Pairs of calls by how similar they are, each unit with a table of similarities; see `tracelens.dialects.similar`."""

from __future__ import annotations

import numpy as np

from tracelens.kernels.words import lean, pointer


@lean
def pick_similar(
    units: np.ndarray, first: np.ndarray, score: np.ndarray, code: np.ndarray, taken: np.ndarray, out: np.ndarray
) -> None:
    """Each expected call, in order, takes the most similar actual one, the first of equals, and all that equal it.

    Args:
        units: int64[units, 4].
        first: int64[units + 1], where the similarities of each unit stand.
        score: float64, by expected and then actual call.
        code: int32, of actual calls: equal calls have equal codes.
        taken: int64[codes], zeros.
        out: float64[units] out, similarities added up.
    """
    for u in range(units.shape[0]):
        i, n, m = units[u, 0], units[u, 1], units[u, 3]
        out[u] = 0.0
        for j in range(m):
            best, chosen = 0.0, np.int64(-1)
            for k in range(n):
                like = score[first[u] + j * n + k]
                if like > best and not taken[code[i + k]]:
                    best, chosen = like, k
            if chosen >= 0:
                out[u] += best
                taken[code[i + chosen]] = 1
        for k in range(n):
            taken[code[i + k]] = 0


@lean
def align_similar(units: np.ndarray, first: np.ndarray, score: np.ndarray, room: np.ndarray, out: np.ndarray) -> None:
    """The largest sum of similarities of pairs that do not cross.

    Args:
        units: int64[units, 4].
        first: int64[units + 1], where the similarities of each unit stand.
        score: float64, by expected and then actual call.
        room: float64, scratch for the longest list of actual calls and one more.
        out: float64[units] out.
    """
    row = pointer(room)
    for u in range(units.shape[0]):
        n, m = units[u, 1], units[u, 3]
        for k in range(n + 1):
            row[k] = 0.0
        for j in range(m):
            before = 0.0
            for k in range(n):
                with_both = before + score[first[u] + j * n + k]
                before = row[k + 1]
                row[k + 1] = max(before, row[k], with_both)
        out[u] = row[n]
