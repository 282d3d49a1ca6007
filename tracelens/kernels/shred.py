"""Shredding: JSON texts to a tape, one entry per value, in the order of the text.

The tape points back into the same bytes; nothing is copied or decoded. Entries of text ``t`` are
``tape.first[t]:tape.first[t + 1]``, and the first of them is the whole value.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tracelens.kernels.hash import hash_key_bytes
from tracelens.kernels.jit import kernel
from tracelens.kernels.lanes import LANES, before_values
from tracelens.kernels.scan import (
    ARRAY,
    DEAD,
    E_CHAR,
    E_DEPTH,
    E_EMPTY,
    E_END,
    E_TRAILING,
    ESCAPED,
    KEY_ESCAPED,
    KEY_NON_ASCII,
    NON_ASCII,
    OBJECT,
    STRING,
    decode_string,
    scan_key,
    scan_scalar,
    skip_space,
)
from tracelens.kernels.sorting import stable_order
from tracelens.kernels.words import PADDING, byte_at, inlined, lean, ones, pointer

# Arguments nested deeper than this are refused: a validator that recurses in Python would not survive them.
MAX_DEPTH = 128

FEW = 16
"""Members of an object that are compared each with each."""


class Tape(NamedTuple):
    """The values of many JSON texts, as parallel arrays in pre-order.

    Attributes:
        first: int64[n + 1], where each text's entries begin; a refused text has none.
        kind: uint8, `scan.NULL` … `scan.ARRAY`.
        flags: uint8, `scan.ESCAPED` … `scan.OUT_OF_RANGE`.
        start: int32, first byte of the value (of a string's contents, without the quotes).
        end: int32, byte after the value (after a string's contents).
        key_start: int32, first byte of a member's key contents; -1 where the value is no member.
        key_end: int32, byte after the key contents.
        key_hash: uint64, `hash.hash_key_bytes` of the decoded key; 0 where the value is no member.
        parent: int32, entry of the container; -1 at a root.
        index: int32, ordinal in the container (the array index of an element).
        size: int32, number of children, overridden duplicate members left out.
        next: int32, entry after the value's subtree.
    """

    first: np.ndarray
    kind: np.ndarray
    flags: np.ndarray
    start: np.ndarray
    end: np.ndarray
    key_start: np.ndarray
    key_end: np.ndarray
    key_hash: np.ndarray
    parent: np.ndarray
    index: np.ndarray
    size: np.ndarray
    next: np.ndarray


@lean
def count_values(data: np.ndarray, begin: np.ndarray, end: np.ndarray) -> int:
    """An upper bound of the number of values in the texts: every value follows a comma, a bracket or nothing."""
    buf = pointer(data)
    total = np.int64(begin.size)
    for t in range(begin.size):
        i, stop = begin[t], end[t]
        while i < stop:
            marks = before_values(buf, i)
            if stop - i < LANES:
                marks &= (np.uint64(1) << np.uint64(stop - i)) - np.uint64(1)
            total += ones(marks)
            i += LANES
    return total


def empty_tape(n_texts: int, capacity: int) -> Tape:
    """A tape with room for ``capacity`` values."""

    def column(dtype: type) -> np.ndarray:
        return np.empty(capacity, dtype=dtype)

    i4, u1 = np.int32, np.uint8
    return Tape(
        np.zeros(n_texts + 1, dtype=np.int64),
        column(u1),
        column(u1),
        column(i4),
        column(i4),
        column(i4),
        column(i4),
        column(np.uint64),
        column(i4),
        column(i4),
        column(i4),
        column(i4),
    )


@lean
def tape_pointers(tape: Tape) -> Tape:
    """The same tape with a pointer for each array."""
    return Tape(
        pointer(tape.first),
        pointer(tape.kind),
        pointer(tape.flags),
        pointer(tape.start),
        pointer(tape.end),
        pointer(tape.key_start),
        pointer(tape.key_end),
        pointer(tape.key_hash),
        pointer(tape.parent),
        pointer(tape.index),
        pointer(tape.size),
        pointer(tape.next),
    )


@inlined
def key_hash_of(buf: np.ndarray, start: int, end: int, flags: int, scratch: np.ndarray) -> np.uint64:
    """The hash of a key's decoded bytes; ``scratch`` has room for the longest key with escapes."""
    if flags & ESCAPED:
        stop = decode_string(buf, start, end, scratch, 0)
        for k in range(PADDING):
            scratch[stop + k] = 0
        return hash_key_bytes(scratch, 0, stop)
    return hash_key_bytes(buf, start, end)


@lean
def same_key(buf: np.ndarray, tape: Tape, a: int, b: int) -> bool:
    """Whether two members with equal key hashes have equal keys (escaped keys are taken on their hash)."""
    if (tape.flags[a] | tape.flags[b]) & KEY_ESCAPED:
        return True
    length = tape.key_end[a] - tape.key_start[a]
    if tape.key_end[b] - tape.key_start[b] != length:
        return False
    for k in range(length):
        if buf[tape.key_start[a] + k] != buf[tape.key_start[b] + k]:
            return False
    return True


@lean
def mark_among_few(buf: np.ndarray, tape: Tape, container: int, stop: int) -> bool:
    """`mark_among_many` by comparing every two members."""
    found = False
    a = container + 1
    while a < stop:
        b = np.int64(tape.next[a])
        while b < stop and not (tape.key_hash[a] == tape.key_hash[b] and same_key(buf, tape, a, b)):
            b = np.int64(tape.next[b])
        if b < stop:
            tape.flags[a] |= DEAD
            tape.size[container] -= 1
            found = True
        a = np.int64(tape.next[a])
    return found


@kernel
def mark_among_many(buf: np.ndarray, tape: Tape, container: int, stop: int) -> bool:
    """Mark every member of an object that a later one with the same key overrides; the last one counts."""
    n = tape.size[container]
    members = np.empty(n, dtype=np.int64)
    hashes = np.empty(n, dtype=np.uint64)
    entry, k = container + 1, 0
    while entry < stop:
        members[k] = entry
        hashes[k] = tape.key_hash[entry]
        entry = np.int64(tape.next[entry])
        k += 1
    order = stable_order(hashes, hashes)
    found = False
    for k in range(1, n):
        a, b = members[order[k - 1]], members[order[k]]
        if tape.key_hash[a] == tape.key_hash[b] and same_key(buf, tape, a, b):
            tape.flags[a] |= DEAD
            tape.size[container] -= 1
            found = True
    return found


@kernel
def mark_duplicates(buf: np.ndarray, tape: Tape, first: int, stop: int) -> bool:
    """Search the objects among the entries ``first`` to ``stop`` whose flag DEAD says that they must be searched.

    Inner ones come first: the flag of a container is free again when the object around it is searched.
    """
    found = False
    for entry in range(stop - 1, first - 1, -1):
        if tape.kind[entry] == OBJECT and tape.flags[entry] & DEAD:
            tape.flags[entry] &= np.uint8(255 - DEAD)
            if tape.size[entry] <= FEW:
                found |= mark_among_few(buf, tape, entry, np.int64(tape.next[entry]))
            else:
                found |= mark_among_many(buf, tape, entry, np.int64(tape.next[entry]))
    return found


@inlined
def open_value(tape: Tape, n: int, start: int, parent: int, key_start: int, key_end: int, key_hash: np.uint64) -> None:
    """Begin the entry of a value at ``start``."""
    tape.start[n] = start
    tape.key_start[n] = key_start
    tape.key_end[n] = key_end
    tape.key_hash[n] = key_hash
    tape.parent[n] = parent
    tape.size[n] = 0
    tape.index[n] = 0
    if parent >= 0:
        tape.index[n] = tape.size[parent]
        tape.size[parent] += 1


@inlined
def shred_text(
    buf: np.ndarray, begin: int, end: int, tape: Tape, n: int, scratch: np.ndarray, seen: np.ndarray, max_depth: int
) -> tuple[int, int, bool]:
    """Shred one text to the entries from ``n``: ``(entry after the last, error position, whether to search)``.

    A refused text gives ``(-code, position, False)``. ``seen`` holds, per depth, a 64-bit sketch of the keys so
    far: an object whose sketch clashes gets the flag DEAD and is to be searched for duplicates.
    """
    i = skip_space(buf, begin, end)
    if i >= end:
        return -E_EMPTY, i, False
    parent, depth, flags, clash = -1, 0, 0, False
    is_object = False
    open_value(tape, n, i, -1, -1, -1, np.uint64(0))
    while True:
        # The value of entry n starts at i.
        c = byte_at(buf, i)
        ended = c != 123 and c != 91
        if ended:
            p, kind, info = scan_scalar(buf, i, end)
            if p < 0:
                return p, kind, False
            inset = kind == STRING
            tape.kind[n] = kind
            tape.flags[n] = flags | info
            tape.start[n] = i + inset
            tape.end[n] = p - inset
            n += 1
            tape.next[n - 1] = n
            i = p
        else:
            depth += 1
            if depth > max_depth:
                return -E_DEPTH, i, False
            is_object = c == 123
            tape.kind[n] = OBJECT if is_object else ARRAY
            tape.flags[n] = flags
            seen[depth] = 0
            parent = n
            n += 1
            i = skip_space(buf, i + 1, end)
            ended = i < end and byte_at(buf, i) == c + 2
        # After a value, or at the bracket of an empty container: close what ends.
        while ended:
            i = skip_space(buf, i, end)
            if parent < 0:
                return (-E_TRAILING, i, False) if i < end else (n, 0, clash)
            if i >= end:
                return -E_END, end, False
            c = byte_at(buf, i)
            i += 1
            if c == 44:
                i = skip_space(buf, i, end)
                ended = False
            elif c == (125 if is_object else 93):
                tape.end[parent] = i
                tape.next[parent] = n
                parent = np.int64(tape.parent[parent])
                depth -= 1
                is_object = parent >= 0 and tape.kind[parent] == OBJECT
            else:
                return -E_CHAR, i - 1, False
        if i >= end:
            return -E_END, end, False
        # The next element or key starts at i.
        flags = 0
        if not is_object:
            open_value(tape, n, i, parent, -1, -1, np.uint64(0))
            continue
        key = i + 1
        i, stop, info = scan_key(buf, i, end)
        if i < 0:
            return i, stop, False
        key_hash = key_hash_of(buf, key, stop, info, scratch)
        open_value(tape, n, i, parent, key, stop, key_hash)
        if info != 0:
            flags = KEY_ESCAPED * (info & ESCAPED != 0) + KEY_NON_ASCII * (info & NON_ASCII != 0)
        bit = np.uint64(1) << (key_hash & np.uint64(63))
        if seen[depth] & bit:
            tape.flags[parent] |= DEAD
            clash = True
        seen[depth] |= bit


@kernel
def shred_texts(
    data: np.ndarray,
    begin: np.ndarray,
    end: np.ndarray,
    wanted: np.ndarray,
    tape: Tape,
    scratch: np.ndarray,
    sketch: np.ndarray,
    max_depth: int,
    error: np.ndarray,
    position: np.ndarray,
    duplicates: np.ndarray,
) -> int:
    """Shred ``data[begin[t]:end[t]]`` for every wanted text ``t`` and return the number of entries.

    Args:
        data: uint8, padded.
        begin: int64[n], first byte of each text.
        end: int64[n], byte after each text.
        wanted: bool[n]; the others get no entries.
        tape: room for `count_values` entries.
        scratch: uint8, room for the longest text and padding.
        sketch: uint64[max_depth + 1], overwritten: which keys an open object may have, by their hashes.
        max_depth: containers may nest this deep.
        error: uint8[n] out, 0 or a code of `scan.ERRORS`.
        position: int64[n] out, the byte (from the text's start) where a refused text went wrong.
        duplicates: bool[n] out, whether an object held a key twice.
    """
    seen, text, room, entries = pointer(sketch), pointer(data), pointer(scratch), tape_pointers(tape)
    n = 0
    for t in range(begin.size):
        tape.first[t] = n
        error[t] = 0
        position[t] = 0
        duplicates[t] = False
        if not wanted[t]:
            continue
        after, at, clash = shred_text(text, begin[t], end[t], entries, n, room, seen, max_depth)
        if after < 0:
            error[t] = -after
            position[t] = at - begin[t]
            continue
        duplicates[t] = clash and mark_duplicates(text, entries, n, after)
        n = after
    tape.first[begin.size] = n
    return n


class Shredded(NamedTuple):
    """What `shred` gives: the tape and, per text, error code, error position and whether keys were duplicated."""

    tape: Tape
    error: np.ndarray
    position: np.ndarray
    duplicates: np.ndarray


def shred(
    data: np.ndarray,
    begin: np.ndarray,
    end: np.ndarray,
    wanted: np.ndarray | None = None,
    max_depth: int = MAX_DEPTH,
) -> Shredded:
    """Shred JSON texts.

    Args:
        data: uint8, the texts' bytes with at least `words.PADDING` more bytes behind the last.
        begin: int64[n], first byte of each text.
        end: int64[n], byte after each text.
        wanted: bool[n], texts to shred; all by default.
        max_depth: containers may nest this deep.

    Returns:
        The tape (trimmed views) and the per-text outcome.

    Example:
        >>> text = b'{"a": [1, true]}'
        >>> data = np.zeros(len(text) + 16, dtype=np.uint8)
        >>> data[: len(text)] = np.frombuffer(text, dtype=np.uint8)
        >>> shred(data, np.array([0]), np.array([len(text)])).tape.kind.tolist()
        [5, 6, 3, 2]
    """
    begin = np.ascontiguousarray(begin, dtype=np.int64)
    end = np.ascontiguousarray(end, dtype=np.int64)
    n = begin.size
    if wanted is None:
        wanted = np.ones(n, dtype=np.bool_)
    longest = int((end - begin).max()) if n else 0
    tape = empty_tape(n, int(count_values(data, begin, end)) + 1)
    scratch = np.zeros(longest + 2 * PADDING, dtype=np.uint8)
    sketch = np.zeros(max_depth + 1, dtype=np.uint64)
    error = np.zeros(n, dtype=np.uint8)
    position = np.zeros(n, dtype=np.int64)
    duplicates = np.zeros(n, dtype=np.bool_)
    count = shred_texts(data, begin, end, wanted, tape, scratch, sketch, max_depth, error, position, duplicates)
    columns = [tape.first, *(column[:count] for column in tape[1:])]
    return Shredded(Tape(*columns), error, position, duplicates)
