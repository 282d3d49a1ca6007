"""Spans and log records of whole traces: ids, times, the tree, dialects and kinds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import TEXT, numbers, one_of, places, true
from tracelens.projection import STRING, Found, Projected, Projection, Row
from tracelens.sources.gather import Pieces
from tracelens.sources.otlp.attributes import Attributes, Mask, attribute_rows, nanoseconds, scattered
from tracelens.sources.otlp.dialects import AGENT, DIALECTS, GENAI, LLM, OTHER, TOOL, Dialect, Keys
from tracelens.sources.reading.digests import digests_of

I64 = npt.NDArray[np.int64]
I8 = npt.NDArray[np.int8]

SPAN = Projection(
    Row(
        "span",
        capture={
            "id": "spanId",
            "parent": "parentSpanId",
            "name": "name",
            "start": "startTimeUnixNano",
            "end": "endTimeUnixNano",
            "code": "status.code",
            "message": "status.message",
            "time": ("observedTimeUnixNano", "timeUnixNano"),
            "event": "eventName",
            "body": "body",
            "map": "body.kvlistValue",
            "said": "body.stringValue",
        },
        rows=[
            attribute_rows("attribute"),
            Row("event", "events[*]", capture={"name": "name"}, rows=[attribute_rows("event_attribute")]),
        ],
    )
)
"""A span or a log record; they share their shape as far as it is read."""

LOG = "log"
"""First part of the label of log records."""

DEEPEST = 1000
"""Spans that may be inside one another; a longer chain is a circle, or as good as one."""


@dataclass(frozen=True, slots=True)
class Spans:
    """The spans and log records of a block, n of them, by trace.

    Attributes:
        n: How many.
        pieces: Where they come from.
        found: Their tables.
        trace: int64[n], ascending.
        is_log: bool[n].
        scope: int64[n], number of the instrumentation scope.
        service: str?[n], the service's name.
        attributes: Their attributes.
        events: The attributes of their events, owned by events.
        event_span: int64[events].
        event_name: str?[events].
        dialect: int8[n], number in `DIALECTS`.
        dialects: The numbers that there are.
        kind: int8[n], number in `KINDS`.
        known: bool[n], spans that say what they are.
        id: str?[n], in lower case.
        parent_id: str?[n].
        parent: int64[n], row of the parent, -1 for none.
        start: int64[n], nanoseconds, 0 where unknown.
        end: int64[n].
        code: int64[n], status code.
        name: str?[n].
        by_start: int64[n], the rows by trace and start.
    """

    n: int
    pieces: Pieces
    found: Projected
    trace: I64
    is_log: Mask
    scope: I64
    service: pa.Array
    attributes: Attributes
    events: Attributes
    event_span: I64
    event_name: pa.Array
    dialect: I8
    dialects: Sequence[int]
    kind: I8
    known: Mask
    id: pa.Array
    parent_id: pa.Array
    parent: I64
    start: I64
    end: I64
    code: I64
    name: pa.Array
    by_start: I64

    @property
    def span(self) -> Found:
        """The outermost table."""
        return self.found["span"]

    def row(self, field: str, among: Mask | None = None) -> I64:
        """int64[n]: the attribute with a field of each span, by the keys of its dialect and of the conventions."""
        out = np.full(self.n, -1, np.int64)
        shared: Keys = getattr(GENAI, field)
        for number in self.dialects:
            mine = among
            if len(self.dialects) > 1:
                mine = self.dialect == number if among is None else (self.dialect == number) & among
            keys: Keys = getattr(DIALECTS[number], field)
            self.attributes.row((*keys, *(key for key in shared if key not in keys)), out, mine)
        return out

    def text(self, field: str, among: Mask | None = None) -> pa.Array:
        """str?[n]: a field of each span."""
        return self.attributes.text(self.row(field, among))

    def agents(self) -> tuple[pa.Array, Mask]:
        """str?[n], the agent that a span names, and where there is one."""
        row = self.row("agent")
        at = np.flatnonzero(row >= 0)
        names = self.attributes.text(row[at])
        nobody = np.zeros(at.size, np.bool_)
        for number, dialect in enumerate(DIALECTS):
            if dialect.nobody:
                placeholder = one_of(names, *dialect.nobody)
                nobody |= (self.dialect[at] == number) & placeholder
        good = np.flatnonzero(~nobody)
        has = np.zeros(self.n, np.bool_)
        has[at[good]] = True
        return scattered(names.take(pa.array(good)), at[good], self.n), has

    def inherited(self, values: pa.Array, has: Mask) -> pa.Array:
        """Values of each span, or of the nearest one around it that has one."""
        holder = np.where(has, np.arange(self.n), climb(self.parent, has))
        return values.take(places(holder)) if self.n else values

    def of(self, *dialects: Dialect) -> Mask:
        """bool[n]: spans of those dialects."""
        return np.isin(self.dialect, [DIALECTS.index(dialect) for dialect in dialects])

    def nearest(self, mask: Mask) -> I64:
        """int64[n]: the nearest span around each for which ``mask`` is true, -1 for none."""
        return climb(self.parent, mask)

    def depth(self, mask: Mask) -> I64:
        """int64[n]: how many spans for which ``mask`` is true are around each."""
        up = self.nearest(mask)
        depth, at = np.zeros(self.n, np.int64), up
        for _ in range(DEEPEST):
            inside = at >= 0
            if not inside.any():
                break
            depth += inside
            at = np.where(inside, up[at], -1)
        return depth


def climb(parent: I64, mask: Mask) -> I64:
    """The nearest proper ancestor for which ``mask`` is true, -1 for none.

    Example:
        >>> climb(np.array([-1, 0, 1, 2]), np.array([True, False, False, True])).tolist()
        [-1, 0, 0, 0]
    """
    out = parent.copy()
    for _ in range(DEEPEST):
        at = np.flatnonzero(out >= 0)
        at = at[~mask[out[at]]]
        if not at.size:
            return out
        out[at] = parent[out[at]]
    out[at] = -1
    return out


def read_spans(pieces: Pieces) -> tuple[Spans, int]:
    """The spans of whole traces, each id once: of several the last complete one.

    Returns:
        The spans, and how many were left out as earlier versions of one.
    """
    found, trace = pieces.found, pieces.trace.astype(np.int64)
    scopes, service, log = _labels(pieces)
    ids, parents = _ids(found["span"])
    every = numbers(pa.concat_arrays([ids, parents]).dictionary_encode().indices, default=-1).astype(np.int64)
    codes, around = every[: len(ids)], every[len(ids) :]
    end = nanoseconds(found["span"], "end")
    keep = _latest(trace, codes, end, log) & _first_logs(pieces, trace, log)
    merged = int(np.count_nonzero(~keep))
    if merged:
        found, trace, end = found.keeping(keep), trace[keep], end[keep]
        scopes, log = scopes[keep], log[keep]
        codes, around = codes[keep], around[keep]
        ids, parents, service = (column.filter(pa.array(keep)) for column in (ids, parents, service))
    span = found["span"]
    attribute, event, inner = found["attribute"], found["event"], found["event_attribute"]
    attributes = Attributes(attribute, attribute.parent.astype(np.int64), span.n)
    events = Attributes(inner, inner.parent.astype(np.int64), event.n)
    scope_names = [label.split("\n")[1] for label in pieces.block.labels]
    dialect = _dialects(attributes, scopes, scope_names)
    name = span.text("name")
    kind, known = _kinds(attributes, dialect)
    start = nanoseconds(span, "start")
    if log.any():
        time = nanoseconds(span, "time")
        start, end = np.where(log, time, start), np.where(log, time, end)
        kind[log] = OTHER
    end = np.where((end > 0) & (end < start), start, end)
    code = _codes(span)
    kept = Pieces(pieces.block, found, pieces.number[keep], pieces.trace[keep], pieces.keys, pieces.digests[keep])
    spans = Spans(
        span.n, kept, found, trace, log, scopes, service, attributes, events, event.parent.astype(np.int64),
        event.text("name"), dialect, np.flatnonzero(np.bincount(dialect)).tolist(), kind, known & ~log, ids, parents,
        _parents(trace, codes, around, log), start, end, code, name, np.lexsort((start, trace)),
    )  # fmt: skip
    return spans, merged


def _codes(span: Found) -> I64:
    """int64[n]: status codes, as numbers or by the names that some exporters write."""
    code = numbers(span.integer("code"), default=0).astype(np.int64)
    if span.has("code", STRING).any():
        said = span.text("code")
        for number, names in enumerate((("1", "OK", "STATUS_CODE_OK"), ("2", "ERROR", "STATUS_CODE_ERROR")), 1):
            code[one_of(said, *names)] = number
    return code


def _labels(pieces: Pieces) -> tuple[I64, pa.Array, Mask]:
    """Scope number, service name, and which rows are log records."""
    label = pieces.block.label[pieces.number].astype(np.int64)
    parts = [text.split("\n") for text in pieces.block.labels]
    services = pa.array([part[2] or None for part in parts], TEXT)
    is_log = np.array([part[0] == LOG for part in parts], np.bool_)
    return label, services.take(pa.array(label)), is_log[label] if label.size else np.zeros(0, np.bool_)


def _ids(span: Found) -> tuple[pa.Array, pa.Array]:
    """str?[n]: ids and those of parents, in lower case; an empty parent is none."""
    ids, parents = (pc.ascii_lower(span.text(name, STRING)) for name in ("id", "parent"))
    blank = true(pc.equal(pc.binary_length(parents), 0))
    return ids, pc.if_else(pa.array(blank), pa.scalar(None, TEXT), parents) if blank.any() else parents


def _latest(trace: I64, codes: I64, end: I64, log: Mask) -> Mask:
    """bool[n]: all rows but those of which there is a better one with the same id: complete, else later."""
    keep = np.ones(trace.size, np.bool_)
    at = np.flatnonzero((codes >= 0) & ~log)
    code = codes[at]
    order = np.lexsort((at, end[at] > 0, code, trace[at]))
    same = (trace[at][order][1:] == trace[at][order][:-1]) & (code[order][1:] == code[order][:-1])
    keep[at[order[:-1][same]]] = False
    return keep


def _first_logs(pieces: Pieces, trace: I64, log: Mask) -> Mask:
    """bool[n]: all rows but log records of which there was an equal one before."""
    keep = np.ones(trace.size, np.bool_)
    at = np.flatnonzero(log)
    if at.size > 1:
        block, rows = pieces.block, pieces.number[at]
        digests = digests_of(block.data, block.starts[rows], block.ends[rows])
        order = np.lexsort((at, digests[:, 1], digests[:, 0], trace[at]))
        same = (trace[at[order]][1:] == trace[at[order]][:-1]) & (digests[order][1:] == digests[order][:-1]).all(axis=1)
        keep[at[order[1:][same]]] = False
    return keep


def _parents(trace: I64, mine: I64, around: I64, log: Mask) -> I64:
    """int64[n]: the row with the parent's id in the same trace; for a log record the row of its span."""
    n = trace.size
    around = np.where(log, mine, around)
    size = int(max(mine.max(initial=0), around.max(initial=0))) + 1
    known = np.flatnonzero((mine >= 0) & ~log)
    key = trace[known] * size + mine[known]
    order = np.argsort(key, kind="stable")
    asked = trace * size + around
    place = np.searchsorted(key[order], asked)
    place[place == order.size] = 0
    out = np.full(n, -1, np.int64)
    if order.size:
        hit = (around >= 0) & (key[order[place]] == asked)
        out[hit] = known[order[place[hit]]]
    out[out == np.arange(n)] = -1
    return out


def _dialects(attributes: Attributes, scope: I64, scope_names: Sequence[str]) -> I8:
    out = np.full(attributes.n, DIALECTS.index(GENAI), np.int8)
    for number in range(len(DIALECTS) - 1, -1, -1):
        dialect = DIALECTS[number]
        named = np.array([bool(dialect.scopes) and name.startswith(dialect.scopes) for name in scope_names], np.bool_)
        mine = attributes.has(*dialect.marks)
        if named.any():
            mine |= named[scope]
        out[mine] = number
    return out


def _kinds(attributes: Attributes, dialect: I8) -> tuple[I8, Mask]:
    """Kind of each span, and whether it says so."""
    out = np.full(attributes.n, -1, np.int8)
    for number, one in enumerate(DIALECTS):
        mine = dialect == number
        if not mine.any():
            continue
        for rule in (one, GENAI):
            known = {text.lower(): kind for text, kind in rule.kinds.items()}
            for key in rule.kind:
                rows = attributes.rows_of(key)
                rows = rows[mine[attributes.owner[rows]] & (out[attributes.owner[rows]] < 0)]
                coded = attributes.text(rows).dictionary_encode()
                kinds = np.array(
                    [known.get((text or "").lower(), -1) for text in coded.dictionary.to_pylist()], np.int8
                )
                if rows.size and kinds.size:
                    out[attributes.owner[rows]] = kinds[numbers(coded.indices, default=0)]
    silent = out < 0
    says = attributes.has("gen_ai.operation.name", "openinference.span.kind", "gen_ai.span.kind", "ai.operationId")
    out[silent & attributes.has("gen_ai.tool.call.id", "tool_arguments", "gcp.vertex.agent.tool_call_args")] = TOOL
    out[silent & (out < 0) & attributes.has("gcp.vertex.agent.llm_request")] = LLM
    out[silent & (out < 0) & attributes.has("pydantic_ai.all_messages", "all_messages_events")] = AGENT
    known_spans = says | (out >= 0)
    out[out < 0] = OTHER
    return out, known_spans
