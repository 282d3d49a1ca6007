"""LangSmith runs: a run a line (or an element of an array), or the batches in which clients post and patch them.

A run of type ``tool`` ran a call; a run of type ``llm`` asked for calls. The arguments of a tool run are its ``inputs``;
``{"input": "…"}`` is how LangChain records a tool called with one text. ``dotted_order`` gives the order (its last part
is more exact than ``start_time``) and, in patches, the ids. ``session_id`` of a run is a project and no session: the
session is ``thread_id``, ``session_id`` or ``conversation_id`` of the root run's metadata. ``reference_example_id`` (or
``case_id`` of the metadata) is the case. Feedback becomes tags ``langsmith.<key>``.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import NOT_CAPTURED, TEXT, TRUNCATED, valid
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
from tracelens.sources.backends.members import Members, json_text, member, named
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
    tables_of,
    verdict,
)
from tracelens.sources.backends.steps.arguments import recorded
from tracelens.sources.backends.steps.model import CHAIN, LLM, TOOL, steps_table, taken, text_codes
from tracelens.sources.backends.steps.results import results
from tracelens.sources.backends.steps.said import root_texts
from tracelens.sources.base import Head, Sniff, Tables
from tracelens.sources.gather import GatheredSource, Pieces, Seen
from tracelens.sources.reading.io import Block
from tracelens.sources.tables.table_columns import times_of

KINDS = {"llm": LLM, "tool": TOOL, "chain": CHAIN}

HIDDEN = (
    "inputs of runs were not captured, so arguments are unknown: do not set LANGSMITH_HIDE_INPUTS (or hide_inputs of"
    " the client) where runs are recorded, and export inputs inline"
)

KEY = {"trace": "trace_id", "order": "dotted_order", "id": "id", "parent": "parent_run_id"}

RUN = {
    **KEY,
    "name": "name",
    "kind": "run_type",
    "start": "start_time",
    "end": "end_time",
    "status": "status",
    "error": "error",
    "inputs": "inputs",
    "outputs": "outputs",
    "elsewhere": ("inputs_s3_urls.inputs", "s3_urls.inputs"),
    "call_id": "extra.tool_call_id",
    "agent": "extra.metadata.lc_agent_name",
    "model": ("extra.invocation_params.model_name", "extra.invocation_params.model", "extra.metadata.ls_model_name"),
    "session": ("extra.metadata.conversation_id", "extra.metadata.session_id", "extra.metadata.thread_id", "thread_id"),
    "case_id": ("extra.metadata.case_id", "reference_example_id"),
    "tools": "extra.invocation_params.tools",
    "input_tokens": "prompt_tokens",
    "output_tokens": "completion_tokens",
    "cost": "total_cost",
    "tags": "tags",
    "metadata": "extra.metadata",
}


DEEPEST = 24
"""Runs inside of each other that are read."""


def _children(depth: int) -> Row:
    """Runs inside of runs, that many levels down."""
    return Row(f"part{depth}", "child_runs[*]", KEY, [_children(depth + 1)] if depth < DEEPEST else [])


class LangSmith(GatheredSource):
    """Runs of LangSmith."""

    name = "langsmith"
    title = "LangSmith runs: JSON lines or an array, a run a record, alone or with its child_runs"
    sample = "langsmith.jsonl"
    keys = Projection(
        Row("line", capture=KEY, rows=[Row("part", ("post[*]", "patch[*]", "runs[*]"), KEY), _children(1)])
    )
    projection = Projection(
        Row("line", capture=RUN, rows=[Row("feedback", "feedback_stats.*", capture={"average": "avg"})])
    )

    def sniff(self, head: Head) -> Sniff:
        """Records with ``run_type`` and ``dotted_order`` or ``trace_id``, or batches with ``post`` and ``patch``."""
        objects = [record for record in head.records if isinstance(record, dict)]
        inner = [run for record in objects for key in ("post", "patch", "runs") for run in _listed(record.get(key))]
        for run in [*objects, *inner]:
            if "run_type" in run and ("dotted_order" in run or "trace_id" in run):
                return Sniff(97, "records have run_type with dotted_order or trace_id")
        return Sniff(0, "records have no run_type with dotted_order or trace_id")

    def pieces_of(self, block: Block) -> Seen:
        """Runs, alone or inside a batch."""
        return pieces_with_parts(block, self.keys, lambda rows, _: _trace_of(rows))

    def tables(self, pieces: Pieces) -> Tables:
        """The tables of whole traces."""
        spans = spans_of(pieces.found, pieces.trace.astype(np.int64), pieces.n_traces)
        return tables_of(spans, pieces.columns(), pieces.n_traces, HIDDEN)


def _listed(value: object) -> list[dict[str, object]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _trace_of(rows: Found) -> pa.Array:
    """The trace of each run: as it says, as its order begins, or its own id where it is a root."""
    order = rows.text("order")
    begun = pc.if_else(pc.greater(pc.binary_length(order), 57), pc.utf8_slice_codeunits(order, 22, 58), None)
    root = chosen(rows.has("parent", NONE, NULL), rows.text("id"))
    return pc.coalesce(rows.text("trace"), begun.cast(TEXT), root)


def spans_of(found: Projected, trace: npt.NDArray[np.int64], n: int) -> Spans:
    """What runs say."""
    line = found["line"]
    root = line.has("parent", NONE, NULL)
    outputs = line.text("outputs", *ANYTHING, where=root)
    return Spans(
        _steps(line, trace, n),
        inputs=later(line, "inputs"),
        columns={
            "session_id": first_of(line.text("session", STRING, NUMBER), trace, n),
            "case_id": first_of(line.text("case_id", STRING, NUMBER), trace, n),
        },
        tags=_tags(found, trace, root, n),
        answers=first_of(root_texts(outputs.filter(pa.array(root))), trace[root], n),
        tools=(trace, line.text("tools", ARRAY)),
    )


def _steps(line: Found, trace: npt.NDArray[np.int64], n: int) -> pa.Table:
    """The runs as spans."""
    stamp, own_id = _last_of_order(line)
    span_id = pc.coalesce(line.text("id"), own_id)
    kind = _kinds(line, span_id)
    tool = kind == TOOL
    arguments, form, repair = _arguments(line, tool, trace, n)
    gave = results(line.text("outputs", *ANYTHING, where=tool))
    error = line.text("error")
    failed = valid(error) | among(line.text("status"), "error")
    ended = line.has("status", NONE, NULL) & ~line.has("end", NONE, NULL) & line.has("outputs", OBJECT)
    return steps_table(
        line.n,
        trace=trace,
        span_id=span_id,
        parent_id=line.text("parent"),
        kind=kind,
        name=line.text("name"),
        agent=line.text("agent"),
        model=line.text("model"),
        start=pc.coalesce(stamp, _instant(line, "start")),
        end=_instant(line, "end"),
        status=verdict(failed, gave.status, ended | among(line.text("status"), "success")),
        error=problem(failed, error, gave),
        arguments=arguments,
        arguments_form=form,
        repair=repair,
        call_id=pc.coalesce(chosen(tool, line.text("call_id")), gave.call_id),
        output=chosen(tool, gave.text, line.text("outputs", *ANYTHING, where=kind == LLM)),
        input_tokens=line.integer("input_tokens"),
        output_tokens=line.integer("output_tokens"),
        cost=decimals(line, "cost"),
    )


def _kinds(line: Found, span_id: pa.Array) -> npt.NDArray[np.uint8]:
    """uint8[n]: kinds of spans; a patch has that of the run it patches."""
    word = line.text("kind")
    if word.null_count:
        (ids,) = text_codes(span_id)
        known = first_of(word.filter(pa.array(ids >= 0)), ids[ids >= 0], int(ids.max(initial=-1)) + 1)
        word = pc.coalesce(word, taken(known, ids))
    return numbers_of_kinds(word, KINDS)


def _last_of_order(line: Found) -> tuple[pa.Array, pa.Array]:
    """The instant (nanoseconds) and the id that the last part of ``dotted_order`` holds."""
    order = line.text("order")
    last = pc.if_else(pc.greater(pc.binary_length(order), 57), pc.utf8_slice_codeunits(order, -58), None).cast(TEXT)
    instant = times_of(_as_iso(pc.utf8_slice_codeunits(last, 0, 22))).cast(pa.int64())
    return pc.multiply(instant, 1000), pc.utf8_slice_codeunits(last, 22)


def _as_iso(stamp: pa.Array) -> pa.Array:
    """``20241013T070536672001Z`` as ``2024-10-13T07:05:36.672001Z``."""
    pattern = r"^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d+Z)$"
    return pc.replace_substring_regex(stamp, pattern, r"\1-\2-\3T\4:\5:\6.\7")


def _instant(line: Found, name: str) -> pa.Array:
    """Nanoseconds: ISO 8601, or milliseconds since 1970 as the JavaScript client writes them."""
    return pc.coalesce(nanoseconds(line, name), pc.multiply(line.integer(name), 1_000_000))


def _arguments(
    line: Found, tool: npt.NDArray[np.bool_], trace: npt.NDArray[np.int64], n: int
) -> tuple[pa.Array, npt.NDArray[np.uint8], pa.Array]:
    """The arguments of tool runs. Where all runs of a trace have empty inputs, inputs were hidden."""
    given, form = line.text("inputs", *ANYTHING, where=tool), FORMS[line.kind("inputs")]
    absent = line.has("inputs", NONE, NULL)
    cell = line.cells("inputs")
    blank = absent | (line.has("inputs", OBJECT) & (cell.end - cell.start == len("{}")))
    seen = np.bincount(trace[~blank & ~tool], minlength=n)
    runs = np.bincount(trace[~tool], minlength=n)
    hidden = tool & blank & ((seen == 0) & (runs > 0))[trace]
    form = np.where(hidden | (tool & absent), np.uint8(NOT_CAPTURED), form).astype(np.uint8)
    form[tool & absent & ~line.has("elsewhere", NONE, NULL)] = TRUNCATED
    return recorded(given, form)


def _tags(found: Projected, trace: npt.NDArray[np.int64], root: npt.NDArray[np.bool_], n: int) -> list[Members]:
    line, feedback = found["line"], found["feedback"]
    of_root = trace[root]
    keep = root[feedback.parent]
    scores = named(
        "langsmith.",
        json_text(feedback, "@key").filter(pa.array(keep)),
        json_text(feedback, "average", NUMBER).filter(pa.array(keep)),
        trace[feedback.parent[keep]],
    )
    tags = line.text("tags", ARRAY).filter(pa.array(root))
    tags = pc.if_else(pc.equal(tags, "[]"), pa.scalar(None, TEXT), tags)
    return [
        member("name", first_of(json_text(line, "name", STRING).filter(pa.array(root)), of_root, n)),
        member("tags", first_of(tags, of_root, n)),
        member("metadata", first_of(line.text("metadata", OBJECT).filter(pa.array(root)), of_root, n)),
        scores,
    ]
