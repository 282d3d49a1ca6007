"""Reading arguments: what each call's arguments are, and their values as one tape.

Arguments stay JSON text from the source to here, and what comes out points back into that text. A string that
holds an object is decoded (at most `MAX_DECODED` times), nothing else is repaired, and what is not one JSON object
gets a state of its own: broken is not empty.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracelens import columns
from tracelens.errors import InputError
from tracelens.kernels.scan import E_EMPTY, NULL, OBJECT, OUT_OF_RANGE, STRING, decode_string
from tracelens.kernels.shred import Shredded, Tape, shred

STATES = ("object", "empty", "not_captured", "truncated", "invalid_json", "not_object", "text")
"""Values of ``arguments_state``, in the order of the codes below."""

S_OBJECT, S_EMPTY, S_NOT_CAPTURED, S_TRUNCATED, S_INVALID, S_NOT_OBJECT, S_TEXT = range(7)

MAX_DECODED = 2
"""How often a JSON string inside a JSON string is opened."""

EMPTY_OBJECT = b"{}"


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of n calls.

    Attributes:
        data: uint8, padded bytes that everything points into.
        begin: int64[n], first byte of each call's text (after decoding).
        end: int64[n], byte after it.
        sent: int64[n], first byte of the text as it was sent; another one where that is blank, null or JSON in a string.
        sent_end: int64[n], byte after it.
        state: uint8[n], index into `STATES`.
        error: uint8[n], code of `kernels.scan.ERRORS` where the state is invalid_json, else 0.
        position: int64[n], byte of the text at which it went wrong.
        decoded_times: uint8[n], how many layers of JSON string were opened.
        duplicate_keys: bool[n], an object held a key twice (the last value counts).
        number_range: bool[n], a number lies beyond the range of a double.
        tape: the values; only calls in state object and empty have entries.
    """

    data: npt.NDArray[np.uint8]
    begin: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    sent: npt.NDArray[np.int64]
    sent_end: npt.NDArray[np.int64]
    state: npt.NDArray[np.uint8]
    error: npt.NDArray[np.uint8]
    position: npt.NDArray[np.int64]
    decoded_times: npt.NDArray[np.uint8]
    duplicate_keys: npt.NDArray[np.bool_]
    number_range: npt.NDArray[np.bool_]
    tape: Tape

    def __len__(self) -> int:
        return self.begin.size

    def text(self, row: int) -> bytes:
        """The (decoded) text of one call, for messages and the reference checker."""
        return self.data[self.begin[row] : self.end[row]].tobytes()

    def text_sent(self, row: int) -> bytes:
        """The text of one call as it was sent: not decoded, and not `{}` for what means no arguments."""
        return self.data[self.sent[row] : self.sent_end[row]].tobytes()


@dataclass(frozen=True, slots=True)
class CallArguments:
    """The arguments of n calls, of which equal ones were read once.

    Attributes:
        distinct: What was read.
        row: int64[n], where each call's arguments stand there.
        state: uint8[n], their states.
    """

    distinct: Arguments
    row: npt.NDArray[np.int64]
    state: npt.NDArray[np.uint8]

    @classmethod
    def of(cls, distinct: Arguments, row: npt.NDArray[np.int64]) -> CallArguments:
        """The arguments of calls, from where they stand."""
        return cls(distinct, row, distinct.state[row])

    def __len__(self) -> int:
        return self.row.size

    def text(self, call: int) -> bytes:
        """The (decoded) text of one call."""
        return self.distinct.text(int(self.row[call]))


def read_arguments(values: pa.Array | pa.ChunkedArray, forms: npt.NDArray[np.uint8]) -> Arguments:
    """Read the arguments of n calls.

    Args:
        values: n texts; null where the form says that there is none.
        forms: uint8[n], how the source held them (`columns.ABSENT` …).

    Returns:
        States and values, one row per call, in order.

    Raises:
        InputError: The texts of one batch exceed 2 GiB.

    Example:
        >>> forms = np.array([columns.JSON_VALUE, columns.JSON_STRING, columns.JSON_STRING], np.uint8)
        >>> got = read_arguments(pa.array(['{"a":1}', "", '{"a":'], pa.large_string()), forms)
        >>> [STATES[code] for code in got.state]
        ['object', 'empty', 'invalid_json']
    """
    return read_texts(columns.texts(values), forms)


def read_texts(source: columns.Texts, forms: npt.NDArray[np.uint8]) -> Arguments:
    """`read_arguments` of texts that are at hand already."""
    if source.data.size > np.iinfo(np.int32).max:
        raise InputError(
            f"the arguments of one batch take {source.data.size:,} bytes, more than 2 GiB",
            hint="one call's arguments are that large: cut them at the source",
        )
    forms = np.asarray(forms, np.uint8)
    data, sent, sent_end = source.data, source.offsets[:-1], source.offsets[1:]
    begin, end = sent.copy(), sent_end.copy()
    json_form = (forms == columns.JSON_VALUE) | (forms == columns.JSON_STRING)
    decoded = (forms == columns.JSON_STRING).astype(np.uint8)
    data = _point_at_empty(data, begin, end, (forms == columns.ABSENT) | (forms == columns.NULL))
    wanted = json_form | (forms == columns.ABSENT) | (forms == columns.NULL)
    first = shred(data, begin, end, wanted)
    data, shredded = _open_strings(data, begin, end, wanted, decoded, first)
    state = _states(forms, shredded)
    keep = (state == S_OBJECT) | (state == S_EMPTY)
    data, shredded = _only_objects(data, begin, end, state, keep, shredded)
    return Arguments(
        data,
        begin,
        end,
        sent,
        sent_end,
        state,
        np.where(state == S_INVALID, shredded.error, 0).astype(np.uint8),
        shredded.position,
        decoded,
        shredded.duplicates,
        _rows_with_flag(shredded.tape, OUT_OF_RANGE),
        shredded.tape,
    )


def _point_at_empty(
    data: npt.NDArray[np.uint8], begin: npt.NDArray[np.int64], end: npt.NDArray[np.int64], rows: npt.NDArray[np.bool_]
) -> npt.NDArray[np.uint8]:
    """Let the rows' texts be ``{}``, appended once to the data."""
    if not rows.any():
        return data
    size = data.size
    grown = columns.padded(np.concatenate([data, np.frombuffer(EMPTY_OBJECT, np.uint8)]))
    begin[rows] = size
    end[rows] = size + len(EMPTY_OBJECT)
    return grown


def _root_kind(tape: Tape) -> npt.NDArray[np.int64]:
    """int64[n], the kind of each text's whole value; -1 where it has none."""
    n = tape.first.size - 1
    kinds = np.full(n, -1, np.int64)
    has = tape.first[1:] > tape.first[:-1]
    kinds[has] = tape.kind[tape.first[:-1][has]]
    return kinds


def _open_strings(
    data: npt.NDArray[np.uint8],
    begin: npt.NDArray[np.int64],
    end: npt.NDArray[np.int64],
    wanted: npt.NDArray[np.bool_],
    decoded: npt.NDArray[np.uint8],
    shredded: Shredded,
) -> tuple[npt.NDArray[np.uint8], Shredded]:
    """Decode texts that are themselves JSON strings and shred again, as often as allowed.

    A string that holds no JSON is a value like any other, so its text stays as it is.
    """
    closed = decoded >= MAX_DECODED
    while True:
        rows = np.flatnonzero((_root_kind(shredded.tape) == STRING) & ~closed)
        if rows.size == 0:
            return data, shredded
        before = begin[rows], end[rows]
        roots = shredded.tape.first[:-1][rows]
        start, stop = shredded.tape.start[roots].astype(np.int64), shredded.tape.end[roots].astype(np.int64)
        room = np.zeros(int((stop - start).sum()) + columns.PADDING, np.uint8)
        at = 0
        for row, a, b in zip(rows, start, stop, strict=True):
            begin[row] = data.size + at
            at = int(decode_string(data, int(a), int(b), room, at))
            end[row] = data.size + at
        data = columns.padded(np.concatenate([data, room[:at]]))
        decoded[rows] += 1
        closed |= decoded >= MAX_DECODED
        shredded = shred(data, begin, end, wanted)
        plain = (shredded.error[rows] != 0) & (shredded.error[rows] != E_EMPTY)
        if plain.any():
            begin[rows[plain]], end[rows[plain]] = before[0][plain], before[1][plain]
            decoded[rows[plain]] -= 1
            closed[rows[plain]] = True
            shredded = shred(data, begin, end, wanted)


def _states(forms: npt.NDArray[np.uint8], shredded: Shredded) -> npt.NDArray[np.uint8]:
    """uint8[n], the state of each call from its form and what the shredder found."""
    tape, kinds = shredded.tape, _root_kind(shredded.tape)
    state = np.full(forms.size, S_INVALID, np.uint8)
    roots = tape.first[:-1]
    is_object = kinds == OBJECT
    sizes = np.zeros(forms.size, np.int64)
    sizes[is_object] = tape.size[roots[is_object]]
    state[is_object] = np.where(sizes[is_object] == 0, S_EMPTY, S_OBJECT)
    state[(kinds >= 0) & ~is_object] = S_NOT_OBJECT
    state[(kinds == NULL) | (shredded.error == E_EMPTY)] = S_EMPTY
    state[forms == columns.FREE_TEXT] = S_TEXT
    state[forms == columns.TRUNCATED] = S_TRUNCATED
    state[(forms == columns.NOT_CAPTURED) | (forms == columns.MASKED)] = S_NOT_CAPTURED
    return state


def _only_objects(
    data: npt.NDArray[np.uint8],
    begin: npt.NDArray[np.int64],
    end: npt.NDArray[np.int64],
    state: npt.NDArray[np.uint8],
    keep: npt.NDArray[np.bool_],
    shredded: Shredded,
) -> tuple[npt.NDArray[np.uint8], Shredded]:
    """A tape in which exactly the calls with (possibly empty) objects have entries, each rooted in an object."""
    kinds = _root_kind(shredded.tape)
    blank = (state == S_EMPTY) & (kinds != OBJECT)
    if not blank.any() and not ((kinds >= 0) & ~keep).any():
        return data, shredded
    data = _point_at_empty(data, begin, end, blank)
    again = shred(data, begin, end, keep)
    error = np.where(keep, again.error, shredded.error).astype(np.uint8)
    position = np.where(keep, again.position, shredded.position)
    return data, Shredded(again.tape, error, position, again.duplicates)


def _rows_with_flag(tape: Tape, flag: int) -> npt.NDArray[np.bool_]:
    """bool[n], texts of which some entry carries the flag."""
    found = np.zeros(tape.first.size - 1, np.bool_)
    entries = np.flatnonzero(tape.flags & flag)
    found[np.searchsorted(tape.first, entries, side="right") - 1] = True
    return found
