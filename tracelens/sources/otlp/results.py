"""Results of calls that no span executed: what later messages answer, by id."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import TEXT, numbers, texts, valid
from tracelens.projection import ANYTHING, STRING, run
from tracelens.sources.otlp.attributes import scattered
from tracelens.sources.otlp.dialects import LLM
from tracelens.sources.otlp.merge import Merged
from tracelens.sources.otlp.messages import LIST, Requested
from tracelens.sources.otlp.spans import Spans

I64 = npt.NDArray[np.int64]

FLAT = re.compile(
    r"(llm\.input_messages\.\d+\.message|gen_ai\.(?:input\.messages|prompt)\.\d+(?:\.message)?)\.tool_call_id"
)


def answered(spans: Spans, asked: Requested, merged: Merged) -> pa.Array:
    """str?[calls]: the answer to each call that no span executed, in the first later message with its id."""
    n = merged.asked.size
    open_calls = np.flatnonzero((merged.ran < 0) & (merged.asked >= 0))
    open_calls = open_calls[valid(asked.id)[merged.asked[open_calls]]] if open_calls.size else open_calls
    if not open_calls.size:
        return pa.nulls(n, TEXT)
    wanted = np.zeros(int(spans.trace.max(initial=0)) + 1, np.bool_)
    wanted[merged.trace[open_calls]] = True
    span, ids, content = _answers(spans, (spans.kind == LLM) & wanted[spans.trace])
    if not span.size:
        return pa.nulls(n, TEXT)
    own = asked.id.take(pa.array(merged.asked[open_calls]))
    codes = numbers(pa.concat_arrays([own, ids]).dictionary_encode().indices, default=-1).astype(np.int64)
    size = int(codes.max(initial=0)) + 2
    key = merged.trace[open_calls] * size + codes[: open_calls.size]
    told = spans.trace[span] * size + codes[open_calls.size :]
    order = np.lexsort((np.arange(told.size), spans.start[span], told))
    place = np.minimum(np.searchsorted(told[order], key), told.size - 1)
    hit = told[order[place]] == key
    return scattered(content.take(pa.array(order[place[hit]])), open_calls[hit], n)


def _answers(spans: Spans, among: npt.NDArray[np.bool_]) -> tuple[I64, pa.Array, pa.Array]:
    """Answers of tools in the messages that models read: the model's span, the call's id, the content."""
    attributes = spans.attributes
    at = np.flatnonzero((row := attributes.row(("gen_ai.input.messages",), among=among)) >= 0)
    inner = texts(attributes.text(row[at]))
    found = run(LIST, inner.data, inner.offsets[:-1].copy(), inner.offsets[1:].copy())
    message, part = found["message"], found["part"]
    owner = at[found["list"].parent[message.parent]]
    parts = np.flatnonzero(part.has("response", *ANYTHING) & part.has("id", STRING))
    whole = np.flatnonzero(message.has("answers", STRING))
    spans_of = [owner[part.parent[parts]], owner[whole]]
    ids = [part.text("id").take(pa.array(parts)), message.text("answers").take(pa.array(whole))]
    contents = [
        part.text("response", *ANYTHING).take(pa.array(parts)),
        message.text("content", *ANYTHING).take(pa.array(whole)),
    ]
    for key in attributes.keys:
        match = FLAT.fullmatch(key) if key else None
        if match is not None:
            rows = attributes.row((key,), among=among)
            mine = np.flatnonzero(rows >= 0)
            spans_of.append(mine)
            ids.append(attributes.text(rows[mine]))
            contents.append(attributes.text(attributes.row((f"{match.group(1)}.content",))[mine]))
    span = np.concatenate(spans_of)
    return span, pa.concat_arrays(ids), pc.cast(pa.concat_arrays(contents), TEXT)
