"""Canonical digests of many calls' arguments, under the suite's rules.

The loop over bytes decides nearly every leaf. What is left (under the default rules, strings whose characters
compose, decompose or fold to several; values under rule lists) goes to the plain-Python rules once per distinct text, and the digests of the answers are put back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracelens import columns
from tracelens.groups import offsets_of
from tracelens.kernels.canonical import digest_values, finish_values
from tracelens.kernels.digest import (
    EMPTY_TRIE,
    FREE,
    R_DEFAULT,
    R_EXACT,
    SEED_TIME,
    Found,
    Opened,
    RuleTrie,
    hash_rows,
)
from tracelens.kernels.fold import folds
from tracelens.kernels.scan import STRING
from tracelens.kernels.shred import Tape, shred
from tracelens.kernels.sizes import longest_text, longest_value

U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]
I32 = npt.NDArray[np.int32]
B1 = npt.NDArray[np.bool_]

TIME_TAG = "t:"
"""Begins a canonical text that is an instant: no JSON text begins so, and no string equals an instant."""


class Program(Protocol):
    """What canonical digests need to know of compiled rules."""

    @property
    def trie(self) -> RuleTrie:
        """The rules by node."""

    @property
    def roots(self) -> I32:
        """int32[tools + 1]: root node by tool number; the last is for tools without rules of their own."""

    def apply_slow(self, rules: int, texts: Sequence[str]) -> list[str]:
        """Canonical texts (JSON, or `TIME_TAG` and an instant) of JSON texts under rule list ``rules``.

        Rule list -1 is the default rules.
        """

    def texts_at(self, node: int, texts: Sequence[str]) -> list[str]:
        """Canonical JSON texts of JSON texts that stand at a node of the trie; -1 is a place without rules."""


@dataclass(frozen=True, slots=True)
class Canonical:
    """Digests of the arguments of n calls.

    Attributes:
        node: int32[entries], trie node of each tape entry, -1 for none.
        hi: uint64[entries], digest of each entry.
        lo: uint64[entries], its low half.
        slow: int32[entries], -1 where the loop decided, else the number of the open value.
        open_entry: int32, first entry of each distinct open value.
        open_node: int32, a trie node whose rules decide it, -1 for the default rules.
        root_hi: uint64[n], digest of each call's arguments (0 where there are none).
        root_lo: uint64[n], its low half.
        top_first: int64[n], where each call's top-level arguments begin in ``top``.
        top_count: int64[n], how many there are.
        top: uint64, key hash and both halves of the digest of each, by key hash.
        changed: bool[n]; where it is false, the rules do nothing to the call's arguments.
    """

    node: I32
    hi: U64
    lo: U64
    slow: I32
    open_entry: I32
    open_node: I32
    root_hi: U64
    root_lo: U64
    top_first: I64
    top_count: I64
    top: U64
    changed: B1


def canonical(
    data: npt.NDArray[np.uint8], tape: Tape, tool: npt.NDArray[np.integer] | None, program: Program | None
) -> Canonical:
    """Digest every value under the rules.

    Args:
        data: uint8, padded bytes that the tape points into.
        tape: the values of n calls.
        tool: int[n], row of ``program.roots`` for each call; -1 takes the last row.
        program: the rules; None compares JSON values as they are (exact strings, exact numbers).

    Returns:
        The digests. Equal digests of two calls of one tool mean equal canonical arguments.
    """
    n = tape.first.size - 1
    roots = np.full(n, -1, np.int32) if program is None or tool is None else program.roots[tool]
    return _digested(data, tape, np.ones(n, np.bool_), roots, program)


def raw_digests(data: npt.NDArray[np.uint8], tape: Tape, found: Canonical, wanted: B1) -> tuple[U64, U64]:
    """The digests of calls' arguments as JSON values, before any rule.

    Args:
        data: uint8, padded bytes that the tape points into.
        tape: the values of n calls.
        found: their digests under the rules.
        wanted: bool[n], calls to digest; what is said of the others means nothing.

    Returns:
        uint64[n] twice. Equal digests of two calls mean equal JSON values, whatever tools they call.
    """
    anew = found.changed & wanted
    if not anew.any():
        return found.root_hi, found.root_lo
    raw = _digested(data, tape, anew, np.full(anew.size, -1, np.int32), None)
    return np.where(anew, raw.root_hi, found.root_hi), np.where(anew, raw.root_lo, found.root_lo)


def _digested(data: npt.NDArray[np.uint8], tape: Tape, wanted: B1, roots: I32, program: Program | None) -> Canonical:
    """Digest the wanted calls; the others have digest 0."""
    trie, fallback = (EMPTY_TRIE, R_EXACT) if program is None else (program.trie, R_DEFAULT)
    size, n = tape.kind.size, wanted.size
    found, opened = _room_for(size, n)
    room = np.empty((2, longest_text(tape.first)), np.int64)
    args = (data, tape, wanted, roots, trie, fallback, folds(), string_room(tape), room, opened, found)
    count = digest_values(*args)
    entry, rules = opened.entry[:count].copy(), opened.rules[:count] - 1
    if count and program is not None:
        hi, lo = _open_digests(raw_texts(data, tape, entry).to_pylist(), rules, program.apply_slow)
        finish_values(tape, trie, hi, lo, room, found)
    return Canonical(
        found.node,
        found.hi,
        found.lo,
        found.slow,
        entry,
        np.where(rules < 0, -1, found.node[entry]),
        found.root_hi,
        found.root_lo,
        found.top_first,
        found.top_count,
        found.top,
        found.changed.view(np.bool_),
    )


def _room_for(entries: int, n: int) -> tuple[Found, Opened]:
    """What the kernel fills, for n calls."""

    def column(size: int, dtype: type) -> npt.NDArray[Any]:
        return np.empty(size, dtype)

    i4, i8, u8 = np.int32, np.int64, np.uint64
    slots = np.full(min(1 << 16, 2 << entries.bit_length()), FREE, i4)
    found = Found(
        column(entries, i4),
        column(entries, u8),
        column(entries, u8),
        column(entries, i4),
        column(n, np.uint8),
        column(n, u8),
        column(n, u8),
        column(n, i8),
        column(n, i8),
        column(3 * entries, u8),
    )
    opened = Opened(slots, column(entries, i4), column(entries, i4), column(entries, u8), column(entries, u8))
    return found, opened


def digest_texts(texts: Sequence[str]) -> tuple[U64, U64]:
    """Digests of canonical texts (JSON, or `TIME_TAG` and an instant), equal to those of equal values elsewhere.

    Example:
        >>> hi, lo = digest_texts(["1", "1.0", '"1"'])
        >>> bool(hi[0] == hi[1]), bool(hi[0] == hi[2])
        (True, False)
    """
    packed = columns.texts(list(texts))
    is_time = np.array([text.startswith(TIME_TAG) for text in texts], np.bool_)
    begin, end = packed.offsets[:-1], packed.offsets[1:]
    shredded = shred(packed.data, begin, end, ~is_time)
    values = canonical(packed.data, shredded.tape, None, None)
    hi, lo = values.root_hi.copy(), values.root_lo.copy()
    if is_time.any():
        t_hi, t_lo = np.empty(len(texts), np.uint64), np.empty(len(texts), np.uint64)
        hash_rows(packed.data, packed.offsets, np.full(len(texts), SEED_TIME), t_hi, t_lo)
        hi, lo = np.where(is_time, t_hi, hi), np.where(is_time, t_lo, lo)
    return hi, lo


def raw_texts(data: npt.NDArray[np.uint8], tape: Tape, entries: npt.NDArray[np.integer]) -> pa.Array:
    """The JSON texts of tape entries as they stand (strings with their quotes).

    Args:
        data: uint8, the bytes that the tape points into.
        tape: the values.
        entries: int[k], entries.

    Returns:
        large_string[k].
    """
    quotes = (tape.kind[entries] == STRING).astype(np.int64)
    begin, end = tape.start[entries] - quotes, tape.end[entries] + quotes
    offsets = offsets_of(end - begin)
    total = int(offsets[-1])
    where = np.repeat(begin - offsets[:-1], end - begin) + np.arange(total)
    return columns.text_array(data[where] if total else np.zeros(1, np.uint8), offsets)


def _open_digests(
    texts: Sequence[str], rules: I32, apply_slow: Callable[[int, Sequence[str]], list[str]]
) -> tuple[U64, U64]:
    """Digests of values that the loop left open, by their rule lists."""
    answers = np.empty(len(texts), object)
    for number in np.unique(rules):
        rows = np.flatnonzero(rules == number)
        answers[rows] = apply_slow(int(number), [texts[row] for row in rows.tolist()])
    return digest_texts(answers.tolist())


def string_room(tape: Tape) -> npt.NDArray[np.uint8]:
    """Scratch for the longest string, with padding; no string is longer than the text it stands in."""
    return np.empty(longest_value(tape.first, tape.start, tape.end) + 2 * columns.PADDING, np.uint8)
