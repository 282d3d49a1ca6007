"""Digests of arguments by which other libraries' equalities are decided, argument by argument.

`kernels.canonical` digests values as JSON. Here numbers, truth values and the text of top-level arguments may count
otherwise. What a loop over bytes cannot decide is left open, as there.
"""

from __future__ import annotations

import numpy as np

from tracelens.kernels.canonical import enter_open
from tracelens.kernels.containers import combined, live_children, sort_few
from tracelens.kernels.digest import (
    R_EXACT,
    SEED_STRING,
    WAITS,
    Found,
    Opened,
    RuleTrie,
    found_pointers,
    hash_folded,
    hash_string,
    hash_word,
    trie_pointers,
)
from tracelens.kernels.hash import hash_bytes
from tracelens.kernels.numbers import hash_number
from tracelens.kernels.scan import ESCAPED, NON_ASCII, NUMBER, OBJECT, STRING
from tracelens.kernels.shred import Tape, tape_pointers
from tracelens.kernels.uppers import upper_into
from tracelens.kernels.words import byte_at, inlined, lean, pointer

BOOLS_ARE_NUMBERS = 1
"""true is 1 and false is 0."""
FLOATS_APART = 2
"""1.0 is not 1."""
TOP_IS_TEXT = 4
"""Plain top-level arguments count by their text: 1 is "1", null is "None"."""
KEYS_IN_ORDER = 8
"""The order of keys counts within top-level arguments."""
TOP_IS_FOLDED = 16
"""Top-level strings count trimmed and without case."""

FLOAT_MARK = np.uint64(0x464C4F4154)
"""Turns the digest of a decimal into that of the float."""

SAFE_DIGITS = 15
"""Decimals of so many digits and their doubles are one to one."""


@inlined
def number_kind(buf: np.ndarray, start: int, end: int) -> tuple[bool, bool, bool]:
    """Of a number: whether it is a float, whether its decimal stands for it, whether its text is that of Python.

    A float of few digits and no exponent is its decimal, unless it is a negative zero.
    """
    is_float, digits, safe, nonzero = False, 0, True, False
    for i in range(start, end):
        byte = byte_at(buf, i)
        if byte == 46:
            is_float = True
        elif byte >= 48 and byte <= 57:
            digits += 1
            nonzero |= byte != 48
        elif byte != 45:
            is_float, safe = True, False
    negative_zero = not nonzero and byte_at(buf, start) == 45
    if not is_float:
        return False, True, not negative_zero
    safe &= digits <= SAFE_DIGITS and not negative_zero
    size = end - start
    trailing = byte_at(buf, end - 1) == 48 and not (size > 1 and byte_at(buf, end - 2) == 46)
    small = digits > 4 and leading_fraction_zeros(buf, start, end) >= 4
    return True, safe, safe and not trailing and not small


@inlined
def leading_fraction_zeros(buf: np.ndarray, start: int, end: int) -> int:
    """Zeros behind the point of a number below 1; Python writes numbers below 0.0001 with an exponent."""
    i = start + (byte_at(buf, start) == 45)
    if byte_at(buf, i) != 48 or byte_at(buf, i + 1) != 46:
        return 0
    i += 2
    zeros = 0
    while i < end and byte_at(buf, i) == 48:
        zeros += 1
        i += 1
    return zeros


@inlined
def plain_digest(
    buf: np.ndarray,
    tape: Tape,
    e: int,
    is_top: bool,
    flavour: int,
    words: np.ndarray,
    scratch: np.ndarray,
    table: np.ndarray,
) -> tuple[np.uint64, np.uint64, bool]:
    """The digest of a value that is no container, and whether it is decided."""
    kind, start, end = np.int64(tape.kind[e]), np.int64(tape.start[e]), np.int64(tape.end[e])
    as_text = is_top and flavour & TOP_IS_TEXT != 0
    if kind == STRING:
        flags = np.int64(tape.flags[e])
        if is_top and flavour & TOP_IS_FOLDED:
            if flags & (ESCAPED | NON_ASCII):
                size = upper_into(buf, start, end, flags, scratch, table)
                if size < 0:
                    return np.uint64(0), np.uint64(0), False
                hi, lo = hash_bytes(scratch, 0, size, SEED_STRING)
                return hi, lo, True
            hi, lo, _ = hash_folded(buf, start, end)
            return hi, lo, True
        first = byte_at(buf, start)
        if as_text and end > start and (first == 123 or first == 91 or first == 92):
            return np.uint64(0), np.uint64(0), False
        hi, lo, _, _ = hash_string(buf, start, end, flags, R_EXACT, scratch, table)
        return hi, lo, True
    if kind == NUMBER:
        is_float, safe, same_text = number_kind(buf, start, end)
        if as_text:
            hi, lo = hash_bytes(buf, start, end, SEED_STRING)
            return hi, lo, same_text
        hi, lo = hash_number(buf, start, end)
        if is_float and flavour & FLOATS_APART:
            hi ^= FLOAT_MARK
        return hi, lo, safe
    if as_text:
        return words[2 * kind], words[2 * kind + 1], True
    if kind > 0 and flavour & BOOLS_ARE_NUMBERS:
        return words[4 + 2 * kind], words[5 + 2 * kind], True
    hi, lo = hash_word(kind)
    return hi, lo, True


@lean
def close_containers(
    tape: Tape,
    trie: RuleTrie,
    containers: np.ndarray,
    count: int,
    order: np.ndarray,
    text: int,
    in_order: bool,
    found: Found,
) -> None:
    """`containers.digest_containers` without rules, where the keys of inner objects may count in order."""
    begin = np.int64(tape.first[text])
    n = 0
    for c in range(count - 1, -1, -1):
        e = containers[c]
        if found.slow[e] >= 0:
            continue
        n = live_children(tape, found.node, trie, found.hi, found.lo, e, order)
        if tape.kind[e] == OBJECT and (e == begin or not in_order):
            sort_few(order, n, tape.key_hash, found.hi)
        found.hi[e], found.lo[e] = combined(tape, tape.kind[e], False, found.hi, found.lo, order, n)
    found.root_hi[text], found.root_lo[text] = found.hi[begin], found.lo[begin]
    found.top_count[text] = n
    at = 3 * found.top_first[text]
    for k in range(n):
        child = order[k]
        found.top[at], found.top[at + 1], found.top[at + 2] = tape.key_hash[child], found.hi[child], found.lo[child]
        at += 3


@lean
def digest_flavoured(
    data: np.ndarray,
    tape: Tape,
    odd: np.ndarray,
    flavour: int,
    words: np.ndarray,
    trie: RuleTrie,
    table: np.ndarray,
    scratch: np.ndarray,
    room: np.ndarray,
    opened: Opened,
    found: Found,
) -> int:
    """Digest the arguments of n calls as far as a loop can decide.

    Args:
        data: uint8, padded.
        tape: the values; each text that has any is an object.
        odd: bool[n], texts whose members are not taken as they stand: all of these are left open.
        flavour: what counts, added up.
        words: uint64[10], digests of the texts None, False, True, and of the numbers 0 and 1.
        trie: no rules.
        table: int32, `uppers.uppers`; used where strings are folded.
        scratch: uint8, room for the longest text and padding.
        room: int64[2, m], scratch; m as large as the largest number of entries of a text.
        opened: out, open values, with 0 for a value within an argument and 1 for an argument.
        found: out.

    Returns:
        How many open values there are.
    """
    buf, bytes_room, table_at, word = pointer(data), pointer(scratch), pointer(table), pointer(words)
    values, rules, out = tape_pointers(tape), trie_pointers(trie), found_pointers(found)
    containers, order, mask = pointer(room[0]), pointer(room[1]), opened.slots.size - 1
    n_open, top, in_order = 0, np.int64(0), flavour & KEYS_IN_ORDER != 0
    for t in range(odd.size):
        begin, stop = values.first[t], values.first[t + 1]
        out.root_hi[t] = out.root_lo[t] = 0
        out.top_first[t], out.top_count[t] = top, 0
        if begin == stop:
            continue
        n_containers, waits = 0, False
        for e in range(begin, stop):
            out.node[e], out.slow[e] = -1, -1
            is_top = values.parent[e] == begin
            decided = not (odd[t] and is_top)
            if values.kind[e] >= OBJECT:
                containers[n_containers] = e
                n_containers += 1
            elif decided:
                out.hi[e], out.lo[e], decided = plain_digest(
                    buf, values, e, is_top, flavour, word, bytes_room, table_at
                )
            if not decided:
                k = enter_open(buf, values, e, np.int64(is_top), n_open, mask, opened)
                n_open += k == n_open
                out.slow[e], waits = k, True
        if waits:
            out.top_count[t] = WAITS
        else:
            close_containers(values, rules, containers, n_containers, order, t, in_order, out)
        top += values.size[begin]
    return n_open


@lean
def finish_flavoured(
    tape: Tape, trie: RuleTrie, open_hi: np.ndarray, open_lo: np.ndarray, room: np.ndarray, in_order: bool, found: Found
) -> None:
    """Digest the texts that wait, with the digests of the open values."""
    values, rules, out = tape_pointers(tape), trie_pointers(trie), found_pointers(found)
    containers, order = pointer(room[0]), pointer(room[1])
    for t in range(found.top_count.size):
        if out.top_count[t] != WAITS:
            continue
        n_containers = 0
        for e in range(values.first[t], values.first[t + 1]):
            if out.slow[e] >= 0:
                out.hi[e], out.lo[e] = open_hi[out.slow[e]], open_lo[out.slow[e]]
            if values.kind[e] >= OBJECT:
                containers[n_containers] = e
                n_containers += 1
        close_containers(values, rules, containers, n_containers, order, t, in_order, out)


def text_words() -> np.ndarray:
    """uint64[10], digests of the texts None, False and True, and of the numbers 0 and 1."""
    out = np.empty(10, np.uint64)
    for k, word in enumerate((b"None", b"False", b"True", b"0", b"1")):
        padded = np.zeros(len(word) + 32, np.uint8)
        padded[: len(word)] = np.frombuffer(word, np.uint8)
        if k < 3:
            out[2 * k : 2 * k + 2] = hash_bytes(padded, 0, len(word), SEED_STRING)
        else:
            out[2 * k : 2 * k + 2] = hash_number(padded, 0, len(word))
    return out
