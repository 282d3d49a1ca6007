"""The references of a suite: the expected calls of each case, read from JSON lines.

Arguments keep the very text of the file, because a parsed number may not be the number that was written. So the
outer objects of a line are walked here by hand, and inner values are only stepped over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from tracelens.errors import did_you_mean
from tracelens.kernels.reference.values import MAX_DEPTH, check_depth, parse
from tracelens.suite.problems import Problems

if TYPE_CHECKING:
    import pyarrow as pa

_CHUNK = 100_000
"""Rows that are held as Python objects at a time."""

LINE_KEYS = ("case_id", "expected", "references", "state", "milestones")
CALL_KEYS = (
    "name", "arguments", "call_id", "turn", "agent", "depth", "status", "result", "error", "started_at", "duration_ms",
)  # fmt: skip
"""Keys of an expected call. Those of recorded calls may stand there and are ignored: a good trace makes a reference."""

ABSENT, NULL, VALUE, STRING = range(4)
"""Values of ``arguments_form``: absent and null accept any arguments; else the text of an object, or of a string
that held one."""


@dataclass(frozen=True)
class References:
    """Expected calls by case.

    Attributes:
        expected: Table ``case_id, reference_index, expected_index, name, arguments, arguments_form, line``, sorted by
            the first three; ``arguments`` is the JSON text as written, null where any are accepted.
        cases: Table ``case_id, n_references, state, milestones, line``, sorted by case; ``n_references`` is null
            where the case has no reference; ``state`` and ``milestones`` are JSON text or null.
        place: The file, for messages.

    Example:
        >>> references = read_references(['{"case_id": 10, "expected": [{"name": "a", "arguments": {"x": 1.0}}]}'])
        >>> references.expected["arguments"].to_pylist(), references.cases["case_id"].to_pylist()
        (['{"x": 1.0}'], ['10'])
    """

    expected: pa.Table
    cases: pa.Table
    place: str = ""

    def __len__(self) -> int:
        return int(self.cases.num_rows)

    @staticmethod
    def empty() -> References:
        """No cases at all."""
        return _Rows().finish("")


class _LineError(ValueError):
    """A line that cannot be used, with advice."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_raw_decode: Callable[[str, int], tuple[Any, int]] = json.JSONDecoder(parse_constant=_constant).raw_decode
_head = re.compile(
    r'\{\s*"case_id"\s*:\s*(?:"([^"\\\x00-\x1f]*)"|(-?(?:0|[1-9][0-9]*)))\s*,\s*"expected"\s*:\s*\[\s*'
).match
_call_head = re.compile(r'\{\s*"name"\s*:\s*"([^"\\\x00-\x1f]+)"\s*,\s*"arguments"\s*:\s*(?=\{)').match
_call_end = re.compile(r"\s*\}\s*(?:,\s*(?=\{)|(\]\s*\})\Z)").match
_space = re.compile(r"[ \t\r\n]*").match


def _scan(text: str, at: int) -> tuple[Any, int]:
    """The value that starts at ``at``, and its end."""
    try:
        return _raw_decode(text, at)
    except json.JSONDecodeError as error:
        raise _LineError(f"invalid JSON at character {error.pos + 1}: {error.msg}", "one JSON object a line") from None


def _after_space(text: str, at: int) -> int:
    match = _space(text, at)
    return match.end() if match else at


def _members(text: str, at: int) -> Iterator[tuple[str, int, int, Any]]:
    """Key, start, end and value of each member of the object that starts at ``at``; last the end of the object."""
    at = _after_space(text, at + 1)
    if text[at : at + 1] == "}":
        yield "", at + 1, at + 1, None
        return
    while True:
        if text[at : at + 1] != '"':
            raise _LineError(f"invalid JSON at character {at + 1}")
        key, at = _scan(text, at)
        at = _after_space(text, at)
        if text[at : at + 1] != ":":
            raise _LineError(f"invalid JSON at character {at + 1}")
        start = _after_space(text, at + 1)
        value, end = _scan(text, start)
        yield key, start, end, value
        at = _after_space(text, end)
        mark = text[at : at + 1]
        if mark == "}":
            yield "", at + 1, at + 1, None
            return
        if mark != ",":
            raise _LineError(f"invalid JSON at character {at + 1}")
        at = _after_space(text, at + 1)


def _elements(text: str, at: int) -> Iterator[int]:
    """The start of each element of a list that is known to be valid."""
    at = _after_space(text, at + 1)
    while text[at] != "]":
        yield at
        _, at = _scan(text, at)
        at = _after_space(text, at)
        if text[at] == ",":
            at = _after_space(text, at + 1)


@dataclass
class _Rows:
    """Rows on their way into tables."""

    expected: list[tuple[str, int, int, str, str | None, int, int]] = field(default_factory=list)
    cases: list[tuple[str, int | None, str | None, str | None, int]] = field(default_factory=list)
    tables: list[tuple[pa.Table, pa.Table]] = field(default_factory=list)

    def flush(self) -> None:
        import pyarrow as pa

        text = pa.large_string()
        expected_schema = pa.schema([
            pa.field("case_id", text, nullable=False), pa.field("reference_index", pa.int32(), nullable=False),
            pa.field("expected_index", pa.int32(), nullable=False), pa.field("name", text, nullable=False),
            pa.field("arguments", text), pa.field("arguments_form", pa.uint8(), nullable=False),
            pa.field("line", pa.int64(), nullable=False),
        ])  # fmt: skip
        cases_schema = pa.schema([
            pa.field("case_id", text, nullable=False), pa.field("n_references", pa.int32()), pa.field("state", text),
            pa.field("milestones", text), pa.field("line", pa.int64(), nullable=False),
        ])  # fmt: skip
        self.tables.append((_table(self.expected, expected_schema), _table(self.cases, cases_schema)))
        self.expected, self.cases = [], []

    def finish(self, place: str) -> References:
        self.flush()
        parts, self.tables = self.tables, []
        expected = _sorted([one for one, _ in parts], ["case_id", "reference_index", "expected_index"])
        cases = _sorted([one for _, one in parts], ["case_id"])
        return References(expected, cases, place)


def _sorted(tables: list[pa.Table], keys: list[str]) -> pa.Table:
    """One table of one chunk, sorted; empties the list, so that no part is held twice for long."""
    import pyarrow as pa
    import pyarrow.compute as pc

    table = pa.concat_tables(tables)
    tables.clear()
    order, schema = pc.sort_indices(table, [(key, "ascending") for key in keys]), table.schema
    columns = []
    while table.num_columns:
        column = table.column(0).combine_chunks()
        table = table.remove_column(0)
        columns.append(column.take(order))
        del column
    return pa.Table.from_arrays(columns, schema=schema)


def _table(rows: list[Any], schema: pa.Schema) -> pa.Table:
    import pyarrow as pa

    columns = list(zip(*rows, strict=True)) if rows else [()] * len(schema)
    return pa.Table.from_arrays([pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)], schema=schema)


def read_references(lines: Iterable[str | bytes], place: str = "", problems: Problems | None = None) -> References:
    """References from JSON lines.

    Args:
        lines: ``{"case_id": …, "expected": […]}`` or ``{"case_id": …, "references": [[…], […]]}``, each with an
            optional ``state`` object and ``milestones`` table; blank lines are skipped.
        place: The file, for messages.
        problems: Where to note what is wrong; None raises it at the end.

    Returns:
        The lines that can be used.

    Raises:
        SuiteProblemsError: A line that cannot be used, or a case that stands there twice, when ``problems`` is None.

    Example:
        >>> read_references(['{"case_id": "a", "expected": []}', ""]).cases.num_rows
        1
    """
    noted = Problems() if problems is None else problems
    rows, seen, checked = _Rows(), dict[str, int](), dict[str, str]()
    for number, raw in enumerate(lines, start=1):
        at = f"{place}:{number}" if place else f"line {number}"
        try:
            text = raw.decode("utf-8-sig" if number == 1 else "utf-8") if isinstance(raw, bytes) else raw
            text = text.strip(" \t\r\n")
            if text and not _read_plain_line(text, number, rows, seen):
                _read_line(text, number, rows, seen, checked)
        except _LineError as error:
            noted.add(at, str(error), error.hint)
        except (ValueError, RecursionError) as error:
            noted.add(at, f"cannot be read as JSON: {error}", "one JSON object a line")
        if len(rows.expected) + len(rows.cases) >= _CHUNK:
            rows.flush()
    if problems is None:
        noted.raise_if_any()
    return rows.finish(place)


def load_references(path: Path, place: str, problems: Problems) -> References:
    """References from a file (plain, or gzip by its name); see `read_references`."""
    import gzip

    with path.open("rb") as plain:
        if path.suffix != ".gz":
            return read_references(plain, place, problems)
        with gzip.open(plain) as unpacked:
            return read_references(unpacked, place, problems)


def _read_plain_line(text: str, number: int, rows: _Rows, seen: dict[str, int]) -> bool:
    """Reads a line of the most common shape; false leaves it, faults included, to `_read_line`.

    The shape: a case, and calls with name and arguments, in this order, without escapes in names, matchers or half
    surrogates.
    """
    head = _head(text)
    if (
        head is None
        or text.count("[") + text.count("{") > MAX_DEPTH
        or '"$' in text
        or "\\ud" in text
        or "\\uD" in text
        or "\\u0024" in text
    ):
        return False
    case = head[1] if head[1] is not None else head[2]
    at = head.end()
    calls: list[Any] = []
    while True:
        call = _call_head(text, at)
        if call is None or case in seen:
            return False
        start = call.end()
        try:
            _, at = _raw_decode(text, start)
        except ValueError:
            return False
        calls.append((case, 0, len(calls), call[1], text[start:at], VALUE, number))
        end = _call_end(text, at)
        if end is None:
            return False
        at = end.end()
        if end[1] is not None:
            break
    seen[case] = number
    rows.expected.extend(calls)
    rows.cases.append((case, 1, None, None, number))
    return True


def _read_line(text: str, number: int, rows: _Rows, seen: dict[str, int], checked: dict[str, str]) -> None:
    if text[0] != "{":
        raise _LineError("a reference should be a JSON object", '{"case_id": …, "expected": […]}')
    check_depth(text)  # arguments that nest deeper could equal nothing, because no call may
    spans: dict[str, tuple[int, int, Any]] = {}
    for key, start, end, value in _members(text, 0):
        if start == end:
            if end != len(text):
                raise _LineError(f"text behind the object, at character {end + 1}", "one JSON object a line")
            break
        if key not in LINE_KEYS:
            raise _LineError(
                f"unknown key {key!r}", did_you_mean(key, LINE_KEYS) or f"known are {', '.join(LINE_KEYS)}"
            )
        if key in spans:
            raise _LineError(f"key {key!r} stands there twice")
        spans[key] = (start, end, value)
    _refuse_surrogates(text)
    case = _case(text, spans)
    if case in seen:
        raise _LineError(
            f"case {case!r} already stands in line {seen[case]}",
            "give each case one line, with references = [[…], […]]",
        )
    calls, count = _calls(text, spans, case, number)
    state = _object(text, spans, "state")
    milestones = _object(text, spans, "milestones")
    if milestones is not None:
        _check_milestones(milestones, checked)
    seen[case] = number
    rows.expected.extend(calls)
    rows.cases.append((case, count, state, milestones, number))


def _refuse_surrogates(text: str) -> None:
    """Half a surrogate pair is no text; the standard parser lets it pass."""
    if "\\ud" in text or "\\uD" in text:
        try:
            json.dumps(json.loads(text), ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise _LineError("a lone surrogate escape, which is no text", "write both halves of the pair") from None


def _case(text: str, spans: dict[str, tuple[int, int, Any]]) -> str:
    if "case_id" not in spans:
        raise _LineError("a reference without case_id")
    start, end, value = spans["case_id"]
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return text[start:end]
    raise _LineError(f"case_id should be text or a number, not {text[start:end]}")


def _object(text: str, spans: dict[str, tuple[int, int, Any]], key: str) -> str | None:
    start, end, value = spans.get(key, (0, 0, None))
    if value is None:
        return None
    if not isinstance(value, dict):
        raise _LineError(f"{key} should be an object")
    return text[start:end]


def _calls(text: str, spans: dict[str, tuple[int, int, Any]], case: str, number: int) -> tuple[list[Any], int | None]:
    """Rows of all references of a line, and how many references there are (None: no reference)."""
    start, _, single = spans.get("expected", (0, 0, None))
    many_start, _, many = spans.get("references", (0, 0, None))
    if single is not None and many is not None:
        raise _LineError("both expected and references", "references holds all of them")
    if single is not None:
        if not isinstance(single, list):
            raise _LineError("expected should be a list of calls")
        starts = [start]
    elif many is None or many == []:
        return [], None
    elif not isinstance(many, list) or not all(isinstance(one, list) for one in many):
        raise _LineError("references should be a list of lists of calls", "one reference alone is called expected")
    else:
        starts = list(_elements(text, many_start))
    rows = []
    for index, at in enumerate(starts):
        for position, call in enumerate(_elements(text, at)):
            try:
                rows.append((case, index, position, *_call(text, call), number))
            except _LineError as error:
                where = f"references[{index}][{position}]" if many is not None else f"expected[{position}]"
                raise _LineError(f"{where}: {error}", error.hint) from None
    return rows, len(starts)


def _call(text: str, at: int) -> tuple[str, str | None, int]:
    """Name, argument text and form of the expected call that starts at ``at``."""
    if text[at] != "{":
        raise _LineError("an expected call should be an object", '{"name": …, "arguments": {…}}')
    name: Any = None
    arguments: tuple[str | None, int] = (None, ABSENT)
    for key, start, end, value in _members(text, at):
        if start == end:
            break
        if key == "name":
            name = value
        elif key == "arguments":
            arguments = _arguments(text[start:end], value)
        elif key not in CALL_KEYS:
            raise _LineError(f"unknown key {key!r}", did_you_mean(key, CALL_KEYS) or "a call has name and arguments")
    if not isinstance(name, str) or not name:
        raise _LineError("an expected call needs a name")
    return (name, *arguments)


def _arguments(raw: str, value: Any) -> tuple[str | None, int]:
    from tracelens.suite.matchers import check_matchers
    from tracelens.suite.rules import RefusedError

    form = VALUE
    if value is None:
        return None, NULL
    if isinstance(value, str):
        raw, form = value, STRING
        try:
            value = json.loads(value, parse_constant=_constant)
        except ValueError:
            value = None
    if not isinstance(value, dict):
        raise _LineError("expected arguments should be an object", "leave arguments out to accept any, {} means none")
    if '"$' in raw or "\\u0024" in raw:
        try:
            check_matchers(parse(raw))
        except RefusedError as error:
            raise _LineError(str(error), error.hint) from None
    return raw, form


def _check_milestones(text: str, checked: dict[str, str]) -> None:
    """Raises when the table of milestones of a case is wrong; equal tables are looked at once."""
    if text not in checked:
        from tracelens.suite.validate import milestones_from

        _, problems = milestones_from(text)
        checked[text] = "; ".join(str(problem) for problem in problems)
    if checked[text]:
        raise _LineError(f"milestones: {checked[text]}")
