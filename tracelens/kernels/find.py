"""Finding values by path: from containers to their children, for many containers at once."""

from __future__ import annotations

import numpy as np

from tracelens.kernels.jit import kernel
from tracelens.kernels.scan import ARRAY, DEAD, KEY_ESCAPED, OBJECT
from tracelens.kernels.shred import Tape

# Besides an array index: which children are wanted.
MEMBER = -1
EACH = -2


@kernel
def is_member(data: np.ndarray, tape: Tape, child: int, name: np.ndarray, name_hash: np.uint64) -> bool:
    """Whether a live member has a name (an escaped key is taken on its hash)."""
    if tape.key_hash[child] != name_hash or tape.flags[child] & DEAD:
        return False
    if tape.flags[child] & KEY_ESCAPED:
        return True
    start = tape.key_start[child]
    if tape.key_end[child] - start != name.size:
        return False
    for k in range(name.size):
        if data[start + k] != name[k]:
            return False
    return True


@kernel
def find_child(data: np.ndarray, tape: Tape, entry: int, wanted: int, name: np.ndarray, name_hash: np.uint64) -> int:
    """The member with a name or the element with an index, or -1."""
    if tape.kind[entry] != (OBJECT if wanted == MEMBER else ARRAY):
        return -1
    child = entry + 1
    while child < tape.next[entry]:
        if wanted == MEMBER:
            if is_member(data, tape, child, name, name_hash):
                return child
        elif tape.index[child] == wanted:
            return child
        child = np.int64(tape.next[child])
    return -1


@kernel
def find_children(
    data: np.ndarray, tape: Tape, entries: np.ndarray, wanted: int, name: np.ndarray, name_hash: np.uint64,
    out: np.ndarray,
) -> None:  # fmt: skip
    """`find_child` of many entries.

    Args:
        data: uint8, the texts.
        tape: Their values.
        entries: int64[n], containers (or anything else, which has no children).
        wanted: An array index, or `MEMBER`.
        name: uint8, the member's name.
        name_hash: Its hash.
        out: int64[n], the children; -1 for none.
    """
    for k in range(entries.size):
        out[k] = find_child(data, tape, entries[k], wanted, name, name_hash)


@kernel
def count_elements(tape: Tape, entries: np.ndarray, out: np.ndarray) -> None:
    """The number of elements of each array; 0 of anything else."""
    for k in range(entries.size):
        out[k] = tape.size[entries[k]] if tape.kind[entries[k]] == ARRAY else 0


@kernel
def list_elements(tape: Tape, entries: np.ndarray, out: np.ndarray, owner: np.ndarray) -> None:
    """The elements of all arrays, one after the other, each with the place of its array in ``entries``."""
    at = 0
    for k in range(entries.size):
        if tape.kind[entries[k]] == ARRAY:
            child = entries[k] + 1
            while child < tape.next[entries[k]]:
                out[at] = child
                owner[at] = k
                at += 1
                child = np.int64(tape.next[child])
