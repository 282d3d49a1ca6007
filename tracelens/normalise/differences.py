"""Argument differences in bulk: for each partial pair a row per leaf path, with both canonical values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracelens import columns
from tracelens.arguments import S_EMPTY, S_OBJECT, Arguments
from tracelens.kernels.differ import (
    FREE,
    IGNORED,
    NOT_COMPARED,
    STATUSES,
    Leaves,
    Paths,
    Rows,
    Side,
    align_leaves,
)
from tracelens.kernels.fold import folds
from tracelens.kernels.reference.paths import render_path
from tracelens.kernels.reference.values import parse, plain_text
from tracelens.kernels.scan import KEY_ESCAPED
from tracelens.kernels.shown import Told, find_plain, write_texts
from tracelens.normalise.canonical import Canonical, Program, raw_texts, string_room

I64 = npt.NDArray[np.int64]
U8 = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Compared:
    """One side of the pairs: arguments with their digests."""

    arguments: Arguments
    canonical: Canonical

    def side(self) -> Side:
        """What the kernel takes."""
        return Side(self.arguments.tape, self.canonical.node, self.canonical.hi, self.canonical.lo)

    def usable(self, rows: I64) -> npt.NDArray[np.bool_]:
        """Which of the calls have an object for arguments."""
        state = self.arguments.state[rows]
        return np.asarray((state == S_OBJECT) | (state == S_EMPTY), np.bool_)


def differences(actual: Compared, expected: Compared, program: Program, pair_a: I64, pair_e: I64) -> pa.Table:
    """Compare pairs of calls leaf by leaf.

    Args:
        actual: the actual calls.
        expected: the expected calls.
        program: the rules under which both were digested.
        pair_a: int64[p], row of each pair's actual call.
        pair_e: int64[p], row of its expected call.

    Returns:
        Columns ``pair`` (int64), ``path``, ``status`` (texts of few values), ``actual``, ``expected`` (canonical JSON
        texts, null where a side has none); pairs in order, the leaves of a pair in the order of the actual call. A
        pair with unusable arguments has one row with status not_compared.
    """
    usable = actual.usable(pair_a) & expected.usable(pair_e)
    rows = np.flatnonzero(usable)
    found, paths = _align(actual, expected, program, pair_a[rows], pair_e[rows])
    a, e = Written(actual.arguments), Written(expected.arguments)
    firsts = zip(found.entry_a[paths.row].tolist(), found.entry_e[paths.row].tolist(), strict=True)
    names = [a.path(i) if i >= 0 else e.path(j) for i, j in firsts]
    table = pa.table(
        {
            "pair": rows[found.pair],
            "path": columns.coded(found.path, names),
            "status": columns.coded(found.status, STATUSES),
            "actual": _texts(actual, program, found.entry_a, found.status),
            "expected": _texts(expected, program, found.entry_e, found.status),
        }
    )
    broken = np.flatnonzero(~usable)
    if broken.size == 0:
        return table
    return by_pair([table, _not_compared(actual, expected, pair_a, pair_e, broken)])


def by_pair(tables: list[pa.Table]) -> pa.Table:
    """Rows of `differences` from several tables as one, pair by pair."""
    whole = pa.concat_tables(tables).unify_dictionaries()
    return whole.take(pa.array(np.argsort(whole["pair"].to_numpy(), kind="stable")))


def _align(actual: Compared, expected: Compared, program: Program, pair_a: I64, pair_e: I64) -> tuple[Rows, Paths]:
    """Run the kernel with enough room."""
    a, e = actual.side(), expected.side()
    count_a, count_e = np.diff(a.tape.first)[pair_a], np.diff(e.tape.first)[pair_e]
    room = int(count_a.sum() + count_e.sum())
    pair, entry_a, entry_e, row = (np.empty(room, np.int64) for _ in range(4))
    rows = Rows(pair, entry_a, entry_e, np.empty(room, np.uint8), np.empty(room, np.int32))
    paths = Paths(np.full(4 << room.bit_length(), FREE, np.int32), np.empty(room, np.uint64), row)
    leaves = [_leaf_room(int(count.max(initial=0))) for count in (count_a, count_e)]
    n, known = align_leaves(a, e, program.trie, pair_a, pair_e, *leaves, paths, rows)
    cut = Rows(pair[:n], entry_a[:n], entry_e[:n], rows.status[:n], rows.path[:n])
    return cut, Paths(paths.slots, paths.path[:known], row[:known])


def _leaf_room(entries: int) -> Leaves:
    """Scratch space for texts of so many entries."""
    i64, u64 = (np.empty(entries, np.int64) for _ in range(2)), (np.empty(entries, np.uint64) for _ in range(2))
    return Leaves(next(i64), next(u64), next(u64), next(i64), np.empty(entries, np.uint8))


class Written:
    """The paths of the entries of a tape as texts, such as ``passengers[0].name``.

    The path of a container is written once, however many values it holds.

    Args:
        arguments: The arguments whose tape it is.
    """

    def __init__(self, arguments: Arguments) -> None:
        self._tape, self._data = arguments.tape, arguments.data
        self._known: dict[int, str] = {-1: ""}

    def path(self, entry: int) -> str:
        """The path of an entry; empty for a root."""
        parents, known = self._tape.parent, self._known
        chain, above = list[int](), entry
        while above not in known:
            chain.append(above)
            above = int(parents[above])
        text = known[above]
        for each in reversed(chain):
            text += self._step(each, text)
            if each != entry:
                known[each] = text
        return text

    def _step(self, entry: int, before: str) -> str:
        """What an entry adds to the path of the container that it stands in."""
        tape = self._tape
        if tape.parent[entry] < 0:
            return ""
        start, end = int(tape.key_start[entry]), int(tape.key_end[entry])
        if start < 0:
            return f"[{tape.index[entry]}]"
        contents = self._data[start:end].tobytes()
        member = _unescape(contents) if tape.flags[entry] & KEY_ESCAPED else contents.decode()
        return ("." if before else "") + render_path([member])


def _unescape(contents: bytes) -> str:
    """The string whose JSON contents these are."""
    import json

    text: str = json.loads(b'"' + contents + b'"')
    return text


def _texts(side: Compared, program: Program, entries: I64, status: U8) -> pa.Array:
    """The canonical JSON text of each entry (null for -1): simple ones by the kernel, the rest by the rules."""
    data, tape, values, rest = (
        side.arguments.data,
        side.arguments.tape,
        side.canonical,
        np.empty(entries.size, np.int64),
    )
    left, room = find_plain(data, tape, values.slow, entries, status, rest)
    rest = rest[:left]
    told, which = _told(side, program, entries[rest], status[rest] == IGNORED)
    packed = columns.texts(told)
    room += int(np.diff(packed.offsets)[which].sum()) + columns.PADDING
    out, offsets, valid = (
        np.empty(room, np.uint8),
        np.empty(entries.size + 1, np.int64),
        np.empty(entries.size, np.uint8),
    )
    write_texts(
        data,
        tape,
        values.node,
        program.trie.rule,
        entries,
        status,
        folds(),
        string_room(tape),
        Told(rest, which, packed.data, packed.offsets),
        out,
        offsets,
        valid,
    )
    return columns.text_array(out, offsets, valid.view(np.bool_))


def _told(side: Compared, program: Program, entries: I64, as_sent: npt.NDArray[np.bool_]) -> tuple[list[str], I64]:
    """Canonical texts of entries that need the plain-Python rules, and which one each has.

    Of equal open values only the first is asked for.
    """
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
    return out.tolist(), which.astype(np.int64)


def _not_compared(actual: Compared, expected: Compared, pair_a: I64, pair_e: I64, broken: I64) -> pa.Table:
    """One row for each pair whose arguments cannot be held against each other."""

    def sent(side: Compared, row: int) -> str | None:
        return side.arguments.text(row).decode() or None

    rows = [
        (k, "", STATUSES[NOT_COMPARED], sent(actual, int(pair_a[k])), sent(expected, int(pair_e[k]))) for k in broken
    ]
    return difference_rows(rows)


def difference_rows(rows: Sequence[tuple[int, str, str, str | None, str | None]]) -> pa.Table:
    """Rows of `differences` that were found one by one: pair, path, status, both values."""
    pair, path, status, actual, expected = zip(*rows, strict=True) if rows else [()] * 5
    return pa.table(
        {
            "pair": pa.array(pair, pa.int64()),
            "path": pa.array(path, columns.TEXT).dictionary_encode(),
            "status": pa.array(status, columns.TEXT).dictionary_encode(),
            "actual": pa.array(actual, columns.TEXT),
            "expected": pa.array(expected, columns.TEXT),
        }
    )
