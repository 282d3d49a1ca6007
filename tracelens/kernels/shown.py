"""Canonical JSON texts of leaves, as differences show them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tracelens.kernels.cells import copy_bytes
from tracelens.kernels.differ import IGNORED
from tracelens.kernels.digest import R_EXACT
from tracelens.kernels.fold import fold_into, quote_into
from tracelens.kernels.scan import ESCAPED, NUMBER, OBJECT, STRING, decode_string
from tracelens.kernels.shred import Tape, tape_pointers
from tracelens.kernels.words import inlined, lean, pointer


class Told(NamedTuple):
    """Texts that the caller makes.

    Attributes:
        row: int64, ascending, the rows that have one.
        text: int64, which one each has.
        data: uint8, all of them back to back, padded.
        offsets: int64.
    """

    row: np.ndarray
    text: np.ndarray
    data: np.ndarray
    offsets: np.ndarray


@inlined
def is_plain(data: np.ndarray, tape: Tape, slow: np.ndarray, e: int, as_sent: bool) -> bool:
    """Whether `write_plain` can write the canonical text of a leaf."""
    kind, start, end = tape.kind[e], np.int64(tape.start[e]), np.int64(tape.end[e])
    if slow[e] >= 0 and not (as_sent and kind == STRING):
        return False
    if kind == NUMBER:
        # A longer literal may have so many zeros that its canonical text has an exponent.
        return end - start <= 20 and not has_exponent(data, start, end)
    return kind < OBJECT or end - start == 2


@lean
def has_exponent(data: np.ndarray, start: int, end: int) -> bool:
    """Whether a number literal is written with an exponent."""
    for i in range(start, end):
        if data[i] | 32 == 101:
            return True
    return False


@lean
def number_span(data: np.ndarray, start: int, end: int) -> tuple[int, int]:
    """The part of a number literal (without exponent) that is its canonical text; an empty part stands for 0."""
    point, zero = False, True
    for i in range(start, end):
        point |= data[i] == 46
        zero &= not 49 <= data[i] <= 57
    if zero:
        return start, start
    while point and (data[end - 1] == 48 or data[end - 1] == 46):
        end -= 1
        if data[end] == 46:
            break
    return start, end


@inlined
def write_string(
    buf: np.ndarray, start: int, end: int, flags: int, folds: bool, table: np.ndarray, room: np.ndarray,
    out: np.ndarray, pos: int,
) -> int:  # fmt: skip
    """Write the canonical JSON text of a string to ``out`` and return the index after it; ``room`` is scratch."""
    out[pos] = 34
    pos += 1
    if flags & ESCAPED:
        if folds:
            size, _ = fold_into(buf, start, end, room, 0, table)
        else:
            size = decode_string(buf, start, end, room, 0)
        pos = quote_into(room, 0, size, out, pos)
    elif folds:
        # Without escapes there is nothing that would have to be escaped.
        pos, _ = fold_into(buf, start, end, out, pos, table)
    else:
        pos = copy_bytes(buf, start, end, out, pos)
    out[pos] = 34
    return pos + 1


@lean
def find_plain(
    data: np.ndarray, tape: Tape, slow: np.ndarray, entries: np.ndarray, status: np.ndarray, rest: np.ndarray
) -> tuple[int, int]:
    """List the rows whose texts `write_texts` cannot write.

    A canonical text is never longer than the text that was sent: folding makes no character longer, and only what
    has to be escaped stays so.

    Args:
        data: uint8, padded.
        tape: the values.
        slow: int32, see `digest.Found`.
        entries: int64[n], an entry per row, or -1.
        status: uint8[n]; what is `IGNORED` is written as it was sent.
        rest: int64[n] out, rows to be told.

    Returns:
        How many rows are to be told, and the room that the texts of the others need.
    """
    buf, values, left_open = pointer(data), tape_pointers(tape), pointer(slow)
    room, left = np.int64(0), 0
    for k in range(entries.size):
        e = entries[k]
        if e < 0:
            continue
        if is_plain(buf, values, left_open, e, status[k] == IGNORED):
            room += np.int64(values.end[e]) - values.start[e] + 2
        else:
            rest[left] = k
            left += 1
    return left, room


@lean
def write_texts(
    data: np.ndarray,
    tape: Tape,
    node: np.ndarray,
    rule: np.ndarray,
    entries: np.ndarray,
    status: np.ndarray,
    table: np.ndarray,
    scratch: np.ndarray,
    told: Told,
    out: np.ndarray,
    offsets: np.ndarray,
    valid: np.ndarray,
) -> None:
    """Write the canonical JSON text of each row's entry.

    Args:
        data: uint8, padded.
        tape: the values.
        node: int32, trie nodes.
        rule: uint8, rule of each node.
        entries: int64[n], an entry per row; -1 has no text.
        status: uint8[n]; what is `IGNORED` is written as it was sent.
        table: int32, `fold.folds`.
        scratch: uint8, room for the longest string and padding.
        told: the texts that are not plain.
        out: uint8 out, padded.
        offsets: int64[n + 1] out.
        valid: uint8[n] out, whether a row has a text.
    """
    buf, values, to, room, points = pointer(data), tape_pointers(tape), pointer(out), pointer(scratch), pointer(table)
    nodes, rules, texts = pointer(node), pointer(rule), pointer(told.data)
    pos, next_told = np.int64(0), 0
    for k in range(entries.size):
        e = entries[k]
        offsets[k], valid[k] = pos, e >= 0
        if e < 0:
            continue
        if next_told < told.row.size and told.row[next_told] == k:
            text = told.text[next_told]
            pos = copy_bytes(texts, told.offsets[text], told.offsets[text + 1], to, pos)
            next_told += 1
            continue
        start, end = np.int64(values.start[e]), np.int64(values.end[e])
        if values.kind[e] == STRING:
            folds = status[k] != IGNORED and not (nodes[e] >= 0 and rules[nodes[e]] == R_EXACT)
            pos = write_string(buf, start, end, values.flags[e], folds, points, room, to, pos)
            continue
        if values.kind[e] == NUMBER:
            start, end = number_span(buf, start, end)
            if start == end:
                to[pos] = 48
                pos += 1
        pos = copy_bytes(buf, start, end, to, pos)
    offsets[entries.size] = pos
