"""Rung one on a batch: the state of every call, and a finding per error.

The kernel decides what it can; the rest goes, once per distinct schema and text, to the reference checker.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from tracelens.arguments import Arguments
from tracelens.columns import numbered
from tracelens.errors import did_you_mean
from tracelens.kernels import check as k
from tracelens.kernels.reference.paths import render_path
from tracelens.kernels.scan import ERRORS, OUT_OF_RANGE
from tracelens.rungs.findings import finding_frame
from tracelens.rungs.pieces import paths, shorten, shown
from tracelens.rungs.schema.catalogue import EXEMPT, NO_SCHEMA, UNKNOWN, UNUSABLE, Catalogue
from tracelens.rungs.schema.render import code_of, findings
from tracelens.rungs.schema.truth import CannotCheckError, CompiledSchema, SchemaError, validate

STATES = ("valid", "invalid", "unknown_tool", "unusable", "no_schema", "not_captured", "not_applicable")
"""Values of ``schema_state``, in the order of the codes below."""

S_VALID, S_INVALID, S_UNKNOWN, S_UNUSABLE, S_NO_SCHEMA, S_NOT_CAPTURED, S_NOT_APPLICABLE = range(7)

# Codes of ``arguments_state``.
A_OBJECT, A_EMPTY, A_NOT_CAPTURED, A_TRUNCATED, A_INVALID, A_NOT_OBJECT, A_TEXT = range(7)

COLUMNS = pl.Schema(
    {"call": pl.Int64, "severity": pl.String, "code": pl.String, "path": pl.String, "message": pl.String,
     "value": pl.String}
)  # fmt: skip

_KINDS = {"{": "an object", "[": "an array", '"': "a string", "t": "true", "f": "false", "n": "null"}


@dataclass(frozen=True)
class SchemaResult:
    """What rung one says about n calls.

    Attributes:
        state: uint8[n], index into `STATES`.
        findings: call (row), severity (error or note), code, path, message, value (JSON text, at most 500
            characters); sorted by call, path, code, message.
        n_asked: How many calls the kernel could not decide.
    """

    state: npt.NDArray[np.uint8]
    findings: pl.DataFrame
    n_asked: int


def check(
    arguments: Arguments,
    tool_of_call: npt.NDArray[np.int32],
    catalogue: Catalogue,
    tools: pl.Series | None = None,
    prescribed: npt.NDArray[np.uint8] | None = None,
) -> SchemaResult:
    """Check calls against the schemas of their tools.

    Args:
        arguments: The calls' arguments as they were read.
        tool_of_call: int32[n], ids of `Catalogue.assign`.
        catalogue: The tools.
        tools: str?[n], canonical names, for the messages about unknown tools.
        prescribed: uint8[n], how often the format itself wraps arguments in a JSON string; more is noted.

    Returns:
        States and findings.
    """
    roots = catalogue.roots[np.maximum(tool_of_call, 0)]
    state = _states(arguments, tool_of_call, roots)
    rows = np.flatnonzero(state == S_VALID)
    engine = catalogue.engine
    outcome = engine.run(arguments.data, arguments.tape, rows, roots[rows])
    state[rows[outcome.state[rows] == k.INVALID]] = S_INVALID
    asked = rows[outcome.state[rows] == k.ODD]
    errors = findings(outcome.events, engine.compiled.templates, arguments.data, arguments.tape)
    parts = [
        finding_frame({**errors.to_dict(), "severity": "error"}, schema=COLUMNS),
        *_ask(asked, arguments, tool_of_call, catalogue, state),
        *_unknown(state, tools, catalogue),
        *_about_arguments(arguments, prescribed),
    ]
    found = pl.concat(parts).sort("call", "path", "code", "message", maintain_order=True)
    return SchemaResult(state, found, int(asked.size))


def _states(
    arguments: Arguments, tool_of_call: npt.NDArray[np.int32], roots: npt.NDArray[np.int64]
) -> npt.NDArray[np.uint8]:
    """The states as far as they are known before a schema is looked at; `S_VALID` for those still to check."""
    state = np.full(tool_of_call.size, S_VALID, np.uint8)
    given = arguments.state
    state[(given == A_NOT_CAPTURED) | (given == A_TRUNCATED)] = S_NOT_CAPTURED
    state[(given == A_INVALID) | (given == A_NOT_OBJECT) | arguments.number_range] = S_INVALID
    state[roots == NO_SCHEMA] = S_NO_SCHEMA
    state[roots == UNUSABLE] = S_UNUSABLE
    state[given == A_TEXT] = S_NOT_APPLICABLE
    state[tool_of_call == UNKNOWN] = S_UNKNOWN
    state[tool_of_call == EXEMPT] = S_NOT_APPLICABLE
    return state


def _ask(
    rows: npt.NDArray[np.int64],
    arguments: Arguments,
    tool_of_call: npt.NDArray[np.int32],
    catalogue: Catalogue,
    state: npt.NDArray[np.uint8],
) -> Iterator[pl.DataFrame]:
    """The findings of calls that the kernel left undecided, by the reference checker; sets their states."""
    answers: dict[tuple[int, bytes], tuple[int, list[Answer]]] = {}
    out: list[tuple[int, str, str, str, str, str | None]] = []
    for row in rows.tolist():
        text = arguments.data[arguments.begin[row] : arguments.end[row]].tobytes()
        key = (int(tool_of_call[row]), text)
        if key not in answers:
            schema = catalogue.schemas[key[0]]
            answers[key] = _answer(schema, text, arguments, row) if schema is not None else (S_NO_SCHEMA, [])
        state[row], found = answers[key]
        out.extend((row, *answer) for answer in found)
    if out:
        yield pl.DataFrame(out, schema=COLUMNS, orient="row")


Answer = tuple[str, str, str, str, str | None]
"""Severity, code, path, message and value of a finding."""


def _answer(schema: CompiledSchema, text: bytes, arguments: Arguments, row: int) -> tuple[int, list[Answer]]:
    """The state of one text and its findings."""
    try:
        errors = validate(schema, text)
    except CannotCheckError as error:
        return S_UNUSABLE, [("note", "schema.unusable", "", f"the schema cannot be applied here: {error}", None)]
    found: list[Answer] = []
    for each in errors:
        value = shorten(pl.Series([_value(each, arguments, row)]))[0]
        found.append(("error", code_of(each.keyword), render_path(each.path), each.message, value))
    return (S_INVALID if found else S_VALID), found


def _value(error: SchemaError, arguments: Arguments, row: int) -> str:
    """The failing value as it was written, where it is the one at the error's path; else written anew."""
    entry = int(arguments.tape.first[row])
    for part in error.path:
        entry = _child(arguments, entry, part)
    tape = arguments.tape
    quotes = int(tape.kind[entry] == 4)
    raw = arguments.data[tape.start[entry] - quotes : tape.end[entry] + quotes].tobytes().decode()
    same = json.loads(raw) == error.instance
    return raw if same else json.dumps(error.instance, ensure_ascii=False)


def _child(arguments: Arguments, entry: int, part: str | int) -> int:
    """The child of a container by name or index; of names that stand twice, the last."""
    tape, found = arguments.tape, entry
    child, stop = entry + 1, int(tape.next[entry])
    while child < stop:
        key: Any = int(tape.index[child])
        if isinstance(part, str):
            key = json.loads(arguments.data[tape.key_start[child] - 1 : tape.key_end[child] + 1].tobytes())
        if key == part:
            found = child
        child = int(tape.next[child])
    return found


def _unknown(state: npt.NDArray[np.uint8], tools: pl.Series | None, catalogue: Catalogue) -> Iterator[pl.DataFrame]:
    """A finding for every call of a tool that nobody knows."""
    rows = np.flatnonzero(state == S_UNKNOWN)
    if rows.size:
        number, names = np.full(rows.size, -1), list[str]()
        if tools is not None:
            number, names = numbered(tools.gather(rows).to_arrow())
        known, every = catalogue.names(), [*names, None]
        messages = pl.Series([_about_name(name, known) for name in every])
        values = pl.Series([json.dumps(name, ensure_ascii=False) for name in every])
        place = np.where(number < 0, len(names), number)
        yield _frame(rows, "tool.unknown", messages.gather(place), values.gather(place))


def _about_name(name: str | None, known: list[str]) -> str:
    if not name:
        return "the call names no tool"
    if name in known:
        return f"tool {name!r} belongs to another agent"
    hint = did_you_mean(name, known)
    return f"tool {name!r} is unknown" + (f"; {hint}" if hint else "")


def _about_arguments(arguments: Arguments, prescribed: npt.NDArray[np.uint8] | None) -> Iterator[pl.DataFrame]:
    """Findings about the arguments as such, whatever their tool."""
    rows = np.flatnonzero(arguments.state == A_INVALID)
    if rows.size:
        places = zip(arguments.error[rows].tolist(), arguments.position[rows].tolist(), strict=True)
        messages = [f"not one JSON value: {ERRORS[error]}, at byte {position}" for error, position in places]
        yield _frame(rows, "arguments.invalid_json", messages, shorten(_texts(arguments, rows)))
    rows = np.flatnonzero(arguments.state == A_NOT_OBJECT)
    if rows.size:
        texts = shorten(_texts(arguments, rows))
        kinds = [_KINDS.get(text.lstrip()[:1], "a number") for text in texts]
        messages = [f"arguments must be a JSON object, not {kind}" for kind in kinds]
        yield _frame(rows, "arguments.not_object", messages, texts)
    if arguments.number_range.any():
        yield _out_of_range(arguments)
    rows = np.flatnonzero(arguments.duplicate_keys)
    if rows.size:
        message = "a key stands twice in one object; the last value counts"
        yield _frame(rows, "arguments.duplicate_keys", message, severity="note")
    rows = np.flatnonzero(arguments.decoded_times > prescribed) if prescribed is not None else rows[:0]
    if rows.size:
        messages = [f"decoded from {times} layers of JSON strings" for times in arguments.decoded_times[rows].tolist()]
        yield _frame(rows, "arguments.decoded", messages, severity="note")


def _texts(arguments: Arguments, rows: npt.NDArray[np.int64]) -> pl.Series:
    """The texts of calls whose bytes may not even be UTF-8."""
    raw = [arguments.data[arguments.begin[row] : arguments.end[row]].tobytes() for row in rows]
    return pl.Series([each.decode("utf-8", "replace") for each in raw], dtype=pl.String)


def _out_of_range(arguments: Arguments) -> pl.DataFrame:
    """A finding for every number beyond double range."""
    tape = arguments.tape
    entries = np.flatnonzero(tape.flags & OUT_OF_RANGE).astype(np.int64)
    calls = np.searchsorted(tape.first, entries, side="right") - 1
    values, places = shown(arguments.data, tape, entries), paths(arguments.data, tape, entries)
    return _frame(calls, "arguments.number_range", values + " lies beyond the range of a double", values, places)


def _frame(
    calls: npt.NDArray[np.int64],
    code: str,
    messages: pl.Series | list[str] | str,
    values: pl.Series | None = None,
    places: pl.Series | str = "",
    severity: str = "error",
) -> pl.DataFrame:
    columns = {"call": pl.Series(calls), "severity": severity, "code": code, "path": places, "message": messages}
    return finding_frame({**columns, "value": values}, schema=COLUMNS)
