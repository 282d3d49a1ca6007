"""What is known of a trace beside its calls: agent, session, times, tools, usage and the final answer."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import TEXT, TIME, numbers, places, valid
from tracelens.groups import offsets_of
from tracelens.sources.otlp.attributes import Mask, nullable_sum, scattered
from tracelens.sources.otlp.dialects import AGENT, LLM, OPENINFERENCE, PYDANTIC_AI, TRACEAI, VERCEL_AI
from tracelens.sources.otlp.messages import Requested
from tracelens.sources.otlp.spans import Spans, climb
from tracelens.sources.reading.digests import digests_of

I64 = npt.NDArray[np.int64]

TOKENS = ("input_tokens", "output_tokens")


def trace_columns(spans: Spans, asked: Requested, agents: pa.Array, used: dict[str, pa.Array]) -> dict[str, Any]:
    """The columns of `tracelens.columns.TRACES`.

    Args:
        spans: The spans.
        asked: The calls that models asked for.
        agents: str?[spans], the agent that each names.
        used: See `usage`.
    """
    columns = spans.pieces.columns()
    n = spans.pieces.n_traces
    by_start = spans.by_start
    known = np.zeros(n, np.bool_)
    known[spans.trace[spans.known | (asked_in(spans, asked))]] = True
    first = _first(spans, by_start, spans.start > 0, n)
    start = np.where(first >= 0, spans.start[np.maximum(first, 0)], 0) if spans.n else np.zeros(n, np.int64)
    columns |= {
        "has_calls": known,
        "session_id": _field(spans, by_start, spans.row("session"), n),
        "agent": _agents(spans, by_start, agents, n),
        "case_id": _cases(spans, by_start, n),
        "started_at": pa.array(start // 1000, mask=start <= 0).cast(TIME),
        "tags": _tags(spans, by_start, n),
        "tools": tools(spans, by_start, n),
        "final_answer": _answers(spans, asked, n),
    }
    model = spans.kind == LLM
    outer = model & (climb(spans.parent, model) < 0)
    if outer.any():
        calls = np.bincount(spans.trace[outer], minlength=n)
        columns["llm_calls"] = pa.array(calls, mask=calls == 0)
        for name, values in used.items():
            columns[name] = nullable_sum(values, spans.trace, outer, n)
    return columns


def asked_in(spans: Spans, asked: Requested) -> Mask:
    """bool[spans]: those whose messages ask for calls."""
    out = np.zeros(spans.n, np.bool_)
    out[asked.span] = True
    return out


def usage(spans: Spans) -> dict[str, pa.Array]:
    """Tokens and cost of each model span."""
    model = spans.kind == LLM
    out = {name: spans.attributes.whole(spans.row(name, model)) for name in TOKENS}
    cost = spans.attributes.number(spans.row("cost", model))
    out["cost"] = pc.if_else(pc.greater_equal(cost, 0.0), cost, pa.scalar(None, pa.float64()))
    return out


def _first(spans: Spans, order: I64, wanted: Mask, n: int) -> I64:
    """int64[traces]: the first of the wanted spans of each trace in an order, -1 for none."""
    rows = order[wanted[order]][::-1]
    out = np.full(n, -1, np.int64)
    out[spans.trace[rows]] = rows
    return out


def _field(spans: Spans, order: I64, row: I64, n: int) -> pa.Array:
    """str?[traces]: an attribute of the first span that has it."""
    first = _first(spans, order, row >= 0, n)
    return spans.attributes.text(np.where(first >= 0, row[np.maximum(first, 0)], -1)) if spans.n else pa.nulls(n, TEXT)


def _agents(spans: Spans, order: I64, agents: pa.Array, n: int) -> pa.Array:
    """The agent that the first agent span names, else the first one that any span names."""
    named = valid(agents)
    first = _first(spans, order, named & (spans.kind == AGENT), n)
    first = np.where(first >= 0, first, _first(spans, order, named, n))
    return agents.take(places(first)) if spans.n else pa.nulls(n, TEXT)


def _cases(spans: Spans, order: I64, n: int) -> pa.Array:
    given = _field(spans, order, spans.attributes.row(("tracelens.case_id", "case_id")), n)
    return pc.coalesce(given, _of_labels(spans, order, 3, n))


def _of_labels(spans: Spans, order: I64, part: int, n: int) -> pa.Array:
    """str?[traces]: a part of the label of the first span."""
    texts = [label.split("\n")[part] or None for label in spans.pieces.block.labels]
    first = _first(spans, order, np.ones(spans.n, np.bool_), n)
    return pa.array(texts, TEXT).take(pa.array(spans.scope[first]))


def _tags(spans: Spans, order: I64, n: int) -> pa.Array:
    """``{"service": …}``, the name of the service that the first span came from."""
    services = _of_labels(spans, order, 2, n).dictionary_encode()
    written = [json.dumps({"service": text}, ensure_ascii=False) for text in services.dictionary.to_pylist()]
    return pa.array(written, TEXT).take(services.indices)


def _answers(spans: Spans, asked: Requested, n: int) -> pa.Array:
    """The final answer: as the outermost agent says it, else the last text of a model that asks for no call."""
    order = spans.by_start
    row = spans.row("answer", (spans.kind == AGENT))
    first_hand = _field(spans, order, np.where(spans.of(PYDANTIC_AI, VERCEL_AI), row, -1), n)
    may = valid(asked.said) & ~asked_in(spans, asked) & ((spans.kind == LLM) | spans.is_log)
    depth = spans.depth(spans.kind == AGENT)
    lowest = np.full(n, 1 << 30)
    np.minimum.at(lowest, spans.trace[may], depth[may])
    may &= depth == lowest[spans.trace] if spans.n else may
    last = np.full(n, -1, np.int64)
    rows = np.flatnonzero(may)
    rows = rows[np.lexsort((spans.end[rows], spans.trace[rows]))]
    last[spans.trace[rows]] = rows
    there = np.flatnonzero(last >= 0)
    said = scattered(asked.said.take(pa.array(last[there])), there, n)
    second_hand = _field(spans, order, np.where(spans.of(OPENINFERENCE, TRACEAI), row, -1), n)
    return pc.coalesce(first_hand, said, second_hand)


def tools(spans: Spans, order: I64, n: int) -> pa.Array:
    """Recorded tool definitions of each trace as the JSON text of a list; equal ones once."""
    row = spans.row("definitions")
    found = [
        _distinct(spans, row[order]),
        _distinct(spans, _numbered(spans, r"llm\.tools\.(\d+)\.tool\.json_schema")),
        _of_parts(spans),
        _of_tool_spans(spans),
    ]
    texts = [text for _, _, some in found for text in some]
    firsts = np.cumsum([0, *(len(some) for _, _, some in found)])
    trace = np.concatenate([each for each, _, _ in found])
    code = np.concatenate([each + first for (_, each, _), first in zip(found, firsts[:-1], strict=True)])
    code = code[np.argsort(trace, kind="stable")]
    begin = offsets_of(np.bincount(trace, minlength=n))
    lists: dict[tuple[int, ...], int] = {}
    written: list[str | None] = []
    single = np.array([_known(lists, written, texts, (k,)) for k in range(len(texts))], np.int64)
    which = np.full(n, -1, np.int64)
    sizes = np.diff(begin)
    which[sizes == 1] = single[code[begin[:-1][sizes == 1]]]
    for each in np.flatnonzero(sizes > 1):
        which[each] = _known(lists, written, texts, tuple(code[begin[each] : begin[each + 1]].tolist()))
    return pa.array(written, TEXT).take(places(which)) if written else pa.nulls(n, TEXT)


def _known(
    lists: dict[tuple[int, ...], int], written: list[str | None], texts: Sequence[str], key: tuple[int, ...]
) -> int:
    """The number of the list made of some texts; it is made once."""
    if key not in lists:
        lists[key] = len(written)
        written.append(_list_of(tuple(dict.fromkeys(texts[k] for k in key))))
    return lists[key]


Texts = tuple[I64, I64, list[str]]
"""Pairs of a trace and the number of a text, each once, and the texts."""


def _numbered(spans: Spans, pattern: str) -> I64:
    """Attributes whose keys match a pattern with one number, by number."""
    keys = [(int(match.group(1)), key) for key in spans.attributes.keys if (match := re.fullmatch(pattern, key))]
    rows = [spans.attributes.rows_of(key) for _, key in sorted(keys)]
    return np.concatenate(rows) if rows else np.zeros(0, np.int64)


def _of_parts(spans: Spans) -> Texts:
    """Definitions whose name and schema are attributes of their own, with one number."""
    attributes = spans.attributes
    names = _numbered(spans, r"llm\.request\.functions\.(\d+)\.name")
    if not names.size:
        return names, names, []
    keys = {key.removesuffix(".name"): key for key in attributes.keys if key.endswith(".name")}
    schema = np.full(attributes.found.n, -1, np.int64)
    for start, key in keys.items():
        rows = attributes.rows_of(key)
        schema[rows] = attributes.row((f"{start}.parameters",))[attributes.owner[rows]]
    return _named_schemas(spans, attributes.owner[names], attributes.text(names), attributes.text(schema[names]))


def _distinct(spans: Spans, rows: I64) -> Texts:
    """The distinct texts of attributes by trace, in the order of the rows; equal ones are known by their bytes."""
    rows = rows[rows >= 0]
    if not rows.size:
        return rows, rows, []
    attributes = spans.attributes
    cell = attributes.found.cells("@")
    digests = digests_of(attributes.found.data, cell.start[rows].astype(np.int64), cell.end[rows].astype(np.int64))
    order = np.lexsort((digests[:, 1], digests[:, 0]))
    new = np.ones(rows.size, np.bool_)
    new[1:] = (digests[order][1:] != digests[order][:-1]).any(axis=1)
    which = np.empty(rows.size, np.int64)
    which[order] = np.cumsum(new) - 1
    written = attributes.text(rows[order[new]]).to_pylist()
    trace = spans.trace[attributes.owner[rows]]
    at = np.sort(np.unique(trace * len(written) + which, return_index=True)[1])
    return trace[at], which[at], [text or "" for text in written]


def _of_tool_spans(spans: Spans) -> Texts:
    """Definitions made of the names of tools and the schemas of parameters that their spans bring along."""
    row = spans.attributes.row(("tool.parameters",))
    at = np.flatnonzero(row >= 0)
    name = pc.coalesce(spans.text("tool").take(pa.array(at)), spans.name.take(pa.array(at)))
    return _named_schemas(spans, at, name, spans.attributes.text(row[at])) if at.size else (at, at, [])


def _named_schemas(spans: Spans, at: I64, name: pa.Array, schema: pa.Array) -> Texts:
    """A definition for each name of a tool with its schema, once in every trace."""
    coded_names, coded = name.dictionary_encode(), schema.dictionary_encode()
    codes = np.stack([spans.trace[at], numbers(coded_names.indices, default=-1), numbers(coded.indices, default=-1)])
    names, schemas = coded_names.dictionary.to_pylist(), coded.dictionary.to_pylist()
    texts: dict[str, int] = {}
    pairs = []
    _, first = np.unique(codes, axis=1, return_index=True)
    for trace, k, j in codes[:, np.sort(first)].T.tolist():
        if k >= 0 and j >= 0 and schemas[j].lstrip().startswith("{"):
            text = f'{{"name": {json.dumps(names[k], ensure_ascii=False)}, "parameters": {schemas[j]}}}'
            pairs.append((trace, texts.setdefault(text, len(texts))))
    both = np.array(pairs, np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1], list(texts)


def _list_of(parts: tuple[str, ...]) -> str | None:
    """One list out of lists and single definitions; what is no JSON is left out."""
    good = []
    for part in parts:
        try:
            found = json.loads(part)
        except ValueError:
            continue
        text = part.strip()
        if isinstance(found, list) and any(isinstance(item, str) for item in found):
            good += [item for item in found if isinstance(item, str)]
        elif isinstance(found, list) and found:
            good.append(text[1:-1])
        elif isinstance(found, dict):
            good.append(text)
    return f"[{', '.join(good)}]" if good else None
