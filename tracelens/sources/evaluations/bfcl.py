"""Berkeley Function Calling Leaderboard: questions (tools), possible answers (references) and results (traces).

The three kinds of files share the id, which is the case. A possible answer lists the values that each argument may
have: they become ``$one_of``, and the empty string among them means that the argument may be left out. Objects inside
list the values of their members in the same way. Questions and possible answers hold no run: their calls count as not
recorded, and `tracelens init` takes tools and references from them. Schemas of the leaderboard are not quite JSON
Schema (``dict``, ``float``, ``tuple``, ``any`` …) and are translated. A result is a list of calls, each an object from
the function's name to its arguments, an object or JSON text; results of models that answer in text hold no calls.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from tracelens.columns import CALLS, JSON_VALUE, TEXT, TRACES, group_offsets, positions_in, table
from tracelens.projection import ANYTHING, ARRAY, NUMBER, OBJECT, STRING, Found, Projected, Projection, Row
from tracelens.sources.base import Fault, Head, JsonSource, Records, Sniff, Tables, some_inside
from tracelens.sources.evaluations.alike import expected_rows, origin, put_together, trace_names
from tracelens.sources.oddities import Oddities

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


def _named(line: Found) -> Iterator[Fault]:
    yield ~line.has("@", OBJECT), "a line must be an object"
    yield ~line.has("id", STRING, NUMBER), "a line has no id"


def _keys(head: Head) -> set[str]:
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
        if {"id", "question", "function"} <= _keys(head):
            return Sniff(97, "lines have id, question and function")
        return Sniff(0, "lines have no id with question and function")

    def faults(self, found: Projected) -> Iterator[Fault]:
        """A line without an id or functions."""
        line = found["line"]
        yield from _named(line)
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
            rows=[Row("answer", "ground_truth[*]", rows=[Row("function", ".*")])],
        )
    )

    def sniff(self, head: Head) -> Sniff:
        """Lines with ``id`` and ``ground_truth``."""
        keys = _keys(head)
        if {"id", "ground_truth"} <= keys and not keys & {"messages", "tool_calls"}:
            return Sniff(96, "lines have id and ground_truth")
        return Sniff(0, "lines have no id with ground_truth")

    def faults(self, found: Projected) -> Iterator[Fault]:
        """A line without an id, or whose answers are no calls."""
        line, answer, function = found["line"], found["answer"], found["function"]
        yield from _named(line)
        yield ~line.has("answers", ARRAY), "a line has no list ground_truth"
        strange = ~answer.has("@", OBJECT)
        yield (
            some_inside(found, "answer", strange),
            "ground_truth holds calls of several turns as text, which are not read",
        )
        yield some_inside(found, "function", ~function.has("@", OBJECT)), "possible arguments are no object"

    def tables(self, records: Records) -> Tables:
        """The tables of the good lines."""
        line, answer, function = (records.found[name] for name in ("line", "answer", "function"))
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
        expected = expected_rows(
            answer.parent[function.parent].astype(np.int64),
            function.text("@key"),
            pa.array(matchers, TEXT).take(known.indices) if function.n else pa.nulls(0, TEXT),
            np.full(function.n, JSON_VALUE, np.uint8),
            line.n,
        )
        return Tables(traces, CALLS.empty_table(), expected)


class BfclResults(JsonSource):
    """Results of models."""

    name = "bfcl"
    title = "BFCL results: function calls of models"
    seen = False
    sample = "bfcl.json"
    projection = Projection(
        Row(
            "line",
            capture={
                "id": "id",
                "result": "result",
                "input_tokens": "input_token_count",
                "output_tokens": "output_token_count",
            },
            rows=[
                Row(
                    "step",
                    "result[*]",
                    rows=[
                        Row("call", ".*"),
                        Row(
                            "inner",
                            "[*]",
                            rows=[Row("inner_call", ".*"), Row("last", "[*]", rows=[Row("last_call", ".*")])],
                        ),
                    ],
                ),
            ],
        )
    )

    def sniff(self, head: Head) -> Sniff:
        """Lines with ``id`` and ``result`` that are no results of something else."""
        keys = _keys(head)
        if {"id", "result"} <= keys and keys & {"latency", "input_token_count", "output_token_count", "inference_log"}:
            return Sniff(95, "lines have id and result with latency or counts of tokens")
        if {"id", "result"} <= keys:
            return Sniff(60, "lines have id and result")
        return Sniff(0, "lines have no id with result")

    def faults(self, found: Projected) -> Iterator[Fault]:
        """A line without an id or a result."""
        line = found["line"]
        yield from _named(line)
        yield ~line.has("result", *ANYTHING), "a line has no result"

    def tables(self, records: Records) -> Tables:
        """The tables of the good lines."""
        found, line, odd = records.found, records.found["line"], Oddities(records)
        in_text = line.has("result", STRING)
        parts = []
        for name, above in (("step", ()), ("inner", ("step",)), ("last", ("inner", "step"))):
            steps, call = found[name], found["call" if name == "step" else f"{name}_call"]
            trace = steps.parent
            for each in above:
                trace = found[each].parent[trace]
            in_text[trace[steps.has("@", STRING)]] = True
            arguments, form = call.arguments("@")
            columns = {"trace": trace[call.parent], "name": call.text("@key"), "arguments": arguments, "form": form}
            parts.append((call.cells("@").start.astype(np.int64), columns))
        _, columns = put_together(*parts)
        trace = columns["trace"].to_numpy()
        case = line.text("id", STRING, NUMBER)
        calls = table(
            CALLS,
            trace.size,
            trace=trace.astype(np.uint32),
            call_index=positions_in(group_offsets(trace, line.n)),
            name=columns["name"],
            malformed=np.zeros(trace.size, np.bool_),
            arguments=columns["arguments"],
            arguments_form=columns["form"],
            depth=np.zeros(trace.size, np.int32),
        )
        called = np.bincount(trace, minlength=line.n) > 0
        odd.note(line, in_text & ~called, "result", "is text, so it holds no calls that can be read")
        traces = table(
            TRACES,
            line.n,
            **origin(records),
            **trace_names(records, case),
            case_id=case,
            has_calls=called | ~in_text,
            final_answer=line.text("result", STRING),
            input_tokens=odd.checked(line, "input_tokens", line.integer("input_tokens"), "whole"),
            output_tokens=odd.checked(line, "output_tokens", line.integer("output_tokens"), "whole"),
        )
        return Tables(traces, calls, remarks=odd.found)
