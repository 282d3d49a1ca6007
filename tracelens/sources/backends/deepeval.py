"""DeepEval traces: spans by their kind (``toolSpans``, ``llmSpans``, …), a trace a record, or a test run with its traces.

Tool spans are calls. The TypeScript client records arguments by position (``{"args": […]}``); their names then come from
the model's request. ``toolsCalled`` repeats the calls (some more than once) and is read only where there is no span of a
tool. Retriever spans are no calls. ``expectedTools`` of a trace or test case is the reference; an empty list is what
DeepEval writes where there is none. DeepEval's own scores (``metricsData`` of the trace or test case) become tags
``deepeval.<metric>``; those of single spans are not tags of a trace. The session is ``threadId``, the case the
``case_id`` of the metadata or the name of the test case.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import EXPECTED, NOT_CAPTURED, TEXT, table
from tracelens.groups import group_offsets, positions_in
from tracelens.projection import (
    ANYTHING,
    ARRAY,
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
from tracelens.sources.backends.members import Members, json_text, member, named
from tracelens.sources.backends.parts import pieces_with_parts
from tracelens.sources.backends.spanned import Spans, among, chosen, decimals, first_of, later, nanoseconds, tables_of
from tracelens.sources.backends.steps.arguments import recorded
from tracelens.sources.backends.steps.model import AGENT, CHAIN, LLM, OTHER, STEPS, TOOL, steps_table
from tracelens.sources.backends.steps.results import results
from tracelens.sources.backends.steps.said import root_texts
from tracelens.sources.base import Fault, Head, Sniff, Tables, some_inside
from tracelens.sources.gather import GatheredSource, Pieces, Seen
from tracelens.sources.reading.io import Block

HIDDEN = (
    "tool spans have no input, so arguments are unknown: let tools be observed with their arguments"
    ' (@observe(type="tool"), or update_current_span(input=…))'
)

KINDS = {"toolSpans": TOOL, "llmSpans": LLM, "agentSpans": AGENT, "baseSpans": CHAIN, "retrieverSpans": OTHER}
"""Kinds of spans by the list that holds them."""

KEY = {"uuid": "uuid", "inner": "trace.uuid", "name": "name", "tools": "toolsCalled", "spans": list(KINDS)}

SPAN = {
    "id": "uuid",
    "parent": "parentUuid",
    "name": "name",
    "start": "startTime",
    "end": "endTime",
    "status": "status",
    "error": "error",
    "input": "input",
    "output": "output",
    "model": "model",
    "input_tokens": "inputTokenCount",
    "output_tokens": "outputTokenCount",
    "input_price": "costPerInputToken",
    "output_price": "costPerOutputToken",
    "tools": "input.args[*].tools",
}

CALLED = {"name": "name", "arguments": "inputParameters", "output": "output"}


def _both(path: str) -> tuple[str, str]:
    """A path of a trace that is a record, and of a trace inside a test case."""
    return path, f"trace.{path}"


class DeepEval(GatheredSource):
    """Traces of DeepEval."""

    name = "deepeval"
    title = "DeepEval traces: JSON, spans by kind, a trace a record, or a test run with traces"
    sample = "deepeval.json"
    keys = Projection(Row("line", capture=KEY, rows=[Row("part", "testCases[*]", KEY)]))
    projection = Projection(
        Row(
            "line",
            capture={
                "trace": "trace",
                "name": "name",
                "inner_name": "trace.name",
                "output": ("actualOutput", *_both("output")),
                "session": _both("threadId"),
                "tags": _both("tags"),
                "metadata": _both("metadata"),
                "case_id": _both("metadata.case_id"),
                "environment": _both("environment"),
                "expected": ("expectedTools", "trace.expectedTools"),
            },
            rows=[
                *[Row(kind, _both(f"{kind}[*]"), SPAN) for kind in KINDS],
                Row("called", _both("toolsCalled[*]"), CALLED),
                Row("wanted", _both("expectedTools[*]"), CALLED),
                Row("score", _both("metricsData[*]"), {"name": "name", "score": "score"}),
            ],
        )
    )

    def sniff(self, head: Head) -> Sniff:
        """Objects with ``toolSpans`` and ``llmSpans``, or with ``testCases``."""
        for record in head.records:
            if isinstance(record, dict) and {"toolSpans", "llmSpans"} <= record.keys():
                return Sniff(97, "records have spans by kind (toolSpans, llmSpans)")
            if isinstance(record, dict) and {"testCases", "metricsScores"} <= record.keys():
                return Sniff(97, "the file is a test run with testCases and metricsScores")
        return Sniff(0, "records have no spans by kind (toolSpans, llmSpans) and no testCases")

    def pieces_of(self, block: Block) -> Seen:
        """Traces, alone or with their test cases."""
        source = pa.scalar(f"{block.source}:", TEXT)

        def key(rows: Found, _: pa.Array | None) -> pa.Array:
            named_ = chosen(rows.has("tools", ARRAY), rows.text("name"))
            made = pc.binary_join_element_wise(source, named_, pa.scalar("", TEXT))
            own = chosen(rows.has("spans", ARRAY), rows.text("uuid"))
            return pc.coalesce(rows.text("inner"), own, made)

        return pieces_with_parts(block, self.keys, key)

    def faults(self, found: Projected) -> Iterator[Fault]:
        """A trace with an expected tool that is no call."""
        wanted = found["wanted"]
        yield some_inside(found, "wanted", ~wanted.has("name", STRING)), "an expected tool has no name"
        usable = wanted.has("arguments", NONE, NULL, OBJECT)
        yield some_inside(found, "wanted", ~usable), "inputParameters of an expected tool are no object"

    def tables(self, pieces: Pieces) -> Tables:
        """The tables of whole traces."""
        trace, n = pieces.trace.astype(np.int64), pieces.n_traces
        spans = spans_of(pieces.found, trace, n)
        made = tables_of(spans, pieces.columns(), n, HIDDEN)
        expected, counts = _expected(pieces.found, trace, n)
        index = made.traces.schema.get_field_index("n_references")
        traces = made.traces.set_column(index, made.traces.schema.field(index), counts)
        return Tables(traces, made.calls, expected, made.notes, made.remarks, made.spans, made.n_merged)


def spans_of(found: Projected, trace: npt.NDArray[np.int64], n: int) -> Spans:
    """What traces say."""
    line = found["line"]
    parts = [_steps(found[name], kind, trace) for name, kind in KINDS.items()]
    spoken = np.bincount(trace[found["toolSpans"].parent], minlength=n) > 0
    parts.append(_called(found["called"], trace, ~spoken))
    models = found["llmSpans"]
    first, told = found["toolSpans"].n, later(models, "input")
    return Spans(
        pa.concat_tables(parts).combine_chunks(),
        inputs=lambda rows: told(rows - first),
        columns={
            "session_id": first_of(line.text("session", STRING, NUMBER), trace, n),
            "case_id": first_of(_cases(line), trace, n),
        },
        tags=_tags(found, trace, n),
        answers=first_of(root_texts(line.text("output", *ANYTHING)), trace, n),
        tools=(trace[models.parent], models.text("tools", ARRAY)),
    )


def _cases(line: Found) -> pa.Array:
    return pc.coalesce(line.text("case_id", STRING, NUMBER), chosen(line.has("trace", OBJECT), line.text("name")))


def _steps(span: Found, kind: int, trace: npt.NDArray[np.int64]) -> pa.Table:
    """The spans of one kind."""
    speaks = np.full(span.n, kind in {TOOL, LLM})
    outputs = span.text("output", *ANYTHING, where=speaks)
    said = span.text("status")
    failed = pa.array(among(said, "ERRORED", "ERROR"))
    told = pa.nulls(span.n, TEXT)
    own: dict[str, object] = {"arguments_form": np.zeros(span.n, np.uint8), "output": outputs}
    if kind == TOOL:
        given, form = span.arguments("input")
        form = np.where(span.has("input", NONE, NULL), np.uint8(NOT_CAPTURED), form).astype(np.uint8)
        arguments, form, repair = recorded(given, form)
        gave = results(outputs)
        told = gave.status
        own = {"arguments": arguments, "arguments_form": form, "repair": repair, "output": gave.text}
        own["call_id"] = gave.call_id
    went = pc.if_else(pa.array(among(said, "SUCCESS")), pa.scalar("ok", TEXT), pa.scalar(None, TEXT))
    status = pc.if_else(failed, pa.scalar("error", TEXT), pc.coalesce(told, went))
    return steps_table(
        span.n,
        trace=trace[span.parent],
        span_id=span.text("id"),
        parent_id=span.text("parent"),
        kind=np.full(span.n, kind, np.uint8),
        name=_name(span, kind),
        model=span.text("model"),
        start=nanoseconds(span, "start"),
        end=nanoseconds(span, "end"),
        status=status,
        error=pc.coalesce(span.text("error", *ANYTHING), pc.if_else(pc.equal(told, "error"), own["output"], None)),
        input_tokens=span.integer("input_tokens"),
        output_tokens=span.integer("output_tokens"),
        cost=_cost(span) if kind == LLM else None,
        **own,
    )


def _name(span: Found, kind: int) -> pa.Array:
    """The name of a span; Mastra writes ``agent run: 'name'``."""
    name = span.text("name")
    return pc.replace_substring_regex(name, r"^agent run: '(.*)'$", r"\1") if kind == AGENT else name


def _cost(span: Found) -> pa.Array:
    """Tokens by their prices; null where neither has a price, which DeepEval also writes as 0."""
    cost = None
    for side in ("input", "output"):
        price = decimals(span, f"{side}_price")
        part = pc.multiply(span.integer(f"{side}_tokens").cast(pa.float64()), price)
        part = pc.if_else(pc.greater(price, 0.0), part, pa.scalar(None, pa.float64()))
        cost = part if cost is None else pc.coalesce(pc.add(cost, part), cost, part)
    return cost


def _called(called: Found, trace: npt.NDArray[np.int64], alone: npt.NDArray[np.bool_]) -> pa.Table:
    """The calls of ``toolsCalled``, for traces without a span of a tool."""
    of = trace[called.parent]
    keep = pa.array(alone[of])
    arguments, form = called.arguments("arguments")
    gave = results(called.text("output", *ANYTHING))
    made = steps_table(
        called.n,
        trace=of,
        kind=np.full(called.n, TOOL, np.uint8),
        parent_id=pa.repeat(pa.scalar("", TEXT), called.n),
        name=called.text("name"),
        arguments=arguments,
        arguments_form=form,
        call_id=gave.call_id,
        status=gave.status,
        output=gave.text,
    )
    return made.filter(keep).cast(STEPS)


def _tags(found: Projected, trace: npt.NDArray[np.int64], n: int) -> list[Members]:
    line, score = found["line"], found["score"]
    tags = line.text("tags", ARRAY)
    name = pc.coalesce(json_text(line, "inner_name", STRING), json_text(line, "name", STRING))
    return [
        member("name", first_of(name, trace, n)),
        member("environment", first_of(json_text(line, "environment", STRING), trace, n)),
        member("tags", first_of(pc.if_else(pc.equal(tags, "[]"), pa.scalar(None, TEXT), tags), trace, n)),
        member("metadata", first_of(line.text("metadata", OBJECT), trace, n)),
        named("deepeval.", json_text(score, "name", STRING), json_text(score, "score", NUMBER), trace[score.parent]),
    ]


def _expected(found: Projected, trace: npt.NDArray[np.int64], n: int) -> tuple[pa.Table, pa.Array]:
    """The expected tools as the reference of their trace; of several records of a trace the first one counts."""
    wanted = found["wanted"]
    of = trace[wanted.parent]
    first = np.full(n, np.iinfo(np.int64).max)
    np.minimum.at(first, of, wanted.parent.astype(np.int64))
    keep = wanted.parent == first[of]
    arguments, form = wanted.arguments("arguments")
    of, kept = of[keep], pa.array(keep)
    made = table(
        EXPECTED,
        of.size,
        trace=of.astype(np.uint32),
        reference_index=np.zeros(of.size, np.int32),
        expected_index=positions_in(group_offsets(of, n)),
        name=wanted.text("name").filter(kept),
        arguments=arguments.filter(kept),
        arguments_form=form[keep],
    )
    some = np.bincount(of, minlength=n) > 0
    return made, pa.array(some.astype(np.int32), mask=~some)
