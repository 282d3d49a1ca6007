"""Langfuse: traces with their observations (as the UI and the API give them), and exports with an observation a row.

Observations of type ``TOOL`` are calls, and so are spans whose metadata say that a tool ran; any other span is a call if
a model of the trace asked for a tool of its name, because older traces have no type for tools. Generations ask for calls:
``toolCalls`` with ``toolCallNames``, which is authoritative for number and order, or their output. Inputs and outputs are
text or values. Times have milliseconds, many are equal, and files are in no order, so requests give the order. Names
are camelCase (API) or snake_case (exports). Scores of a trace become tags ``langfuse.<name>``; those of single
observations are no tags of a trace.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import JSON_STRING, JSON_VALUE, NOT_CAPTURED, TEXT, one_chunk, true, valid
from tracelens.projection import (
    ANYTHING,
    ARRAY,
    FORMS,
    NONE,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    Found,
    Projected,
    Projection,
    Row,
)
from tracelens.sources.backends.langfuse_metadata import Metadata, metadata_of, own_members
from tracelens.sources.backends.members import Members, joined, json_text, member, named
from tracelens.sources.backends.parts import pieces_with_parts
from tracelens.sources.backends.spanned import (
    Spans,
    among,
    chosen,
    decimals,
    first_of,
    later,
    nanoseconds,
    numbers_of_kinds,
    problem,
    some,
    tables_of,
    verdict,
    without_idle,
)
from tracelens.sources.backends.steps.arguments import recorded
from tracelens.sources.backends.steps.asks import said
from tracelens.sources.backends.steps.model import (
    AGENT,
    CHAIN,
    LLM,
    MAYBE,
    OTHER,
    TOOL,
    Mask,
    asks_table,
    inside,
    steps_table,
    taken,
)
from tracelens.sources.backends.steps.results import results
from tracelens.sources.backends.steps.said import root_texts
from tracelens.sources.base import Head, Sniff, Tables
from tracelens.sources.gather import GatheredSource, Pieces, Seen
from tracelens.sources.reading.io import Block

KINDS = {
    "TOOL": TOOL,
    "GENERATION": LLM,
    "AGENT": AGENT,
    "CHAIN": CHAIN,
    "SPAN": MAYBE,
    "EVENT": OTHER,
    "RETRIEVER": OTHER,
    "EVALUATOR": OTHER,
    "EMBEDDING": OTHER,
    "GUARDRAIL": OTHER,
}
"""Kinds of spans by the type of an observation."""

HIDDEN = (
    "observations of tools have no input, so arguments are unknown: record inputs (capture_input=True of @observe), and"
    " export observations with input and output"
)

TOOL_PREFIXES = ("running tool: ", "execute_tool ", "tools/call ")
"""What instrumentations put before the name of a tool."""

KEY = {
    "trace": ("trace_id", "traceId"),
    "id": "id",
    "kind": "type",
    "stamp": "timestamp",
    "value": ("string_value", "value"),
}

ROW = {
    **KEY,
    "parent": ("parent_observation_id", "parentObservationId"),
    "name": "name",
    "start": ("start_time", "startTime"),
    "end": ("end_time", "endTime"),
    "level": "level",
    "message": ("status_message", "statusMessage"),
    "input": "input",
    "output": "output",
    "metadata": "metadata",
    "model": ("provided_model_name", "providedModelName", "model"),
    "input_tokens": ("usage_details.input", "usageDetails.input", "inputUsage"),
    "output_tokens": ("usage_details.output", "usageDetails.output", "outputUsage"),
    "cost": ("total_cost", "totalCost"),
    "names": ("tool_call_names", "toolCallNames"),
    "trace_name": ("trace_name", "traceName"),
    "session": ("session_id", "sessionId"),
    "user": ("user_id", "userId"),
    "tags": "tags",
    "environment": "environment",
    "release": "release",
    "version": "version",
    "observation": ("observation_id", "observationId"),
}

ASKED = Projection(
    Row(
        "asked",
        capture={
            "id": ("id", "call_id", "callId", "toolCallId"),
            "name": ("name", "function.name", "toolName"),
            "arguments": ("arguments", "function.arguments", "args", "input"),
        },
    )
)


WRAPPED = Projection(Row("outer", capture={"input": "input"}))


class Langfuse(GatheredSource):
    """Traces of Langfuse."""

    name = "langfuse"
    title = "Langfuse: trace JSON with observations, or exports with an observation a record"
    sample = "langfuse.json"
    keys = Projection(Row("line", capture=KEY, rows=[Row("part", ("trace", "observations[*]", "data[*]"), KEY)]))
    projection = Projection(
        Row(
            "line",
            capture=ROW,
            rows=[
                Row("call", ("tool_calls[*]", "toolCalls[*]")),
                Row("call_name", ("tool_call_names[*]", "toolCallNames[*]")),
                Row("definition", ("tool_definitions.*", "toolDefinitions.*")),
                Row("score", "scores[*]", {"name": "name", "value": "value", "of": "observationId"}),
            ],
        )
    )

    def sniff(self, head: Head) -> Sniff:
        """Objects with ``trace`` and ``observations``, or observations: ``traceId`` with ``type``."""
        objects = [record for record in head.records if isinstance(record, dict)]
        for record in objects:
            if isinstance(record.get("observations"), list) and ("trace" in record or "timestamp" in record):
                return Sniff(97, "records are traces with observations")
        data = [each for record in objects for each in _listed(record.get("data"))]
        for record in [*objects, *data]:
            if record.get("type") in KINDS and ("traceId" in record or "trace_id" in record):
                return Sniff(97, "records are observations (a type and a trace id)")
        return Sniff(0, "records are neither traces with observations nor observations with a type and a trace id")

    def pieces_of(self, block: Block) -> Seen:
        """Traces, observations and scores, alone or together in a record."""
        return pieces_with_parts(block, self.keys, _trace_of)

    def tables(self, pieces: Pieces) -> Tables:
        """The tables of whole traces."""
        spans = spans_of(pieces.found, pieces.trace.astype(np.int64), pieces.n_traces)
        return tables_of(spans, pieces.columns(), pieces.n_traces, HIDDEN)


def _listed(value: object) -> list[dict[str, object]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _trace_of(rows: Found, _: pa.Array | None) -> pa.Array:
    """The trace of each record: observations and scores name it, a trace (which has a timestamp and no type) is it."""
    is_trace = rows.has("kind", NONE, NULL) & ~rows.has("stamp", NONE, NULL)
    return pc.coalesce(rows.text("trace"), chosen(is_trace, rows.text("id")))


def spans_of(found: Projected, trace: npt.NDArray[np.int64], n: int) -> Spans:
    """What records say."""
    line = found["line"]
    seen = ~line.has("kind", NONE, NULL)
    observations = found.keeping(seen)
    about = metadata_of(observations["line"].text("metadata", OBJECT, STRING))
    of = trace[seen]
    asks = _asks(observations)
    return Spans(
        _steps(observations["line"], about, of, one_chunk(asks["name"])),
        inputs=later(observations["line"], "input"),
        asks=asks,
        columns={
            "session_id": first_of(some(line.text("session", STRING, NUMBER)), trace, n),
            "case_id": pc.coalesce(_cases(line, ~seen, trace, n), first_of(about.case_id, of, n)),
        },
        tags=_tags(found, trace, n),
        answers=_answers(line, trace, n),
        tools=_definitions(observations, about, of),
    )


def _cases(line: Found, is_trace: Mask, trace: npt.NDArray[np.int64], n: int) -> pa.Array:
    """The case that the metadata of traces name."""
    rows = np.flatnonzero(is_trace)
    metadata = line.text("metadata", OBJECT, STRING, where=is_trace).take(pa.array(rows))
    return first_of(metadata_of(metadata).case_id, trace[rows], n)


def _steps(line: Found, about: Metadata, trace: npt.NDArray[np.int64], asked: pa.Array) -> pa.Table:
    """The observations as spans; ``asked`` are the names of tools in lists beside outputs."""
    kind = _kinds(line, about)
    name = line.text("name")
    spoken = line.text("output", *ANYTHING, where=kind == LLM)
    if (kind == MAYBE).any():
        asked = pa.concat_arrays([asked, one_chunk(said(spoken).asks["name"])])
        kind = without_idle(kind, _without_prefix(name), asked)
    tool = (kind == TOOL) | (kind == MAYBE)
    arguments, form, repair = _arguments(line, about, tool)
    gave = results(line.text("output", *ANYTHING, where=tool))
    failed = among(line.text("level"), "ERROR")
    return steps_table(
        line.n,
        trace=trace,
        span_id=line.text("id"),
        parent_id=some(line.text("parent")),
        kind=kind,
        name=chosen(tool, pc.coalesce(about.tool, _without_prefix(name)), name),
        agent=about.agent,
        model=line.text("model"),
        start=nanoseconds(line, "start"),
        end=nanoseconds(line, "end"),
        status=verdict(failed, gave.status, (kind == TOOL) & valid(gave.text)),
        error=problem(failed, pc.coalesce(some(line.text("message")), gave.text), gave),
        arguments=arguments,
        arguments_form=form,
        repair=repair,
        call_id=chosen(tool, pc.coalesce(about.call_id, gave.call_id)),
        output=chosen(tool, gave.text, spoken),
        input_tokens=line.integer("input_tokens"),
        output_tokens=line.integer("output_tokens"),
        cost=decimals(line, "cost"),
    )


def _kinds(line: Found, about: Metadata) -> npt.NDArray[np.uint8]:
    """uint8[records]: kinds of spans; a span may be a tool's or an agent's by its metadata."""
    kind = numbers_of_kinds(line.text("kind"), KINDS)
    plain = kind == MAYBE
    kind[plain & about.is_tool] = TOOL
    kind[plain & ~about.is_tool & valid(about.agent)] = AGENT
    return kind


def _without_prefix(name: pa.Array) -> pa.Array:
    """Names without what instrumentations put before the name of a tool."""
    for prefix in TOOL_PREFIXES:
        if pc.any(pc.starts_with(name, prefix)).as_py():
            short = pc.utf8_slice_codeunits(name, len(prefix))
            name = pc.if_else(pc.starts_with(name, prefix), short, name)
    return name


def _arguments(line: Found, about: Metadata, tool: Mask) -> tuple[pa.Array, npt.NDArray[np.uint8], pa.Array]:
    """Arguments of calls: the input; what the metadata keep of it where it was printed; what a tracer put around it."""
    given, form = line.text("input", *ANYTHING, where=tool), FORMS[line.kind("input")]
    form = np.where(line.has("input", NONE, NULL), np.uint8(NOT_CAPTURED), form).astype(np.uint8)
    better = tool & valid(about.inputs) & ~_opens_json(given)
    given = chosen(better, about.inputs, given)
    form[better] = JSON_VALUE
    wraps = about.wraps & tool
    if wraps.any():
        outer = inside(WRAPPED, given)["outer"]
        bare = first_of(outer.text("input", OBJECT), outer.parent, line.n)
        wraps &= valid(bare)
        given = chosen(wraps, bare, given)
        form[wraps] = JSON_STRING
    return recorded(given, form)


def _opens_json(values: pa.Array) -> npt.NDArray[np.bool_]:
    opens = pc.match_substring_regex(values, r'^\s*\{\s*("|\})')
    return true(opens)


def _asks(found: Projected) -> pa.Table:
    """The calls that generations list beside their output; names count where both lists have one."""
    call, name = found["call"], found["call_name"]
    told = inside(ASKED, call.text("@", OBJECT, STRING))["asked"]
    place = np.arange(call.n) - np.searchsorted(call.parent, call.parent)
    at = np.searchsorted(name.parent, call.parent) + place
    ends = np.searchsorted(name.parent, call.parent, side="right")
    listed = taken(name.text("@"), np.where(at < ends, at, -1))
    arguments, form = told.arguments("arguments")
    names = pc.coalesce(listed, first_of(told.text("name"), told.parent, call.n))
    forms = np.zeros(call.n, np.uint8)
    forms[told.parent] = form
    return asks_table(
        call.n,
        step=call.parent.astype(np.int64),
        name=names,
        malformed=~valid(names),
        arguments=first_of(arguments, told.parent, call.n),
        arguments_form=forms,
        call_id=first_of(told.text("id", STRING, NUMBER), told.parent, call.n),
    )


def _answers(line: Found, trace: npt.NDArray[np.int64], n: int) -> pa.Array:
    """The output of the trace itself, else of its outermost observation."""
    is_trace = line.has("kind", NONE, NULL)
    root = ~is_trace & ~valid(some(line.text("parent")))
    outputs = line.text("output", *ANYTHING, where=is_trace | root)
    found = []
    for which in (is_trace, root):
        rows = np.flatnonzero(which)
        found.append(first_of(root_texts(outputs.take(pa.array(rows))), trace[rows], n))
    return pc.coalesce(*found)


def _definitions(
    found: Projected, about: Metadata, trace: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], pa.Array]:
    """Tool definitions: the export's map of them, else what the metadata say."""
    line, one = found["line"], found["definition"]
    mapped = joined(one.text("@", OBJECT, STRING), one.parent, line.n)
    return trace, pc.coalesce(mapped, about.tools)


def _tags(found: Projected, trace: npt.NDArray[np.int64], n: int) -> list[Members]:
    line, score = found["line"], found["score"]
    is_trace = line.has("kind", NONE, NULL)
    is_score = is_trace & ~line.has("value", NONE, NULL)
    itself = pa.array(is_trace & ~is_score)
    null = pa.scalar(None, TEXT)
    name = pc.coalesce(pc.if_else(itself, json_text(line, "name", STRING), null), json_text(line, "trace_name", STRING))
    tags = line.text("tags", ARRAY)
    tags = pc.if_else(pc.equal(tags, "[]"), null, tags)
    of_trace = own_members(line.text("metadata", OBJECT, STRING, where=is_trace & ~is_score))
    whole = score.has("of", NONE, NULL)
    out = [member("name", first_of(name, trace, n)), member("tags", first_of(tags, trace, n))]
    plain = ("user", "environment", "release", "version")
    out += [member(each, first_of(json_text(line, each, STRING), trace, n)) for each in plain]
    out.append(member("metadata", first_of(of_trace, trace, n)))
    out.append(
        named(
            "langfuse.", chosen(whole, json_text(score, "name", STRING)), json_text(score, "value"), trace[score.parent]
        )
    )
    alone = is_score & line.has("observation", NONE, NULL)
    value = json_text(line, "value", NUMBER, STRING)
    out.append(named("langfuse.", chosen(alone, json_text(line, "name", STRING)), value, trace))
    return out
