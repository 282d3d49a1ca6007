"""What was seen in traces: tools, the shapes of their arguments, recorded definitions, references."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tracelens.columns import FREE_TEXT, JSON_STRING, JSON_VALUE, NULL, Batch
from tracelens.init.shapes import Shape
from tracelens.suite import Tool, tool_definitions
from tracelens.suite.matchers import is_matcher

_ONE_LINE = str.maketrans("\r\n", "  ")


@dataclass
class SeenTool:
    """One tool as traces show it.

    Attributes:
        calls: How often it was called.
        expected: How often references expect it.
        texts: Calls with free text in place of arguments.
        shape: The shape of its arguments, actual and expected together.
        definition: Its definition in the traces.
        definitions: How many different schemas the traces record for it.
    """

    calls: int = 0
    expected: int = 0
    texts: int = 0
    shape: Shape = field(default_factory=Shape)
    definition: Tool | None = None
    definitions: int = 0


@dataclass
class Seen:
    """Everything a starter suite is made from.

    Attributes:
        tools: Tools by name as recorded.
        traces: Number of traces.
        most_calls: Calls of the longest trace.
        references: Reference lines by case, as JSON text.
        conflicts: Cases whose traces bring different references.
        without_case: Traces with a reference but no case.
        rejects: Records that could not be read.
        first_reject: Place and reason of the first of them.
        notes: What else the user should know.
    """

    tools: dict[str, SeenTool] = field(default_factory=dict)
    traces: int = 0
    most_calls: int = 0
    references: dict[str, str] = field(default_factory=dict)
    conflicts: set[str] = field(default_factory=set)
    without_case: int = 0
    rejects: int = 0
    first_reject: str = ""
    notes: list[str] = field(default_factory=list)


def observe(batches: Iterable[Batch]) -> Seen:
    """Looks through traces.

    Args:
        batches: Batches of whole traces.

    Returns:
        What was seen, tools and cases in the order of first appearance.
    """
    seen = Seen()
    definitions: dict[str, None] = {}
    for batch in batches:
        seen.traces += batch.traces.num_rows
        _see_rejects(batch, seen)
        _see_calls(batch, seen)
        _see_references(batch, seen)
        definitions |= dict.fromkeys(text for text in batch.traces["tools"].to_pylist() if text)
    for text in definitions:
        _see_definitions(text, seen)
    return seen


def _see_rejects(batch: Batch, seen: Seen) -> None:
    if batch.rejects.num_rows and not seen.rejects:
        first = batch.rejects.slice(0, 1).to_pylist()[0]
        seen.first_reject = f"{first['source']}:{first['line']}: {first['reason']}"
    seen.rejects += batch.rejects.num_rows


def _see_calls(batch: Batch, seen: Seen) -> None:
    columns = (batch.calls[name].to_pylist() for name in ("name", "arguments", "arguments_form"))
    for name, arguments, form in zip(*columns, strict=True):
        if not name:
            continue
        tool = seen.tools.setdefault(name, SeenTool())
        tool.calls += 1
        if form == FREE_TEXT:
            tool.texts += 1
        else:
            _add_shape(tool, arguments, form)
    if batch.calls.num_rows:
        counts = Counter(batch.calls["trace"].to_pylist())
        seen.most_calls = max(seen.most_calls, *counts.values())


def _add_shape(tool: SeenTool, arguments: str | None, form: int) -> None:
    """Adds the arguments of one call; those that cannot be read say nothing about the tool."""
    if form not in (JSON_VALUE, JSON_STRING):
        if form <= NULL:
            tool.shape.add({})
        return
    try:
        value = json.loads(arguments) if arguments else {}
        value = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return
    if isinstance(value, dict):
        tool.shape.add(value)


def _see_references(batch: Batch, seen: Seen) -> None:
    counts, cases = batch.traces["n_references"].to_pylist(), batch.traces["case_id"].to_pylist()
    for case, count, references in zip(cases, counts, _reference_texts(batch, seen), strict=True):
        if count is None:
            continue
        if case is None:
            seen.without_case += 1
            continue
        line = _line(case, references)
        if seen.references.setdefault(case, line) != line:
            seen.conflicts.add(case)


def _reference_texts(batch: Batch, seen: Seen) -> list[list[list[str]]]:
    """By trace and reference, the expected calls as JSON text."""
    out: list[list[list[str]]] = [[[] for _ in range(count or 0)] for count in batch.traces["n_references"].to_pylist()]
    names = ("trace", "reference_index", "name", "arguments", "arguments_form")
    for trace, index, name, arguments, form in zip(*(batch.expected[n].to_pylist() for n in names), strict=True):
        text = f'{{"name": {json.dumps(name, ensure_ascii=False)}'
        if form in (JSON_VALUE, JSON_STRING):
            # Valid JSON has line breaks only between values, so a blank says the same on one line.
            text += f', "arguments": {((arguments or "").strip() or "{}").translate(_ONE_LINE)}'
        out[trace][index].append(text + "}")
        tool = seen.tools.setdefault(name, SeenTool())
        tool.expected += 1
        if form in (JSON_VALUE, JSON_STRING) and not _has_matcher(arguments):
            _add_shape(tool, arguments, form)
    return out


def _has_matcher(arguments: str | None) -> bool:
    return arguments is not None and '"$' in arguments and any(map(is_matcher, _values(json.loads(arguments))))


def _values(value: Any) -> Iterator[Any]:
    yield value
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for item in items:
        yield from _values(item)


def _line(case: str, references: list[list[str]]) -> str:
    lists = [f"[{', '.join(calls)}]" for calls in references]
    body = f'"expected": {lists[0]}' if len(lists) == 1 else f'"references": [{", ".join(lists)}]'
    return f'{{"case_id": {json.dumps(case, ensure_ascii=False)}, {body}}}'


def _see_definitions(text: str, seen: Seen) -> None:
    from tracelens.rungs.schema.truth import compile_schema

    try:
        tools, problems = tool_definitions(json.loads(text, parse_constant=_no_constant), "recorded tools")
    except (ValueError, RecursionError):
        _note(seen, "a recorded list of tools is no JSON and was left out")
        return
    for problem in problems:
        _note(seen, str(problem))
    for name, tool in tools.items():
        known = seen.tools.setdefault(name, SeenTool())
        compiled = compile_schema(tool.schema) if tool.schema is not None else None
        if compiled is not None and not compiled.usable:
            _note(seen, f"the recorded schema of {name!r} cannot be used and was left out: {compiled.reason}")
        elif known.definition is None or known.definition.schema != tool.schema:
            known.definitions += 1
            known.definition = known.definition or tool


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _note(seen: Seen, note: str) -> None:
    if note not in seen.notes:
        seen.notes.append(note)
