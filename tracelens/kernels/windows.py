"""Which texts hold one of many small byte patterns: a quick look before an exact one.

Texts are read two bytes at a time. A pattern is suspected where two such pairs in a row are among its own pairs; then,
and only then, it is compared byte by byte. Where a text holds JSON escapes they are undone and the outcome is looked at
again, until there are none.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tracelens.kernels.words import byte_mask, inlined, lean, load8, pointer, store8, trailing_zeros

BUCKETS = 31
"""Sets of patterns that are told apart by pairs of bytes."""

ESCAPED = 63
"""Bit of a pair that holds a back-slash; patterns have lower ones."""

LEVELS = 8
"""How often escapes are undone at most."""

ENDLESS = 1 << 30
"""Most repetitions of an item that has no limit."""

_ESCAPED_BIT = np.uint64(1 << ESCAPED)
_BYTE, _NO_BYTE = np.uint64(8), np.uint64(0)
_FOUR_BYTES = np.uint64(0xFFFFFFFF)
_PAIR = np.uint64(0xFFFF)
_SECOND = np.uint64(32)
_BACKSLASHES = np.uint64(0x5C5C5C5C5C5C5C5C)


class Look(NamedTuple):
    """What to look for.

    Attributes:
        pairs: uint64[65536] by ``first + 256 * second``: bits 0..30, the pair may be the first one of a pattern in that
            bucket; bits 32..62, the second one; bit 63, one of the two bytes is a back-slash.
        first: int32[BUCKETS + 1], first check of each bucket.
        checks: int64[c, 4]: pattern; which of its items stands at the first byte of the first pair (-1: the pattern
            starts a byte later); the bits that matter of the four bytes of both pairs, as one number, and their values.
        patterns: int32[p + 1], first item of each pattern.
        groups: uint64[p], the bit to set where a pattern is found.
        items: int32[m, 3]: row of ``sets``, fewest and most repetitions; as many as possible are taken, for good.
        sets: uint8[s, 256], whether a byte is in a set.
    """

    pairs: npt.NDArray[np.uint64]
    first: npt.NDArray[np.int32]
    checks: npt.NDArray[np.int64]
    patterns: npt.NDArray[np.int32]
    groups: npt.NDArray[np.uint64]
    items: npt.NDArray[np.int32]
    sets: npt.NDArray[np.uint8]


@lean
def look_pointers(look: Look) -> Look:
    """The same with a pointer for each array."""
    return Look(
        pointer(look.pairs),
        pointer(look.first),
        pointer(look.checks),
        pointer(look.patterns),
        pointer(look.groups),
        pointer(look.items),
        pointer(look.sets),
    )


@lean
def stands_at(at: Any, start: int, end: int, pos: int, pattern: int, look: Look) -> bool:
    """Whether a pattern stands at a position; in front of and behind the text stands one zero byte each."""
    for item in range(look.patterns[pattern], look.patterns[pattern + 1]):
        allowed = np.int64(look.items[3 * item]) * 256
        most = np.int64(look.items[3 * item + 2])
        count = np.int64(0)
        while count < most and pos <= end:
            byte = np.int64(at[pos]) if start <= pos < end else np.int64(0)
            if look.sets[allowed + byte] == 0:
                break
            count += 1
            pos += 1
        if count < look.items[3 * item + 1]:
            return False
    return True


@lean
def check_at(at: Any, start: int, end: int, pos: int, hits: np.uint64, seen: np.uint64, look: Look) -> np.uint64:
    """``seen`` and the groups of those patterns, in the buckets ``hits``, that stand at the pair at ``pos``."""
    four = np.int64((load8(at, max(pos, 0)) << (_BYTE if pos < 0 else _NO_BYTE)) & _FOUR_BYTES)
    while hits:
        bucket = trailing_zeros(hits)
        hits &= hits - np.uint64(1)
        for check in range(look.first[bucket], look.first[bucket + 1]):
            if four & look.checks[4 * check + 2] != look.checks[4 * check + 3]:
                continue
            pattern = look.checks[4 * check]
            begin = pos - look.checks[4 * check + 1]
            if look.groups[pattern] & ~seen and begin >= start - 1 and stands_at(at, start, end, begin, pattern, look):
                seen |= look.groups[pattern]
    return seen


@inlined
def pair_bits(word: np.uint64, number: int, look: Look) -> np.uint64:
    """What `Look.pairs` says of one of the four pairs in a word."""
    return look.pairs[np.int64((word >> np.uint64(16 * number)) & _PAIR)]


@inlined
def check_word(
    at: Any, start: int, end: int, pos: int, word: np.uint64, last: np.uint64, seen: np.uint64, look: Look
) -> np.uint64:
    """``seen`` and the groups of those patterns whose second pair is one of four, in ``word`` and from ``pos`` on."""
    for number in range(4):
        bits = pair_bits(word, number, look)
        hits = last & (bits >> _SECOND)
        if hits:
            seen = check_at(at, start, end, pos + 2 * number - 2, hits, seen, look)
        last = bits
    return seen


@lean
def groups_in(at: Any, start: int, end: int, look: Look) -> np.uint64:
    """The groups of the patterns in one text, and the bit of the back-slash."""
    seen = np.uint64(0)
    last = look.pairs[np.int64(at[start]) * 256]
    every = last
    pos = start + 1
    while pos < end + 2:  # the pair behind the text counts as well
        hits, word, before = np.uint64(0), np.uint64(0), last
        while not hits and pos + 8 <= end:  # nothing is called in here, so that all of it stays in registers
            word = load8(at, pos)
            a, b = pair_bits(word, 0, look), pair_bits(word, 1, look)
            c, d = pair_bits(word, 2, look), pair_bits(word, 3, look)
            hits = (last & (a >> _SECOND)) | (a & (b >> _SECOND)) | (b & (c >> _SECOND)) | (c & (d >> _SECOND))
            every |= a | b | c | d
            before = last
            last = d
            pos += 8
        if hits:
            seen = check_word(at, start, end, pos - 8, word, before, seen, look)
            continue
        size = end - pos if pos < end else np.int64(0)
        word = load8(at, pos) & ((np.uint64(1) << np.uint64(8 * size)) - np.uint64(1))
        a, b = pair_bits(word, 0, look), pair_bits(word, 1, look)
        c, d = pair_bits(word, 2, look), pair_bits(word, 3, look)
        hits = (last & (a >> _SECOND)) | (a & (b >> _SECOND)) | (b & (c >> _SECOND)) | (c & (d >> _SECOND))
        every |= a | b | c | d
        if hits:
            seen = check_word(at, start, end, pos, word, last, seen, look)
        hits = d & (look.pairs[0] >> _SECOND)
        if hits:
            seen = check_at(at, start, end, pos + 6, hits, seen, look)
        break
    return seen | (every & _ESCAPED_BIT)


@inlined
def hex_digit(byte: int) -> int:
    """The value of a hexadecimal digit, a large negative number for any other byte."""
    if 48 <= byte <= 57:
        return byte - 48
    low = byte | 32
    return low - 87 if 97 <= low <= 102 else -(1 << 20)


@inlined
def put_character(out: Any, to: int, code: int) -> int:
    """Write a character below U+10000 as UTF-8, halves of surrogate pairs too; the position behind it."""
    if code < 0x80:
        out[to] = np.uint8(code)
        return to + 1
    if code < 0x800:
        out[to] = np.uint8(0xC0 | (code >> 6))
    else:
        out[to] = np.uint8(0xE0 | (code >> 12))
        to += 1
        out[to] = np.uint8(0x80 | ((code >> 6) & 0x3F))
    out[to + 1] = np.uint8(0x80 | (code & 0x3F))
    return to + 2


@lean
def unescape(at: Any, start: int, end: int, out: Any) -> int:
    """Undo JSON escapes once; a back-slash in front of any other character is dropped.

    Args:
        at: The text's bytes.
        start: Where it starts.
        end: Where it ends.
        out: Room for as many bytes and padding, elsewhere than the text.

    Returns:
        Bytes written.
    """
    to = np.int64(0)
    while start < end:
        word = load8(at, start)
        store8(out, to, word)
        found = byte_mask(word, _BACKSLASHES)
        step = min(trailing_zeros(found) >> 3, end - start)
        start += step
        to += step
        if step == 8 or start == end:
            continue
        if start + 1 == end:  # a lone back-slash stays
            start += 1
            to += 1
            continue
        start += 1
        byte = np.int64(at[start])
        start += 1
        if byte == 117 and start + 4 <= end:  # u
            code = np.int64(0)
            for i in range(4):
                code = code * 16 + hex_digit(np.int64(at[start + i]))
            if code >= 0:
                start += 4
                to = put_character(out, to, code)
                continue
        if byte == 110:  # n
            byte = np.int64(10)
        elif byte == 116:  # t
            byte = np.int64(9)
        elif byte == 114:  # r
            byte = np.int64(13)
        elif byte == 98:  # b
            byte = np.int64(8)
        elif byte == 102:  # f
            byte = np.int64(12)
        out[to] = np.uint8(byte)
        to += 1
    return to


@lean
def mark_texts(
    data: npt.NDArray[np.uint8],
    offsets: npt.NDArray[np.int64],
    look: Look,
    room: npt.NDArray[np.uint8],
    out: npt.NDArray[np.uint64],
) -> None:
    """The groups of which each text holds a pattern, as it is or with JSON escapes undone.

    Args:
        data: uint8, all texts back to back, padded.
        offsets: int64[n + 1].
        look: What to look for.
        room: uint8[2, m], overwritten; m as large as the longest text and its padding.
        out: uint64[n], overwritten.
    """
    at, where = pointer(data), look_pointers(look)
    view, other = pointer(room[0]), pointer(room[1])
    for row in range(offsets.size - 1):
        start, end = offsets[row], offsets[row + 1]
        out[row] = 0
        if start == end:
            continue
        seen = groups_in(at, start, end, where)
        if seen & _ESCAPED_BIT:
            size = unescape(at, start, end, view)
            for _ in range(LEVELS):
                again = groups_in(view, 0, size, where)
                seen |= again
                if not again & _ESCAPED_BIT:
                    break
                size = unescape(view, 0, size, other)
                view, other = other, view
        out[row] = seen & ~_ESCAPED_BIT
