"""What lies behind a missed threshold, as sentences: missing calls, extra calls, arguments that differ."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracelens import columns
from tracelens.columns import Texts, numbered
from tracelens.kernels.pairing import EXTRA, MALFORMED, MISSING
from tracelens.run.rows import Placed
from tracelens.rungs.facts import CallFacts
from tracelens.rungs.routing import Failures
from tracelens.rungs.sentences import sentences, shortened

B1 = npt.NDArray[np.bool_]
I64 = npt.NDArray[np.int64]

LAST = 2**30
"""Place of what has none among the calls of its trace."""

SHOWN = 60
"""Characters of a value that a sentence shows."""

DIFFERENT = ("differs", "missing", "unexpected", "not_compared")
"""Statuses of a leaf that are worth a sentence; below, by status, what it says around the values and which it shows."""

BETWEEN = (" is ", " is missing", " = ", ": arguments could not be compared")
BEHIND = (", expected ", ", expected ", " was not expected", "")
SENT = np.array([True, False, True, False])
DUE = np.array([True, True, False, False])


def pair_details(held: Placed, differences: pa.Table, facts: CallFacts, wanted: B1) -> list[Failures]:
    """A sentence per defect of the optimal pairing.

    Args:
        held: The rows of that pairing.
        differences: Its rows of `argument_diffs`, with ``trace``.
        facts: What is known of all calls.
        wanted: bool[traces], traces whose defects are asked for.

    Returns:
        Failures of rung 2; those of a trace in the order of its calls, expected calls that were not made at the end.
    """
    status = held.pairs.status
    alone = (status == EXTRA) | (status == MALFORMED) | (status == MISSING)
    rows = np.flatnonzero(alone & wanted[held.trace])
    parts = [_unpaired(held, rows, facts)] if rows.size else []
    return [*parts, _differing(differences, wanted, facts.names)] if differences.num_rows else parts


def _unpaired(held: Placed, rows: I64, facts: CallFacts) -> Failures:
    """Calls that were not expected, which may repeat an earlier one, and expected calls that were not made."""
    missing, malformed = (held.pairs.status[rows] == status for status in (MISSING, MALFORMED))
    number = np.where(missing, held.expected_index[rows], held.call_index[rows])
    tool = np.where(held.tool[rows] < 0, len(facts.names), held.tool[rows])
    earlier = np.full(rows.size, -1, np.int32)
    extra = np.flatnonzero(~missing & ~malformed)
    row = held.actual_row[rows[extra]]
    first = facts.same[row]
    earlier[extra] = np.where(first < row, facts.index[first], -1)
    text = sentences(
        [
            (["call ", "expected call "], missing),
            (_numbered("{}: ", number), number),
            ([*facts.names, "a call without a name"], np.where(malformed, -1, tool)),
            (_numbered(" repeats call {} and", earlier), earlier),
            ([" was not expected", " was not made", "malformed entry"], missing + 2 * malformed),
        ]
    )
    return _of_rung_two(held.trace[rows], text, np.where(missing, LAST, number))


def _of_rung_two(trace: I64, text: Texts, place: npt.NDArray[np.integer]) -> Failures:
    return Failures(trace, np.full(trace.size, 2, np.int8), text, place.astype(np.int64))


def _numbered(pattern: str, numbers: npt.NDArray[np.integer]) -> list[str]:
    """A text for every number up to the largest."""
    return [pattern.format(number) for number in range(int(numbers.max(initial=-1)) + 1)]


def _differing(table: pa.Table, wanted: B1, names: Sequence[str]) -> Failures:
    """Arguments that differ."""
    trace = columns.numbers(table["trace"]).astype(np.int64)
    status, statuses = numbered(table["status"])
    status = np.array([DIFFERENT.index(each) if each in DIFFERENT else -1 for each in statuses])[status]
    nothing_sent = (status == DIFFERENT.index("not_compared")) & ~columns.valid(table["actual"])
    rows = np.flatnonzero((status >= 0) & ~nothing_sent & wanted[trace])
    status, call = status[rows], columns.numbers(table["call_index"])[rows]
    tool, _ = numbered(table["tool"])
    path, paths = numbered(table["path"])
    text = sentences(
        [
            (_numbered("call {}: ", call), call),
            (names, tool[rows]),
            ([f".{each}" if each else "" for each in paths], path[rows]),
            (BETWEEN, status),
            *shortened(columns.texts(table["actual"]), np.where(SENT[status], rows, -1), SHOWN, "..."),
            (BEHIND, status),
            *shortened(columns.texts(table["expected"]), np.where(DUE[status], rows, -1), SHOWN, "..."),
        ]
    )
    return _of_rung_two(trace[rows], text, call)
