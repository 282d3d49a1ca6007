"""Printing JSON values as Python prints them, where that needs no more than a look at the bytes."""

from __future__ import annotations

import numpy as np

from tracelens.kernels.jit import kernel
from tracelens.kernels.scan import DEAD

HARD = -1

TRUE, FALSE, NONE = 0x65757254, 0x65736C6146, 0x656E6F4E


@kernel
def easy_number(data: np.ndarray, start: int, end: int) -> bool:
    """Whether Python prints a number as it stands: an integer, or a short decimal without exponent or spare zeros.

    A decimal of at most 15 digits is the shortest that reads back as its double, so Python prints just that.
    """
    k = start + 1 if data[start] == 45 else start
    first = k
    while k < end and 48 <= data[k] <= 57:
        k += 1
    whole = k - first
    if k == end:
        return data[start] != 45 or data[first] != 48
    digits = end - k - 1
    if data[k] != 46 or whole + digits > 15 or digits < 1:
        return False
    # Below 0.0001 Python writes an exponent.
    if data[first] == 48 and digits > 3 and data[k + 1] == 48 and data[k + 2] == 48 and data[k + 3] == 48:
        return False
    for i in range(k + 1, end):
        if data[i] < 48 or data[i] > 57:
            return False
    return data[end - 1] != 48 or digits == 1


@kernel
def put_bytes(out: np.ndarray, at: int, word: int, size: int) -> int:
    """Write the low bytes of a number, unless ``out`` is empty, and return the place after them."""
    if out.size > 0:
        for i in range(size):
            out[at + i] = (word >> (8 * i)) & 255
    return at + size


@kernel
def print_string(data: np.ndarray, k: int, out: np.ndarray, at: int) -> tuple[int, int]:
    """Print the string whose opening quote stands at ``k``: ``(next in data, next in out)``, `HARD` where it is not plain."""
    at = put_bytes(out, at, 39, 1)
    k += 1
    while data[k] != 34:
        c = data[k]
        # Python chooses quotes by what the text holds, and escapes what cannot be printed.
        if c == 92 or c == 39 or c >= 127:
            return HARD, at
        at = put_bytes(out, at, np.int64(c), 1)
        k += 1
    return k + 1, put_bytes(out, at, 39, 1)


@kernel
def print_number(data: np.ndarray, k: int, end: int, out: np.ndarray, at: int) -> tuple[int, int]:
    """Print the number at ``k``: ``(next in data, next in out)``, `HARD` where Python writes it otherwise."""
    stop = k + 1
    while stop < end and (data[stop] == 43 or data[stop] == 45 or data[stop] == 46 or data[stop] >= 48):
        if data[stop] > 57 and data[stop] | 32 != 101:
            break
        stop += 1
    if not easy_number(data, k, stop):
        return HARD, at
    for i in range(k, stop):
        at = put_bytes(out, at, np.int64(data[i]), 1)
    return stop, at


@kernel
def print_value(data: np.ndarray, start: int, end: int, out: np.ndarray, at: int) -> int:
    """Print checked JSON text into ``out`` from ``at`` on (nothing is written where ``out`` is empty).

    Returns the place after the last byte, or `HARD`.
    """
    k = start
    while k < end:
        c = data[k]
        if c == 34:
            k, at = print_string(data, k, out, at)
        elif c == 45 or 48 <= c <= 57:
            k, at = print_number(data, k, end, out, at)
        elif c == 116:
            k, at = k + 4, put_bytes(out, at, TRUE, 4)
        elif c == 102:
            k, at = k + 5, put_bytes(out, at, FALSE, 5)
        elif c == 110:
            k, at = k + 4, put_bytes(out, at, NONE, 4)
        elif c == 44 or c == 58:
            k, at = k + 1, put_bytes(out, at, np.int64(c) | (32 << 8), 2)
        elif c <= 32:
            k += 1
        else:
            k, at = k + 1, put_bytes(out, at, np.int64(c), 1)
        if k < 0:
            return HARD
    return at


@kernel
def has_dead(flags: np.ndarray, first: int, stop: int) -> bool:
    """Whether a member among the entries was overridden by a later one."""
    for entry in range(first, stop):
        if flags[entry] & DEAD:
            return True
    return False


@kernel
def printed_sizes(
    data: np.ndarray, begins: np.ndarray, ends: np.ndarray, flags: np.ndarray, first: np.ndarray, stop: np.ndarray,
    sizes: np.ndarray,
) -> None:  # fmt: skip
    """The length of each printed value, `HARD` where it has to be printed otherwise.

    Args:
        data: uint8, padded.
        begins: int64[n], first byte of each JSON text.
        ends: int64[n], byte after it.
        flags: uint8, flags of the tape's entries.
        first: int64[n], first entry of each value.
        stop: int64[n], entry after it.
        sizes: int64[n], out.
    """
    nothing = np.empty(0, np.uint8)
    for k in range(begins.size):
        sizes[k] = HARD if has_dead(flags, first[k], stop[k]) else print_value(data, begins[k], ends[k], nothing, 0)


@kernel
def print_values(data: np.ndarray, begins: np.ndarray, ends: np.ndarray, offsets: np.ndarray, out: np.ndarray) -> None:
    """Print each value to where ``offsets`` says; one of no length is left out."""
    for k in range(begins.size):
        if offsets[k + 1] > offsets[k]:
            print_value(data, begins[k], ends[k], out, offsets[k])
