"""Canonical digests of many calls' arguments, under the suite's rules.

The loop over bytes decides nearly every leaf. What is left (under the default rules, strings whose characters
compose, decompose or fold to several; values under rule lists) goes to the plain-Python rules once per distinct text, and the digests of the answers are put back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracelens import columns
from tracelens.kernels.containers import container_digests
from tracelens.kernels.digest import EMPTY_TRIE, R_DEFAULT, R_EXACT, SEED_TIME, RuleTrie, bind, hash_rows, leaf_digests
from tracelens.kernels.fold import folds
from tracelens.kernels.scan import STRING
from tracelens.kernels.shred import Tape, shred

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
        slow: int32[entries], -1 where the loop decided, else which rules did (0 default, k + 1 list k).
        root_hi: uint64[n], digest of each call's arguments (0 where there are none).
        root_lo: uint64[n], its low half.
        top_first: int64[n + 1], where each call's top-level arguments begin below.
        top_entry: int64, their tape entries, by key hash.
        changed: bool[n]; where it is false, the rules do nothing to the call's arguments.
    """

    node: I32
    hi: U64
    lo: U64
    slow: I32
    root_hi: U64
    root_lo: U64
    top_first: I64
    top_entry: I64
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
    node = np.full(tape.kind.size, -1, np.int32)
    if program is not None and tool is not None:
        bind(tape, program.roots[tool], program.trie, node)
    return _digested(data, tape, np.ones(tape.first.size - 1, np.bool_), node, program)


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
    node = np.full(tape.kind.size, -1, np.int32)
    raw = _digested(data, tape, anew, node, None)
    return np.where(anew, raw.root_hi, found.root_hi), np.where(anew, raw.root_lo, found.root_lo)


def _digested(data: npt.NDArray[np.uint8], tape: Tape, wanted: B1, node: I32, program: Program | None) -> Canonical:
    """Digest the wanted calls; the others have digest 0."""
    trie = EMPTY_TRIE if program is None else program.trie
    size, n = tape.kind.size, wanted.size
    hi, lo, slow = np.empty(size, np.uint64), np.empty(size, np.uint64), np.empty(size, np.int32)
    scratch = string_room(tape)
    fallback = R_EXACT if program is None else R_DEFAULT
    changed = np.empty(n, np.bool_)
    left = leaf_digests(data, tape, wanted, node, trie, fallback, folds(), scratch, hi, lo, slow, changed)
    if left and program is not None:
        _fill_slow(data, tape, slow, hi, lo, program.apply_slow)
    order = np.empty(max(1, int(tape.size.max(initial=0)) * 2), np.int64)
    top_first, top_entry = np.empty(n + 1, np.int64), np.empty(size, np.int64)
    container_digests(tape, wanted, node, trie, order, slow, hi, lo, top_first, top_entry)
    root_hi, root_lo = np.zeros(n, np.uint64), np.zeros(n, np.uint64)
    has = wanted & (tape.first[1:] > tape.first[:-1])
    roots = tape.first[:-1][has]
    root_hi[has], root_lo[has] = hi[roots], lo[roots]
    unused = int(top_first[0])
    return Canonical(node, hi, lo, slow, root_hi, root_lo, top_first - unused, top_entry[unused:].copy(), changed)


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


def raw_texts(data: npt.NDArray[np.uint8], tape: Tape, entries: I64) -> pa.Array:
    """The JSON texts of tape entries as they stand (strings with their quotes).

    Args:
        data: uint8, the bytes that the tape points into.
        tape: the values.
        entries: int64[k], entries.

    Returns:
        large_string[k].
    """
    quotes = (tape.kind[entries] == STRING).astype(np.int64)
    begin, end = tape.start[entries] - quotes, tape.end[entries] + quotes
    offsets = columns.offsets_of(end - begin)
    total = int(offsets[-1])
    where = np.repeat(begin - offsets[:-1], end - begin) + np.arange(total)
    return columns.text_array(data[where] if total else np.zeros(1, np.uint8), offsets)


def _fill_slow(
    data: npt.NDArray[np.uint8],
    tape: Tape,
    slow: I32,
    hi: U64,
    lo: U64,
    apply_slow: Callable[[int, Sequence[str]], list[str]],
) -> None:
    """Digest the leaves that the loop left open, once per distinct text and rule list."""
    open_entries = np.flatnonzero(slow >= 0)
    for rules in np.unique(slow[open_entries]):
        entries = open_entries[slow[open_entries] == rules]
        encoded = raw_texts(data, tape, entries).dictionary_encode()
        answers = apply_slow(int(rules) - 1, encoded.dictionary.to_pylist())
        answer_hi, answer_lo = digest_texts(answers)
        which = encoded.indices.to_numpy()
        hi[entries], lo[entries] = answer_hi[which], answer_lo[which]


def string_room(tape: Tape) -> npt.NDArray[np.uint8]:
    """Scratch for the longest string, with padding; no string is longer than the text it stands in."""
    roots = tape.first[:-1][tape.first[1:] > tape.first[:-1]]
    lengths = tape.end[roots] - tape.start[roots]
    return np.empty(int(lengths.max(initial=0)) + 2 * columns.PADDING, np.uint8)
