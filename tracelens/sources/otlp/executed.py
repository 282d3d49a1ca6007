"""The calls that tool spans are: arguments, results and errors, taken out of what a dialect wraps around them."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import (
    ABSENT,
    JSON_STRING,
    JSON_VALUE,
    NOT_CAPTURED,
    TEXT,
    TRUNCATED,
    numbers,
    one_of,
    places,
    texts,
    true,
    valid,
)
from tracelens.groups import group_offsets
from tracelens.projection import ANYTHING, OBJECT, STRING, Projection, Row, run
from tracelens.sources.otlp.attributes import Mask, scattered
from tracelens.sources.otlp.dialects import CHAIN, DIALECTS, LLM, TOOL
from tracelens.sources.otlp.messages import DETAILS
from tracelens.sources.otlp.spans import Spans, climb

I64 = npt.NDArray[np.int64]
U8 = npt.NDArray[np.uint8]

HIDDEN = ("__REDACTED__", "[REDACTED]", "<redacted>")
"""What stands in place of arguments that were hidden on purpose."""

CUT = "[truncated]"
"""End of a text that an exporter cut."""

WRAPPED = Projection(
    Row("value", capture={"inputs": "inputs", "input_str": "input_str", "tags": "tags", "metadata": "metadata"})
)
MESSAGE = Projection(
    Row(
        "value",
        capture={
            "content": ("content", "data.content", "kwargs.content", "output.content", "output.kwargs.content"),
            "id": (
                "tool_call_id", "data.tool_call_id", "kwargs.tool_call_id", "output.tool_call_id",
                "output.kwargs.tool_call_id",
            ),
            "status": ("status", "data.status", "kwargs.status", "output.status", "output.kwargs.status"),
            "repr": "output",
        },
    )
)  # fmt: skip
"""A tool message around a result, in the forms in which frameworks write one."""

REQUEST = Projection(
    Row(
        "value",
        rows=[Row("call", ("[*]", "input[*]", "inputs[*]"), capture={"name": "name", "arguments": "args", "id": "id"})],
    )
)
"""The calls that a step of a graph was given."""

BLOCKS = Projection(Row("value", rows=[Row("block", "[*]", capture={"text": "text"})]))
PARTS = Projection(
    Row(
        "value",
        rows=[Row("part", "[*].parts[*]", capture={"arguments": "arguments", "response": ("response", "result")})],
    )
)

LARGEST = 12
"""Bytes of the longest way to write a character in JSON: two escapes."""

REPR = r"^content=(?P<content>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\") .*tool_call_id='(?P<id>[^']*)'"


@dataclass(frozen=True, slots=True)
class Executed:
    """Calls that were executed, by span.

    Attributes:
        span: int64[calls], ascending.
        id: str?[calls].
        name: str?[calls].
        arguments: str?[calls].
        form: uint8[calls].
        repair: str?[calls].
        result: str?[calls].
        status: str?[calls].
        error: str?[calls].
    """

    span: I64
    id: pa.Array
    name: pa.Array
    arguments: pa.Array
    form: U8
    repair: pa.Array
    result: pa.Array
    status: pa.Array
    error: pa.Array


def executed(spans: Spans) -> Executed:
    """Every tool span that is a call of its own."""
    name = _names(spans)
    is_call = (spans.kind == TOOL) & ~_phantoms(spans, name)
    is_call &= ~_second_records(spans, name, is_call)
    at = np.flatnonzero(is_call)
    where = pa.array(at)
    arguments, form = spans.attributes.value(spans.row("arguments", is_call)[at])
    result = spans.text("result", is_call).take(where)
    call_id = spans.text("call_id", is_call).take(where)
    arguments, form, result = _from_events(spans, at, arguments, form, result)
    calls = Executed(
        at, call_id, name.take(where), arguments, form, pa.nulls(at.size, TEXT), result,
        pa.nulls(at.size, TEXT), pa.nulls(at.size, TEXT),
    )  # fmt: skip
    calls = _unwrapped(spans, calls)
    calls = _captured(spans, _from_requests(spans, calls))
    return _outcomes(spans, calls)


def _names(spans: Spans) -> pa.Array:
    """str?[spans]: the tool of each tool span, by an attribute, else by the span's name."""
    row = spans.row("tool", spans.kind == TOOL)
    bare = np.flatnonzero((row < 0) & (spans.kind == TOOL))
    name = spans.attributes.text(row)
    if not bare.size:
        return name
    named = spans.name.take(pa.array(bare))
    for start in ("execute_tool ", "tools/call ", "running tool: "):
        cut = pc.starts_with(named, start)
        named = pc.if_else(cut, pc.utf8_slice_codeunits(named, len(start)), named)
    return pc.coalesce(name, scattered(named, bare, spans.n))


def _phantoms(spans: Spans, name: pa.Array) -> Mask:
    """bool[spans]: tool spans that stand for no call."""
    out = np.zeros(spans.n, np.bool_)
    for number, dialect in enumerate(DIALECTS):
        if dialect.phantoms:
            out |= (spans.dialect == number) & one_of(name, *dialect.phantoms)
    return out


def _second_records(spans: Spans, name: pa.Array, is_call: Mask) -> Mask:
    """bool[spans]: tool spans that tell of a call that another span tells of.

    One inside another of the same tool without a model between them (a protocol's client under a framework); or one
    of another instrumentation that runs at the same time, for the same tool, with the same id if both have one.
    """
    codes = numbers(name.dictionary_encode().indices, default=-1).astype(np.int64)
    stops = is_call | (spans.kind == LLM)
    around = climb(spans.parent, stops)
    inside = is_call & (around >= 0)
    inside[inside] = is_call[around[inside]] & (codes[around[inside]] == codes[inside])
    at = np.flatnonzero(is_call & ~inside)
    if at.size < 2 or np.unique(spans.scope[at]).size < 2:
        return inside
    order = at[np.lexsort((at, spans.start[at], codes[at], spans.trace[at]))]
    before, after = order[:-1], order[1:]
    ids = numbers(spans.text("call_id", is_call).dictionary_encode().indices, default=-1)
    twice = (
        (spans.trace[before] == spans.trace[after])
        & (codes[before] == codes[after])
        & (codes[after] >= 0)
        & (spans.scope[before] != spans.scope[after])
        & (spans.start[after] < spans.end[before])
        & ((ids[before] == ids[after]) | (ids[before] < 0) | (ids[after] < 0))
    )
    inside[after[twice]] = True
    return inside


def _from_events(
    spans: Spans, at: I64, arguments: pa.Array, form: U8, result: pa.Array
) -> tuple[pa.Array, U8, pa.Array]:
    """Arguments and results that stand in the events of tool spans, for those that have no attribute with them."""
    events = spans.events
    if not events.n or not at.size:
        return arguments, form, result
    number = np.full(spans.n, -1, np.int64)
    number[at] = np.arange(at.size)
    call = number[spans.event_span]
    asked = events.row(("content", "gen_ai.event.content"), among=one_of(spans.event_name, "gen_ai.tool.message"))
    told = events.row(("message", "content", "gen_ai.event.content"), among=one_of(spans.event_name, "gen_ai.choice"))
    details = one_of(spans.event_name, DETAILS)
    asked_in = events.row(("gen_ai.input.messages",), among=details)
    told_in = events.row(("gen_ai.output.messages",), among=details)
    taken = form != ABSENT
    for row, inner in ((asked, ""), (asked_in, "arguments")):
        rows = np.flatnonzero((row >= 0) & (call >= 0))
        rows = rows[~taken[call[rows]]]
        if rows.size:
            found, held = events.value(row[rows])
            if inner:
                found, held = _in_parts(found, inner)
            of_call = scattered(found, call[rows], at.size)
            form[call[rows]] = held
            arguments = pc.coalesce(arguments, of_call)
    for row, inner in ((told, ""), (told_in, "response")):
        rows = np.flatnonzero((row >= 0) & (call >= 0))
        if rows.size:
            found = events.text(row[rows])
            found = _in_parts(found, inner)[0] if inner else _block_texts(found)
            result = pc.coalesce(result, scattered(found, call[rows], at.size))
    return arguments, form, result


def _block_texts(written: pa.Array) -> pa.Array:
    """The texts of content blocks together; anything that is not all text blocks stays as it is."""
    inner = texts(written)
    found = run(BLOCKS, inner.data, inner.offsets[:-1].copy(), inner.offsets[1:].copy())
    block, value = found["block"], found["value"]
    count = np.bincount(block.parent, minlength=value.n)
    plain = np.bincount(block.parent[block.has("text", STRING)], minlength=value.n)
    good = np.flatnonzero((count > 0) & (plain == count))
    lists = pa.LargeListArray.from_arrays(pa.array(group_offsets(block.parent, value.n)), block.text("text"))
    joined = pc.binary_join(lists, pa.scalar("", TEXT))
    return _rows(written, value.parent.astype(np.int64), joined, good)


def _in_parts(written: pa.Array, field: str) -> tuple[pa.Array, U8]:
    """A field of the first part of messages that has it."""
    inner = texts(written)
    found = run(PARTS, inner.data, inner.offsets[:-1].copy(), inner.offsets[1:].copy())
    part, value = found["part"], found["value"]
    values, form = part.arguments(field)
    at = np.flatnonzero(valid(values))[::-1]
    owner = value.parent[part.parent[at]].astype(np.int64)
    first = np.full(len(written), -1, np.int64)
    first[owner] = at
    there = np.flatnonzero(first >= 0)
    held = np.zeros(len(written), np.uint8)
    held[there] = form[first[there]]
    return scattered(values.take(pa.array(first[there])), there, len(written)), held


def _unwrapped(spans: Spans, calls: Executed) -> Executed:
    """Without what a dialect wraps around arguments and results."""
    dialect = spans.dialect[calls.span]
    arguments, form, result, call_id, status = calls.arguments, calls.form.copy(), calls.result, calls.id, calls.status
    for number, one in enumerate(DIALECTS):
        mine = np.flatnonzero(dialect == number)
        if mine.size and one.inside:
            arguments = _inside(arguments, form, mine)
        if mine.size and one.invalid:
            arguments = _invalid(arguments, form, mine, one.invalid)
        if mine.size and (one.single or one.inside):
            result, call_id, status = _of_messages(result, call_id, status, mine)
    return replace(calls, arguments=arguments, form=form, result=result, id=call_id, status=status)


def _rows(values: pa.Array, at: I64, new: pa.Array, where: I64) -> pa.Array:
    """The values with those at ``at[where]`` replaced."""
    changed = scattered(new.take(pa.array(where)), at[where], len(values))
    mask = np.zeros(len(values), np.bool_)
    mask[at[where]] = True
    return pc.if_else(pa.array(mask), changed, values)


def _inside(arguments: pa.Array, form: U8, at: I64) -> pa.Array:
    """Arguments out of the record that a callback made of them."""
    inner = texts(arguments.take(pa.array(at)))
    value = run(WRAPPED, inner.data, inner.offsets[:-1].copy(), inner.offsets[1:].copy())["value"]
    row = at[value.parent]
    wrapper = value.has("input_str", STRING) & value.has("tags", *ANYTHING) & value.has("metadata", *ANYTHING)
    whole = np.flatnonzero(wrapper & value.has("inputs", OBJECT))
    form[row[whole]] = JSON_VALUE
    arguments = _rows(arguments, row, value.text("inputs", OBJECT), whole)
    bare = np.flatnonzero(wrapper & ~value.has("inputs", OBJECT))
    form[row[bare]] = JSON_STRING
    return _rows(arguments, row, value.text("input_str"), bare)


def _invalid(arguments: pa.Array, form: U8, at: I64, member: str) -> pa.Array:
    """The text of arguments that were no JSON, out of the object that stands for them."""
    projection = Projection(Row("value", capture={"raw": f'"{member}"'}, rows=[Row("member", "*")]))
    some = arguments.take(pa.array(at))
    marked = at[np.flatnonzero(true(pc.match_substring(some, member)))]
    if not marked.size:
        return arguments
    inner = texts(arguments.take(pa.array(marked)))
    found = run(projection, inner.data, inner.offsets[:-1].copy(), inner.offsets[1:].copy())
    value = found["value"]
    others = np.bincount(found["member"].parent, minlength=value.n)
    good = np.flatnonzero(value.has("raw", STRING) & (others == 0))
    form[marked[value.parent[good]]] = JSON_STRING
    return _rows(arguments, marked[value.parent], value.text("raw"), good)


def _of_messages(result: pa.Array, call_id: pa.Array, status: pa.Array, at: I64) -> tuple[pa.Array, pa.Array, pa.Array]:
    """Result, id and status out of the tool message that a framework wrote as the result."""
    inner = texts(result.take(pa.array(at)))
    value = run(MESSAGE, inner.data, inner.offsets[:-1].copy(), inner.offsets[1:].copy())["value"]
    row = at[value.parent]
    is_message = value.has("id", STRING) & value.has("content", *ANYTHING)
    good = np.flatnonzero(is_message)
    ids, content, said = value.text("id"), value.text("content", *ANYTHING), value.text("status")
    call_id = _rows(call_id, row, pc.coalesce(call_id.take(pa.array(row)), ids), good)
    result = _rows(result, row, content, good)
    known = pc.if_else(pc.equal(said, "error"), pa.scalar("error", TEXT), pa.scalar(None, TEXT))
    status = _rows(status, row, known, good)
    printed = np.flatnonzero(~is_message & value.has("repr", STRING))
    shown = value.text("repr").take(pa.array(printed))
    parts = pc.extract_regex(shown, REPR)
    read = np.flatnonzero(valid(parts))
    if read.size:
        literal = pc.struct_field(parts, "content").take(pa.array(read)).to_pylist()
        contents = pa.array([_literal(text) for text in literal], TEXT)
        rows = row[printed[read]]
        every = np.arange(read.size)
        found = pc.struct_field(parts, "id").take(pa.array(read)).cast(TEXT)
        call_id = _rows(call_id, rows, pc.coalesce(call_id.take(pa.array(rows)), found), every)
        result = _rows(result, rows, contents, every)
    return result, call_id, status


def _literal(text: str) -> str:
    try:
        return str(ast.literal_eval(text))
    except (ValueError, SyntaxError):
        return text[1:-1]


def _from_requests(spans: Spans, calls: Executed) -> Executed:
    """Ids, and arguments of which only a bare value was kept, from the step around a call that was given it whole."""
    steps = climb(spans.parent, spans.kind == CHAIN)
    step = np.where(calls.span.size and spans.parent[calls.span] == steps[calls.span], steps[calls.span], -1)
    single = [number for number, one in enumerate(DIALECTS) if one.single]
    rows = np.flatnonzero((step >= 0) & np.isin(spans.dialect[calls.span], single))
    if not rows.size:
        return calls
    given = spans.attributes.text(spans.attributes.row(("input.value",))[step[rows]])
    inner = texts(given)
    found = run(REQUEST, inner.data, inner.offsets[:-1].copy(), inner.offsets[1:].copy())
    call = found["call"]
    owner = found["value"].parent[call.parent].astype(np.int64)
    alone = np.bincount(owner, minlength=rows.size)[owner] == 1
    same = pc.equal(call.text("name"), calls.name.take(pa.array(rows)).take(pa.array(owner)))
    good = np.flatnonzero(alone & true(same))
    row = rows[owner]
    call_id = _rows(calls.id, row, pc.coalesce(calls.id.take(pa.array(row)), call.text("id")), good)
    now = calls.arguments.take(pa.array(row))
    whole = true(pc.starts_with(pc.utf8_ltrim_whitespace(now), "{"))
    bare = good[call.has("arguments", OBJECT)[good] & ~whole[good]]
    form = calls.form.copy()
    form[row[bare]] = JSON_VALUE
    arguments = _rows(calls.arguments, row, call.text("arguments", OBJECT), bare)
    fixed = _rows(calls.repair, row, pa.repeat(pa.scalar("bare_string", TEXT), call.n), bare)
    return replace(calls, id=call_id, arguments=arguments, form=form, repair=fixed)


def _captured(spans: Spans, calls: Executed) -> Executed:
    """Arguments that are absent, hidden or cut count as not captured or as truncated."""
    arguments, form = calls.arguments, calls.form.copy()
    dialect = spans.dialect[calls.span]
    form[form == ABSENT] = NOT_CAPTURED
    form[one_of(arguments, *HIDDEN)] = NOT_CAPTURED
    trace = spans.trace[calls.span]
    for number, one in enumerate(DIALECTS):
        mine = dialect == number
        if one.blank and mine.any():
            blank = mine & one_of(arguments, one.blank)
            others = np.unique(trace[mine & ~blank & (form != NOT_CAPTURED)])
            form[blank & ~np.isin(trace, others)] = NOT_CAPTURED
    form[_cut(spans, arguments, form, trace)] = TRUNCATED
    hidden = pa.array(form == NOT_CAPTURED)
    return replace(calls, arguments=pc.if_else(hidden, pa.scalar(None, TEXT), arguments), form=form)


def _cut(spans: Spans, arguments: pa.Array, form: U8, trace: I64) -> Mask:
    """bool[calls]: texts that do not end as an object does, and are as long as the longest texts of their trace are.

    A limit of the exporter leaves no mark: what shows it is that several texts of a trace have one greatest length.
    """
    ends = pc.utf8_rtrim_whitespace(arguments)
    open_ended = (form == JSON_STRING) & ~true(pc.ends_with(ends, "}")) & true(pc.starts_with(ends, "{"))
    out = true(pc.ends_with(ends, CUT))
    at = np.flatnonzero(open_ended & ~out)
    if not at.size:
        return out
    attributes = spans.attributes
    of_trace = spans.trace[attributes.owner]
    own = np.asarray(pc.utf8_length(arguments.take(pa.array(at))).to_numpy(zero_copy_only=False))
    cell = attributes.found.cells("string")
    largest = np.zeros(int(spans.trace.max(initial=0)) + 1, np.int64)
    begin = np.flatnonzero(np.diff(of_trace, prepend=-1))
    largest[of_trace[begin]] = np.maximum.reduceat(np.where(cell.raw > 0, cell.end - cell.start, 0), begin)
    at = at[largest[trace[at]] <= LARGEST * own]
    if not at.size:
        return out
    rows = np.flatnonzero(np.isin(of_trace, trace[at]))
    length = np.asarray(pc.fill_null(pc.utf8_length(attributes.text(rows)), 0).to_numpy(zero_copy_only=False))
    longest = np.zeros(int(spans.trace.max(initial=0)) + 1, np.int64)
    np.maximum.at(longest, of_trace[rows], length)
    many = np.bincount(of_trace[rows][length == longest[of_trace[rows]]], minlength=longest.size)
    mine = np.asarray(pc.utf8_length(arguments.take(pa.array(at))).to_numpy(zero_copy_only=False))
    out[at[(mine == longest[trace[at]]) & (many[trace[at]] > 1)]] = True
    return out


def _outcomes(spans: Spans, calls: Executed) -> Executed:
    """Status and error of each call.

    A span that ended and says nothing of a status went well, by the conventions; but not where other calls of the
    trace have results and this one has none: that one was put off.
    """
    at, attributes = calls.span, spans.attributes
    where = pa.array(at)
    kind = attributes.text(attributes.row(("error.type",))[at])
    said = attributes.text(attributes.row(("gen_ai.tool.status",))[at])
    event = _exceptions(spans).take(where)
    failed = (spans.code[at] == 2) | valid(kind) | one_of(said, "error") | one_of(calls.status, "error")
    denied = one_of(said, "denied", "rejected")
    with_results = np.unique(spans.trace[at][valid(calls.result)])
    silent = np.isin(spans.trace[at], with_results) & ~valid(calls.result)
    good = (spans.code[at] == 1) | one_of(said, "success") | ((spans.end[at] > 0) & ~silent)
    status = np.where(denied, 2, np.where(failed, 1, np.where(good, 0, -1))).astype(np.int8)
    names = pa.array(["ok", "error", "denied"], TEXT)
    texts_of = names.take(places(status))
    message = spans.span.text("message").take(where)
    message = pc.if_else(pc.equal(message, ""), pa.scalar(None, TEXT), message)
    error = pc.coalesce(event, message, calls.result, kind)
    error = pc.if_else(pa.array(status > 0), error, pa.scalar(None, TEXT))
    return replace(calls, status=texts_of, error=error)


def _exceptions(spans: Spans) -> pa.Array:
    """str?[spans]: the message of the last exception event."""
    row = spans.events.row(("exception.message", "exception.type"), among=one_of(spans.event_name, "exception"))
    last = np.full(spans.n, -1, np.int64)
    at = np.flatnonzero(row >= 0)
    last[spans.event_span[at]] = row[at]
    return spans.events.text(last)
