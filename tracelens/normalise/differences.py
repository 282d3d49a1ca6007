"""Argument differences in bulk: for each partial pair a row per leaf path, with both canonical values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from tracelens import columns
from tracelens.arguments import S_EMPTY, S_OBJECT, Arguments
from tracelens.kernels.differ import (
    IGNORED,
    NOT_COMPARED,
    STATUSES,
    Side,
    align_leaves,
    mark_plain,
    path_hashes,
    write_plain,
)
from tracelens.kernels.fold import folds
from tracelens.kernels.reference.paths import render_path
from tracelens.kernels.reference.values import parse, plain_text
from tracelens.kernels.scan import KEY_ESCAPED
from tracelens.normalise.canonical import Canonical, Program, raw_texts, string_room

I64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Compared:
    """One side of the pairs: arguments with their digests."""

    arguments: Arguments
    canonical: Canonical

    def side(self) -> Side:
        """What the kernel takes."""
        path = np.empty(self.canonical.hi.size, np.uint64)
        path_hashes(self.arguments.tape, path)
        return Side(self.arguments.tape, self.canonical.node, path, self.canonical.hi, self.canonical.lo)

    def usable(self, rows: I64) -> npt.NDArray[np.bool_]:
        """Which of the calls have an object for arguments."""
        state = self.arguments.state[rows]
        return np.asarray((state == S_OBJECT) | (state == S_EMPTY), np.bool_)


def differences(actual: Compared, expected: Compared, program: Program, pair_a: I64, pair_e: I64) -> pl.DataFrame:
    """Compare pairs of calls leaf by leaf.

    Args:
        actual: the actual calls.
        expected: the expected calls.
        program: the rules under which both were digested.
        pair_a: int64[p], row of each pair's actual call.
        pair_e: int64[p], row of its expected call.

    Returns:
        Columns ``pair`` (u32), ``path``, ``status``, ``actual``, ``expected`` (canonical JSON texts, null where a
        side has none); pairs in order, the leaves of a pair in the order of the actual call. A pair with unusable
        arguments has one row with status not_compared.
    """
    usable = actual.usable(pair_a) & expected.usable(pair_e)
    rows = np.flatnonzero(usable)
    a = actual.side()
    e = a if expected is actual else expected.side()
    pair, entry_a, entry_e, status = _align(a, e, program, pair_a[rows], pair_e[rows])
    frame = pl.DataFrame(
        {
            "pair": rows[pair].astype(np.uint32),
            "path": _paths(actual, expected, a, e, entry_a, entry_e),
            "status": pl.Series(STATUSES).gather(status),
            "actual": _texts(actual, program, entry_a, status == IGNORED),
            "expected": _texts(expected, program, entry_e, status == IGNORED),
        }
    )
    broken = np.flatnonzero(~usable)
    if broken.size == 0:
        return frame
    return pl.concat([frame, _not_compared(actual, expected, pair_a, pair_e, broken)]).sort("pair", maintain_order=True)


def _align(a: Side, e: Side, program: Program, pair_a: I64, pair_e: I64) -> tuple[I64, I64, I64, npt.NDArray[np.uint8]]:
    """Run the kernel with enough room."""
    count_a = np.diff(a.tape.first)[pair_a]
    count_e = np.diff(e.tape.first)[pair_e]
    room = int(count_a.sum() + count_e.sum())
    pair, entry_a, entry_e = (np.empty(room, np.int64) for _ in range(3))
    status = np.empty(room, np.uint8)
    room_a = np.empty(int(count_a.max(initial=0)) + 1, np.int64)
    room_e = np.empty(int(count_e.max(initial=0)) + 1, np.int64)
    taken = np.empty(room_e.size, np.uint8)
    n = align_leaves(a, e, program.trie, pair_a, pair_e, room_a, room_e, taken, pair, entry_a, entry_e, status)
    return pair[:n], entry_a[:n], entry_e[:n], status[:n]


def _paths(actual: Compared, expected: Compared, a: Side, e: Side, entry_a: I64, entry_e: I64) -> pl.Series:
    """The rendered path of each row, once per distinct path."""
    hashes = np.empty(entry_a.size, np.uint64)
    on_a = entry_a >= 0
    hashes[on_a] = a.path[entry_a[on_a]]
    hashes[~on_a] = e.path[entry_e[~on_a]]
    _, first, which = np.unique(hashes, return_index=True, return_inverse=True)
    names = [
        entry_path(actual.arguments, int(entry_a[row]))
        if on_a[row]
        else entry_path(expected.arguments, int(entry_e[row]))
        for row in first
    ]
    return pl.Series(names, dtype=pl.String).gather(which)


def entry_path(arguments: Arguments, entry: int) -> str:
    """The rendered path of a tape entry, such as ``passengers[0].name``."""
    tape, parts = arguments.tape, list[str | int]()
    while tape.parent[entry] >= 0:
        start, end = int(tape.key_start[entry]), int(tape.key_end[entry])
        if start < 0:
            parts.append(int(tape.index[entry]))
        else:
            text = arguments.data[start:end].tobytes()
            parts.append(_unescape(text) if tape.flags[entry] & KEY_ESCAPED else text.decode())
        entry = int(tape.parent[entry])
    return render_path(parts[::-1])


def _unescape(contents: bytes) -> str:
    """The string whose JSON contents these are."""
    import json

    text: str = json.loads(b'"' + contents + b'"')
    return text


def _texts(side: Compared, program: Program, entries: I64, as_sent: npt.NDArray[np.bool_]) -> pa.Array:
    """The canonical JSON text of each entry (null for -1): simple ones by the kernel, the rest by the rules."""
    arguments, values = side.arguments, side.canonical
    data, tape, plain = arguments.data, arguments.tape, np.empty(entries.size, np.bool_)
    room = mark_plain(data, tape, values.slow, entries, as_sent, plain)
    out, offsets = np.empty(room + columns.PADDING, np.uint8), np.empty(entries.size + 1, np.int64)
    scratch = string_room(tape)
    write_plain(data, tape, values.node, program.trie, entries, as_sent, plain, folds(), scratch, out, offsets)
    texts = columns.text_array(out, offsets, plain)
    rest = np.flatnonzero((entries >= 0) & ~plain)
    if rest.size == 0:
        return texts
    # One column with the kernel's texts first and the others behind, then each row takes its own.
    slow = _slow_texts(side, program, entries[rest], as_sent[rest])
    where = np.arange(entries.size)
    where[rest] = entries.size + np.arange(rest.size)
    return pa.concat_arrays([texts, slow]).take(pa.array(where))


def _slow_texts(side: Compared, program: Program, entries: I64, as_sent: npt.NDArray[np.bool_]) -> pa.Array:
    """Canonical texts of entries that need the plain-Python rules; of equal open values only the first is asked for."""
    values, first = side.canonical, entries.copy()
    opened = np.flatnonzero((values.slow[entries] >= 0) & ~as_sent)
    first[opened] = values.open_entry[values.slow[entries[opened]]]
    chosen, which = np.unique(first, return_inverse=True)
    texts, node = raw_texts(side.arguments.data, side.arguments.tape, chosen).to_pylist(), values.node[chosen]
    node[values.slow[chosen] >= 0] = values.open_node[values.slow[chosen[values.slow[chosen] >= 0]]]
    sent = np.zeros(chosen.size, np.bool_)
    sent[which] = as_sent
    out = np.empty(chosen.size, object)
    for k in np.flatnonzero(sent):
        out[k] = plain_text(parse(texts[k]))
    for at in np.unique(node[~sent]):
        rows = np.flatnonzero(~sent & (node == at))
        out[rows] = program.texts_at(int(at), [texts[k] for k in rows.tolist()])
    return pa.array(out.tolist(), pa.large_string()).take(pa.array(which))


def _not_compared(actual: Compared, expected: Compared, pair_a: I64, pair_e: I64, broken: I64) -> pl.DataFrame:
    """One row for each pair whose arguments cannot be held against each other."""

    def sent(side: Compared, row: int) -> str | None:
        return side.arguments.text(row).decode() or None

    return pl.DataFrame(
        {
            "pair": broken.astype(np.uint32),
            "path": [""] * broken.size,
            "status": [STATUSES[NOT_COMPARED]] * broken.size,
            "actual": [sent(actual, int(pair_a[k])) for k in broken],
            "expected": [sent(expected, int(pair_e[k])) for k in broken],
        },
        schema={"pair": pl.UInt32, "path": pl.String, "status": pl.String, "actual": pl.String, "expected": pl.String},
    )
