"""The shapes in which data travels between stages, and the bridge from Arrow to kernels.

A `Batch` is whole traces as a few Arrow tables. A `Texts` is what a kernel sees of a string column: all bytes
back to back, and where each text starts. The bytes are padded, because kernels load eight at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.errors import InternalError

PADDING = 32
"""Zero bytes after the last text: a kernel may load eight bytes from any position of a text, and look ahead."""

ABSENT, NULL, JSON_VALUE, JSON_STRING, FREE_TEXT, TRUNCATED, NOT_CAPTURED, MASKED = range(8)
"""Values of ``arguments_form``: how the source held the arguments of a call.

Absent; null; a structured value (its JSON text is kept); the contents of a string that should itself be JSON text;
the input of a free-text tool; cut or evicted by the exporter; not captured because capture was off; JSON text or free
text of a stored run in which a secret was masked, so that nothing may be said of its values.
"""

FEW = 3
"""So many texts are looked for one by one, which is faster than by their hashes."""

NOTHING = pa.py_buffer(b"")
TEXT = pa.large_string()
TIME = pa.timestamp("us", tz="UTC")


def _schema(**columns: pa.DataType) -> pa.Schema:
    """A schema from ``name=type``; the columns that are never null are marked below."""
    required = {
        "trace", "trace_id", "id_given", "has_calls", "source", "line", "record_hi", "record_lo", "call_index",
        "malformed", "arguments_form", "depth", "reference_index", "expected_index", "reason", "text", "span_id",
    }  # fmt: skip
    if "span_id" in columns:
        required -= {"call_index"}
    return pa.schema([pa.field(name, kind, nullable=name not in required) for name, kind in columns.items()])


TRACES = _schema(
    trace=pa.uint32(),
    trace_id=TEXT,
    id_given=pa.bool_(),
    session_id=TEXT,
    case_id=TEXT,
    agent=TEXT,
    started_at=TIME,
    tags=TEXT,
    complete=pa.bool_(),
    has_calls=pa.bool_(),
    tools=TEXT,
    final_answer=TEXT,
    llm_calls=pa.int64(),
    input_tokens=pa.int64(),
    output_tokens=pa.int64(),
    cost=pa.float64(),
    n_references=pa.int32(),
    source=TEXT,
    line=pa.int64(),
    record_hi=pa.uint64(),
    record_lo=pa.uint64(),
)
"""One row per trace of a batch, in input order.

``trace`` is the row number. ``id_given`` is false where ``trace_id`` was made from file and line. ``has_calls`` is
false where calls were not recorded at all, which is another thing than no calls. ``n_references`` is null without an
inline reference. ``source`` and ``line`` (from 1) say where the trace stood; ``record_hi`` and ``record_lo`` are a
digest of its bytes. ``tags`` is JSON object text, ``tools`` the JSON text of recorded tool definitions.
"""

CALLS = _schema(
    trace=pa.uint32(),
    call_index=pa.int32(),
    name=TEXT,
    malformed=pa.bool_(),
    arguments=TEXT,
    arguments_form=pa.uint8(),
    call_id=TEXT,
    turn=pa.int32(),
    agent=TEXT,
    depth=pa.int32(),
    status=TEXT,
    result=TEXT,
    error=TEXT,
    started_at=TIME,
    duration_ms=pa.float64(),
    kind=TEXT,
    repair=TEXT,
    wrapper=TEXT,
)
"""One row per requested tool call, by trace and ``call_index`` (from 0 in each trace, the final order).

``name`` is null in a malformed entry that has none. ``status`` is ok, error, denied, or null for unknown. ``result``
is a string's contents as they are, else JSON text. ``kind`` is null for a normal call (``custom`` for a free-text
tool), ``repair`` names the rule that repaired the arguments, ``wrapper`` the dispatcher a call was taken out of.
"""

EXPECTED = _schema(
    trace=pa.uint32(),
    reference_index=pa.int32(),
    expected_index=pa.int32(),
    name=TEXT,
    arguments=TEXT,
    arguments_form=pa.uint8(),
)
"""One row per expected call of an inline reference, by trace, reference and position.

``arguments`` is null (forms absent and null) where any arguments are accepted, else the text of a JSON object.
"""

REJECTS = _schema(source=TEXT, line=pa.int64(), offset=pa.int64(), reason=TEXT, text=TEXT)
"""One row per record that cannot be read: its file, line (from 1), byte offset in the (decompressed) file (null where
it could be read), why, and its first 200 characters."""

SPANS = _schema(
    trace=pa.uint32(),
    span_id=TEXT,
    parent_id=TEXT,
    kind=TEXT,
    name=TEXT,
    agent=TEXT,
    model=TEXT,
    call_index=pa.int32(),
    status=TEXT,
    started_at=TIME,
    duration_ms=pa.float64(),
    input_tokens=pa.int64(),
    output_tokens=pa.int64(),
    cost=pa.float64(),
)
"""One row per recorded span, by trace, in the order in which they started.

``kind`` is llm, tool, agent, chain or other, never null; ``call_index`` is the call that a tool span is, null for every
other span and for a second record of a call. ``status`` is ok, error, or null for unknown.
"""


class Remark(NamedTuple):
    """Something about some values of an input.

    Attributes:
        text: What is the matter, the same for all of them.
        number: How many there are.
        place: Where the first one stands.
    """

    text: str
    number: int
    place: str


@dataclass(frozen=True, slots=True)
class Batch:
    """Whole traces, as tables that share the number ``trace``.

    Attributes:
        traces: See `TRACES`.
        calls: See `CALLS`.
        expected: See `EXPECTED`.
        rejects: See `REJECTS`.
        n_records: Records seen: those that traces are made of (one each, where a record is a trace), merged and blank
            ones and rejects together.
        n_blank: Blank lines among them.
        notes: Remarks about the source, once each (for instance that a format does not record something).
        records: uint64[n, 2]: digests (high, low) that identify the input when hashed in order, whatever the blocks it
            was read in: of every record's bytes, bad and blank ones included, or of a table's files or rows.
        remarks: What was odd about values of the input; those of equal text are added up over the batches.
        masked_answers: bool[traces]: whether a secret was masked in the final answer; None where nothing of the batch
            is masked, as in every batch that does not come from a stored run.
        spans: See `SPANS`; empty where the format has none.
        n_merged: Records among ``n_records`` that repeat another one of their trace and count once.
        text_is_given: Whether arguments that are JSON text are so by the sender's choice, not by the format's.
    """

    traces: pa.Table
    calls: pa.Table
    expected: pa.Table
    rejects: pa.Table
    n_records: int
    n_blank: int = 0
    notes: tuple[str, ...] = ()
    records: npt.NDArray[np.uint64] = field(default_factory=lambda: np.zeros((0, 2), np.uint64))
    remarks: tuple[Remark, ...] = ()
    masked_answers: npt.NDArray[np.bool_] | None = None
    spans: pa.Table = field(default_factory=SPANS.empty_table)
    n_merged: int = 0
    text_is_given: bool = False

    def keeping(self, keep: npt.NDArray[np.bool_]) -> Batch:
        """The batch with some of its traces (bool[traces]), numbered anew; rejects, counts and digests stay."""
        number = (np.cumsum(keep) - 1).astype(np.uint32)

        def kept(rows: pa.Table, schema: pa.Schema) -> pa.Table:
            trace = numbers(rows["trace"])
            some = rows.filter(pa.array(keep[trace]))
            return some.set_column(0, schema.field(0), pa.array(number[trace[keep[trace]]]))

        masked = self.masked_answers
        return replace(
            self,
            traces=kept(self.traces, TRACES),
            calls=kept(self.calls, CALLS),
            expected=kept(self.expected, EXPECTED),
            spans=kept(self.spans, SPANS),
            masked_answers=None if masked is None else masked[keep],
        )

    def checked(self) -> Batch:
        """This batch, after a look at what every later stage relies on: the schemas and the order of rows.

        Raises:
            InternalError: A source broke the contract.
        """
        schemas = {"traces": TRACES, "calls": CALLS, "expected": EXPECTED, "rejects": REJECTS, "spans": SPANS}
        for name, schema in schemas.items():
            found = getattr(self, name).schema
            if not found.equals(schema):
                raise InternalError(f"a source gave {name} with schema {found}, not {schema}")
        for name in ("calls", "expected", "spans"):
            rows = numbers(getattr(self, name)["trace"])
            if rows.size and (np.any(rows[1:] < rows[:-1]) or rows[-1] >= self.traces.num_rows):
                raise InternalError(f"{name} are not ordered by trace")
        return self


@dataclass(frozen=True, slots=True)
class Before:
    """What is known of an input that was read before, and of which only good and bad records are left.

    Attributes:
        input_digest: Its digest, as it was then.
        n_merged: Records equal to an earlier one.
        n_blank: Blank records.
        notes: Remarks of that reading.
        n_left_out: Traces that were not selected.
        selection: What was selected, as JSON text; None: everything.
        missing_cases: Cases without a trace in that input, selected or not.
        n_more: Records that traces were made of, beyond one for each.
    """

    input_digest: str
    n_merged: int
    n_blank: int
    notes: tuple[str, ...]
    n_left_out: int = 0
    selection: str | None = None
    missing_cases: tuple[str, ...] = ()
    n_more: int = 0


_EMPTY: dict[int, tuple[pa.Schema, pa.Table]] = {}
"""Tables without rows, made once; by the identity of their schema."""


def empty(schema: pa.Schema) -> pa.Table:
    """A table of that schema without rows.

    Example:
        >>> empty(REJECTS).num_rows
        0
    """
    known = _EMPTY.get(id(schema))
    if known is None or known[0] is not schema:
        known = _EMPTY[id(schema)] = schema, schema.empty_table()
    return known[1]


def table(schema: pa.Schema, n: int, /, **columns: Any) -> pa.Table:
    """A table of ``n`` rows of that schema; columns that are not given are null.

    Args:
        schema: One of `TRACES`, `CALLS`, `EXPECTED`, `REJECTS`, `SPANS`.
        n: Number of rows.
        **columns: Arrow arrays, NumPy arrays or lists by column name.

    Raises:
        InternalError: A column that the schema does not have, or a required one that is not given.

    Example:
        >>> table(
        ...     EXPECTED, 1, trace=[0], reference_index=[0], expected_index=[0], name=["a"], arguments_form=[0]
        ... ).to_pylist()[0]["arguments"] is None
        True
    """
    if unknown := set(columns) - set(schema.names):
        raise InternalError(f"no such columns: {sorted(unknown)}")
    arrays = []
    for item in schema:
        value = columns.get(item.name)
        if value is None:
            if not item.nullable and n:
                raise InternalError(f"column {item.name} is missing")
            arrays.append(pa.nulls(n, item.type))
        else:
            arrays.append(as_column(value, item.type))
    return pa.Table.from_arrays(arrays, schema=schema)


def as_column(value: Any, kind: pa.DataType) -> pa.Array | pa.ChunkedArray:
    """An Arrow column of exactly that type, from an Arrow array, a NumPy array or a list."""
    if isinstance(value, pa.Array | pa.ChunkedArray):
        return value if value.type == kind else value.cast(kind)
    return pa.array(value, kind)


@dataclass(frozen=True, slots=True)
class Texts:
    """n texts as a kernel sees them.

    Attributes:
        data: uint8, the UTF-8 bytes of all texts back to back, then at least `PADDING` zero bytes.
        offsets: int64[n + 1]; text i is ``data[offsets[i]:offsets[i + 1]]``.
    """

    data: npt.NDArray[np.uint8]
    offsets: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return self.offsets.size - 1

    def __getitem__(self, row: int) -> bytes:
        """The bytes of one text (for messages and tests, not for loops)."""
        return self.data[self.offsets[row] : self.offsets[row + 1]].tobytes()

    def __iter__(self) -> Iterator[bytes]:
        return (self[row] for row in range(len(self)))


def padded(data: bytes | bytearray | memoryview | npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """A copy of the bytes with `PADDING` zero bytes behind them.

    Example:
        >>> padded(b"ab").size
        34
    """
    flat = data if isinstance(data, np.ndarray) else np.frombuffer(data, np.uint8)
    out = np.empty(flat.size + PADDING, np.uint8)
    out[: flat.size] = flat
    out[flat.size :] = 0
    return out


def texts(values: pa.Array | pa.ChunkedArray | Iterable[str | None]) -> Texts:
    r"""The texts of a string (or binary) column; nulls are empty texts (see `valid`).

    Args:
        values: An Arrow array of any string or binary type, dictionaries included, or an iterable of strings.

    Returns:
        The texts with padding, not to be written to: copied only where no zero bytes follow them anyway.

    Example:
        >>> list(texts(["ab", None, "é"]))
        [b'ab', b'', b'\xc3\xa9']
    """
    if not isinstance(values, pa.Array | pa.ChunkedArray):
        values = pa.array(list(values), TEXT)
    column = one_chunk(values)
    if column.type != TEXT:
        column = one_chunk(column.cast(TEXT))
    n = len(column)
    if n == 0:
        return Texts(np.zeros(PADDING, np.uint8), np.zeros(1, np.int64))
    data, offsets = bytes_and_offsets(column)
    first, end = int(offsets[0]), int(offsets[-1])
    # kernels are compiled for arrays that could be written to
    is_padded = data.size >= end + PADDING and data.flags.writeable and not data[end : end + PADDING].any()
    return Texts(data[first : end + PADDING] if is_padded else padded(data[first:end]), offsets - first)


def bytes_and_offsets(column: pa.LargeStringArray) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """The bytes of a text column that is not empty and where its texts stand in them, without a copy and unpadded.

    Example:
        >>> bytes_and_offsets(pa.array(["a", "bc"], TEXT).slice(1))[1]
        array([1, 3])
    """
    _, offset_buffer, data_buffer = column.buffers()
    offsets = np.frombuffer(offset_buffer, np.int64, len(column) + 1, column.offset * 8)
    return np.frombuffer(data_buffer if data_buffer is not None else NOTHING, np.uint8), offsets


def text_array(
    data: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], valid: npt.NDArray[np.bool_] | None = None
) -> pa.LargeStringArray:
    """A string column over a kernel's output, without a copy.

    Args:
        data: UTF-8 bytes of all rows (the caller vouches for it); bytes behind the last offset are ignored.
        offsets: int64[n + 1].
        valid: bool[n]; false makes a null. None: no nulls.

    Example:
        >>> text_array(padded(b"abc"), np.array([0, 1, 3])).to_pylist()
        ['a', 'bc']
    """
    n = offsets.size - 1
    mask = None if valid is None or bool(valid.all()) else bits(valid)
    buffers = [mask, pa.py_buffer(np.ascontiguousarray(offsets)), pa.py_buffer(data)]
    return pa.Array.from_buffers(TEXT, n, buffers)


def one_chunk(values: pa.Array | pa.ChunkedArray) -> pa.Array:
    """The column as one array."""
    if isinstance(values, pa.ChunkedArray):
        return values.combine_chunks() if values.num_chunks != 1 else values.chunk(0)
    return values


def valid(values: pa.Array | pa.ChunkedArray) -> npt.NDArray[np.bool_]:
    """bool[n]: which rows are not null.

    Example:
        >>> valid(pa.array(["a", None])).tolist()
        [True, False]
    """
    column = one_chunk(values)
    known = None if column.null_count in {0, len(column)} else column.buffers()[0]
    if known is None:
        return np.full(len(column), column.null_count == 0, np.bool_)
    return _flags(known, column.offset, len(column))


def true(values: pa.Array | pa.ChunkedArray) -> npt.NDArray[np.bool_]:
    """bool[n]: which rows of a boolean column are true; null is not.

    Example:
        >>> true(pa.array([True, None, False])).tolist()
        [True, False, False]
    """
    column = one_chunk(values)
    if not len(column) or column.null_count == len(column):
        return np.zeros(len(column), np.bool_)
    said = _flags(column.buffers()[1], column.offset, len(column))
    return said & valid(column) if column.null_count else said


def one_of(values: pa.Array | pa.ChunkedArray, *known: str) -> npt.NDArray[np.bool_]:
    """bool[n]: which texts are one of those.

    Example:
        >>> one_of(pa.array(["a", None, "b"], TEXT), "a", "c").tolist()
        [True, False, False]
    """
    if values.null_count == len(values):
        return np.zeros(len(values), np.bool_)
    if len(known) > FEW:
        return true(pc.is_in(values, pa.array(known, TEXT)))
    out = true(pc.equal(values, known[0]))
    for text in known[1:]:
        out |= true(pc.equal(values, text))
    return out


def bits(mask: npt.NDArray[np.bool_]) -> pa.Buffer:
    """Flags as a bitmap, in the order in which Arrow reads them."""
    return pa.py_buffer(np.packbits(mask, bitorder="little"))


def _flags(bitmap: pa.Buffer, offset: int, n: int) -> npt.NDArray[np.bool_]:
    """bool[n]: the bits of a bitmap from an offset on."""
    first, skip = divmod(offset, 8)
    taken = np.frombuffer(bitmap, np.uint8, -(-(skip + n) // 8), first)
    return np.unpackbits(taken, count=skip + n, bitorder="little")[skip:].view(np.bool_)


def numbers(values: pa.Array | pa.ChunkedArray, default: float | bool | None = None) -> npt.NDArray[Any]:
    """The values of a number or boolean column as NumPy, in the column's own width.

    Args:
        values: A column of integers, floats or booleans.
        default: What nulls become; needed where there are nulls.

    Raises:
        InternalError: Nulls without a default: a silent NaN or zero must not enter a score.

    Example:
        >>> numbers(pa.array([1, None], pa.int32()), default=-1)
        array([ 1, -1], dtype=int32)
    """
    column = one_chunk(values)
    if column.null_count:
        if default is None:
            raise InternalError("a column with nulls was read as plain numbers")
        column = column.fill_null(pa.scalar(default, column.type))
    if pa.types.is_boolean(column.type):
        return true(column)
    return np.asarray(column.to_numpy(zero_copy_only=False))


def nullable(values: npt.NDArray[Any], null: npt.NDArray[np.bool_]) -> pa.Array:
    """Values, null where told.

    Example:
        >>> nullable(np.array([1, 2]), np.array([False, True])).to_pylist()
        [1, None]
    """
    if not null.any():
        return pa.array(values)
    if values.dtype.kind not in "iuf":
        return pa.array(values, mask=null)
    buffers = [bits(~null), pa.py_buffer(np.ascontiguousarray(values))]
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), values.size, buffers)


def places(rows: npt.NDArray[np.integer[Any]]) -> pa.Array:
    """Row numbers to take, null below zero.

    Example:
        >>> pa.array(["a", "b"]).take(places(np.array([1, -1]))).to_pylist()
        ['b', None]
    """
    none = rows < 0
    return nullable(np.where(none, 0, rows), none)


def coded(codes: npt.NDArray[Any], texts: Sequence[str]) -> pa.DictionaryArray:
    """Texts by number, null below zero.

    Example:
        >>> coded(np.array([1, -1]), ["a", "b"]).to_pylist()
        ['b', None]
    """
    numbers = codes.astype(np.int32, copy=False)
    return pa.DictionaryArray.from_arrays(nullable(numbers, numbers < 0), pa.array(texts, TEXT))


def numbered(values: pa.Array | pa.ChunkedArray) -> tuple[npt.NDArray[np.int32], list[str]]:
    """A number for each distinct text, below zero for null, and the texts by number.

    Args:
        values: Strings with few distinct values, or a dictionary of them.

    Example:
        >>> numbers, known = numbered(pa.array(["x", None, "y", "x"]))
        >>> numbers.tolist(), known
        ([0, -1, 1, 0], ['x', 'y'])
    """
    whole = one_chunk(values)
    if whole.null_count == len(whole):
        return np.full(len(whole), -1, np.int32), []
    known = whole if pa.types.is_dictionary(whole.type) else whole.dictionary_encode()
    return numbers(known.indices, default=-1).astype(np.int32, copy=False), known.dictionary.to_pylist()
