"""Which keys were met before: an open-addressing table of 128-bit digests with a word of content each."""

from __future__ import annotations

import numpy as np

from tracelens.kernels.hash import SEED_A, SEED_B, finish, step_a, step_b
from tracelens.kernels.jit import kernel

NEW, SAME, OTHER = range(3)
"""A key not met before, met with the same content, met with other content."""


@kernel
def find_slot(hi: np.ndarray, lo: np.ndarray, key_hi: np.uint64, key_lo: np.uint64) -> int:
    """The slot that holds the key, or the free slot where it belongs; the key (0, 0) does not occur."""
    mask = np.uint64(hi.size - 1)
    slot = key_lo & mask
    while True:
        k = np.int64(slot)
        if (hi[k] == key_hi and lo[k] == key_lo) or (hi[k] == 0 and lo[k] == 0):
            return k
        slot = (slot + np.uint64(1)) & mask


@kernel
def look_up(
    hi: np.ndarray,
    lo: np.ndarray,
    content: np.ndarray,
    key_hi: np.ndarray,
    key_lo: np.ndarray,
    key_content: np.ndarray,
    wanted: np.ndarray,
    outcome: np.ndarray,
) -> int:
    """Enter keys in order and say of each whether it was met before.

    Args:
        hi: uint64[2^k], the table, with room for all keys.
        lo: uint64[2^k].
        content: uint64[2^k].
        key_hi: uint64[n].
        key_lo: uint64[n].
        key_content: uint64[n].
        wanted: bool[n]; the others are `NEW` and not entered.
        outcome: uint8[n] out, `NEW`, `SAME` or `OTHER`.

    Returns:
        How many keys were entered.
    """
    entered = 0
    for i in range(key_hi.size):
        outcome[i] = NEW
        if not wanted[i]:
            continue
        k = find_slot(hi, lo, key_hi[i], key_lo[i])
        if hi[k] == 0 and lo[k] == 0:
            hi[k], lo[k], content[k] = key_hi[i], key_lo[i], key_content[i]
            entered += 1
        else:
            outcome[i] = SAME if content[k] == key_content[i] else OTHER
    return entered


@kernel
def rehash(
    hi: np.ndarray, lo: np.ndarray, content: np.ndarray, new_hi: np.ndarray, new_lo: np.ndarray, new_content: np.ndarray
) -> None:
    """Enter everything into a larger table."""
    for i in range(hi.size):
        if hi[i] != 0 or lo[i] != 0:
            k = find_slot(new_hi, new_lo, hi[i], lo[i])
            new_hi[k], new_lo[k], new_content[k] = hi[i], lo[i], content[i]


@kernel
def chain(hi: np.ndarray, lo: np.ndarray, a: np.uint64, b: np.uint64) -> tuple[np.uint64, np.uint64]:
    """The state ``(a, b)`` of a running digest after more digests, in order."""
    for i in range(hi.size):
        a = finish(step_a(step_a(a ^ SEED_A, hi[i]), lo[i]))
        b = finish(step_b(step_b(b ^ SEED_B, lo[i]), hi[i]))
    return a, b
