"""Writing where a value stands inside its text."""

from __future__ import annotations

import numpy as np

from tracelens.kernels.jit import kernel
from tracelens.kernels.shred import Tape

HARD = -1


@kernel
def is_bare(c: int) -> bool:
    """Whether a member name may have this byte and still stand without quotes."""
    return 48 <= c <= 57 or 65 <= c <= 90 or 97 <= c <= 122 or c == 95 or c == 45


@kernel
def path_size(data: np.ndarray, tape: Tape, entry: int) -> int:
    """The length of an entry's path in bytes; `HARD` where a member has to be quoted."""
    size = 0
    while tape.parent[entry] >= 0:
        start, end = tape.key_start[entry], tape.key_end[entry]
        if start < 0:
            index = tape.index[entry]
            size += 3
            while index >= 10:
                index //= 10
                size += 1
        else:
            if end == start:
                return HARD
            for k in range(start, end):
                if not is_bare(data[k]):
                    return HARD
            size += end - start + 1
        first = start >= 0
        entry = tape.parent[entry]
        # The outermost member has no dot before it.
        if first and tape.parent[entry] < 0:
            size -= 1
    return size


@kernel
def write_path(data: np.ndarray, tape: Tape, entry: int, out: np.ndarray, stop: int) -> None:
    """Write an entry's path so that it ends before ``out[stop]``, from the innermost part outwards."""
    while tape.parent[entry] >= 0:
        start, end = tape.key_start[entry], tape.key_end[entry]
        parent = tape.parent[entry]
        if start < 0:
            index = tape.index[entry]
            stop -= 1
            out[stop] = 93
            while True:
                stop -= 1
                out[stop] = 48 + index % 10
                index //= 10
                if index == 0:
                    break
            stop -= 1
            out[stop] = 91
        else:
            stop -= end - start
            for k in range(end - start):
                out[stop + k] = data[start + k]
            if tape.parent[parent] >= 0:
                stop -= 1
                out[stop] = 46
        entry = parent


@kernel
def write_paths(data: np.ndarray, tape: Tape, entries: np.ndarray, ends: np.ndarray, out: np.ndarray) -> None:
    """Write the paths of entries back to back; those of no length (the root, and hard ones) are left out."""
    before = 0
    for k in range(entries.size):
        if ends[k] > before:
            write_path(data, tape, entries[k], out, ends[k])
        before = ends[k]


@kernel
def path_sizes(data: np.ndarray, tape: Tape, entries: np.ndarray, sizes: np.ndarray) -> None:
    """The lengths of the paths of entries, `HARD` where a path needs quotes."""
    for k in range(entries.size):
        sizes[k] = path_size(data, tape, entries[k])
