"""Berkeley Function Calling Leaderboard: questions (tools), possible answers (references) and results (traces).

The three kinds of files share the id, which is the case. A possible answer lists the values that each argument may
have: they become ``$one_of``, and the empty string among them means that the argument may be left out. Objects inside
list the values of their members in the same way. Questions and possible answers hold no run: their calls count as not
recorded, and `tracelens init` takes tools and references from them. Schemas of the leaderboard are not quite JSON
Schema (``dict``, ``float``, ``tuple``, ``any`` …) and are translated. Possible answers of several turns are calls as
Python text, see `tracelens.sources.evaluations.python_calls`, with the arguments that are right.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracelens.columns import CALLS, JSON_VALUE, TEXT, TRACES, table
from tracelens.projection import ARRAY, NUMBER, OBJECT, STRING, Found, Projected, Projection, Row
from tracelens.sources.base import Fault, Head, JsonSource, Records, Sniff, Tables, some_inside
from tracelens.sources.evaluations.alike import Columns, expected_rows, origin, put_together, trace_names
from tracelens.sources.evaluations.python_calls import calls_in

TYPES = {
    "dict": "object",
    "float": "number",
    "double": "number",
    "tuple": "array",
    "list": "array",
    "ArrayList": "array",
    "Array": "array",
    "HashMap": "object",
    "Hashtable": "object",
    "Dict": "object",
    "String": "string",
    "str": "string",
    "char": "string",
    "int": "integer",
    "long": "integer",
    "short": "integer",
    "byte": "integer",
    "bool": "boolean",
    "Boolean": "boolean",
}
"""Types of the leaderboard's schemas that JSON Schema calls otherwise."""

NO_TYPE = {"any", "Any", "Object"}
"""Types that allow every value."""

_MAPS = {"properties", "patternProperties", "$defs", "definitions"}
_SCHEMAS = {"items", "additionalProperties", "anyOf", "oneOf", "allOf", "not", "prefixItems"}


def translated(schema: Any) -> Any:
    """A schema of the leaderboard as JSON Schema.

    Example:
        >>> translated({"type": "dict", "properties": {"x": {"type": "float"}, "type": {"type": "any"}}})
        {'type': 'object', 'properties': {'x': {'type': 'number'}, 'type': {}}}
    """
    if isinstance(schema, list):
        return [translated(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    out: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "type" and isinstance(value, str):
            if value not in NO_TYPE:
                out[key] = TYPES.get(value, value)
        elif key in _MAPS and isinstance(value, dict):
            out[key] = {name: translated(inner) for name, inner in value.items()}
        elif key in _SCHEMAS:
            out[key] = translated(value)
        elif key != "optional":
            out[key] = value
    return out


def alternatives(values: Any) -> Any:
    """What an argument may be, as a matcher.

    Args:
        values: The list of possible values; the empty string stands for none.

    Example:
        >>> alternatives([1, 2, ""])
        {'$optional': {'$one_of': [1, 2]}}
        >>> alternatives([{"min": [1], "max": [5], "unit": [""]}])
        {'$one_of': [{'min': {'$one_of': [1]}, 'max': {'$one_of': [5]}}]}
        >>> alternatives("plain")
        'plain'
    """
    if not isinstance(values, list):
        return values
    matcher = {"$one_of": [_inside(value) for value in values if value != ""]}
    return {"$optional": matcher} if "" in values else matcher


def members(given: dict[str, Any]) -> dict[str, Any]:
    """Matchers for the members of an object; what may only be left out is none of them.

    Example:
        >>> members({"a": [1], "b": [""]})
        {'a': {'$one_of': [1]}}
    """
    return {name: alternatives(values) for name, values in given.items() if values not in ([""], [])}


def _inside(value: Any) -> Any:
    """One possible value: in objects each member lists its own."""
    if isinstance(value, dict):
        return members(value)
    return [_inside(each) for each in value] if isinstance(value, list) else value


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def named(line: Found) -> Iterator[Fault]:
    """A line that is no object or has no id."""
    yield ~line.has("@", OBJECT), "a line must be an object"
    yield ~line.has("id", STRING, NUMBER), "a line has no id"


def keys_of(head: Head) -> set[str]:
    """The keys that all records have."""
    found = [set(record) for record in head.records if isinstance(record, dict)]
    return set.intersection(*found) if found else set()


class BfclQuestions(JsonSource):
    """Questions with the functions that may be called."""

    name = "bfcl-questions"
    title = "BFCL questions: the functions of each case as tools, without runs"
    seen = True
    sample = "bfcl-questions.json"
    projection = Projection(Row("line", capture={"id": "id", "tools": "function"}))

    def sniff(self, head: Head) -> Sniff:
        """Lines with ``id``, ``question`` and ``function``."""
        if {"id", "question", "function"} <= keys_of(head):
            return Sniff(97, "lines have id, question and function")
        return Sniff(0, "lines have no id with question and function")

    def faults(self, found: Projected) -> Iterator[Fault]:
        """A line without an id or functions."""
        line = found["line"]
        yield from named(line)
        yield ~line.has("tools", ARRAY, OBJECT), "a question has no functions"

    def tables(self, records: Records) -> Tables:
        """The tables of the good lines."""
        line = records.found["line"]
        case = line.text("id", STRING, NUMBER)
        known = line.text("tools", ARRAY, OBJECT).dictionary_encode()
        texts = pa.array(
            [_dump(_tools(json.loads(text, parse_float=_float))) for text in known.dictionary.to_pylist()], TEXT
        )
        traces = table(
            TRACES,
            line.n,
            **origin(records),
            **trace_names(records, case),
            case_id=case,
            tools=texts.take(known.indices) if line.n else pa.nulls(0, TEXT),
            has_calls=np.zeros(line.n, np.bool_),
        )
        return Tables(traces, CALLS.empty_table())


def _tools(functions: Any) -> list[Any]:
    listed = functions if isinstance(functions, list) else [functions]
    return [
        {key: translated(value) if key == "parameters" else value for key, value in each.items()}
        if isinstance(each, dict)
        else each
        for each in listed
    ]


def _matchers(text: str) -> str:
    return _dump(members(json.loads(text, parse_float=_float)))


def _float(text: str) -> float:
    """A number of a file; what no double can hold is the largest one, which nothing equals by chance."""
    return max(-sys.float_info.max, min(sys.float_info.max, float(text)))


class BfclAnswers(JsonSource):
    """Possible answers."""

    name = "bfcl-answers"
    title = "BFCL possible answers: references with the values that each argument may have, without runs"
    seen = True
    sample = "bfcl-answers.json"
    projection = Projection(
        Row(
            "line",
            capture={"id": "id", "answers": "ground_truth"},
            rows=[Row("answer", "ground_truth[*]", rows=[Row("function", ".*"), Row("written", "[*]")])],
        )
    )

    def sniff(self, head: Head) -> Sniff:
        """Lines with ``id`` and ``ground_truth``."""
        keys = keys_of(head)
        if {"id", "ground_truth"} <= keys and not keys & {"messages", "tool_calls"}:
            return Sniff(96, "lines have id and ground_truth")
        return Sniff(0, "lines have no id with ground_truth")

    def faults(self, found: Projected) -> Iterator[Fault]:
        """A line without an id, or whose answers are no calls."""
        line, answer, function = found["line"], found["answer"], found["function"]
        yield from named(line)
        yield ~line.has("answers", ARRAY), "a line has no list ground_truth"
        strange = ~answer.has("@", OBJECT, ARRAY, STRING)
        yield some_inside(found, "answer", strange), "ground_truth holds something that is no call"
        yield some_inside(found, "function", ~function.has("@", OBJECT)), "possible arguments are no object"
        for name in ("answer", "written"):
            unread = np.zeros(found[name].n, np.bool_)
            unread[_written(found, name)[1]] = True
            yield some_inside(found, name, unread), "ground_truth holds a text that is no call"

    def tables(self, records: Records) -> Tables:
        """The tables of the good lines."""
        found, line, function = records.found, records.found["line"], records.found["function"]
        case = line.text("id", STRING, NUMBER)
        known = function.text("@", OBJECT).dictionary_encode()
        matchers = [_matchers(text) for text in known.dictionary.to_pylist()]
        traces = table(
            TRACES,
            line.n,
            **origin(records),
            **trace_names(records, case),
            case_id=case,
            has_calls=np.zeros(line.n, np.bool_),
            n_references=np.ones(line.n, np.int32),
        )
        columns: Columns = {
            "trace": found["answer"].parent[function.parent],
            "name": function.text("@key"),
            "arguments": pa.array(matchers, TEXT).take(known.indices) if function.n else pa.nulls(0, TEXT),
        }
        parts: list[tuple[npt.NDArray[np.int64], Columns]] = [(function.cells("@").start.astype(np.int64), columns)]
        parts += [_written(found, name)[0] for name in ("answer", "written")]
        _, wanted = put_together(*parts)
        trace = wanted["trace"].to_numpy()
        form = np.full(trace.size, JSON_VALUE, np.uint8)
        return Tables(
            traces,
            CALLS.empty_table(),
            expected_rows(trace.astype(np.int64), wanted["name"], wanted["arguments"], form, line.n),
        )


def _written(found: Projected, name: str) -> tuple[tuple[npt.NDArray[np.int64], Columns], list[int]]:
    """The calls that possible answers write as Python: places and columns; and the rows that are no such calls."""
    rows, answer = found[name], found["answer"]
    trace = rows.parent if name == "answer" else answer.parent[rows.parent]
    start, texts = rows.cells("@").start, rows.text("@", STRING).to_pylist()
    calls, bad = [], []
    for row, text in enumerate(texts):
        if text is None:
            continue
        some = calls_in(text)
        if some is None or any(call.name is None or call.form != JSON_VALUE for call in some):
            bad.append(row)
        else:
            calls += [(row, call) for call in some]
    at = np.array([row for row, _ in calls], np.int64)
    columns = {
        "trace": trace[at],
        "name": pa.array([call.name for _, call in calls], TEXT),
        "arguments": pa.array([call.arguments for _, call in calls], TEXT),
    }
    return (start[at].astype(np.int64), columns), bad
