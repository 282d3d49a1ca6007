"""One row a call: what models asked for and what tool spans executed, put together and in order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import ABSENT, NULL, TEXT, numbers, valid
from tracelens.sources.otlp.attributes import Mask
from tracelens.sources.otlp.dialects import CHAIN, LLM
from tracelens.sources.otlp.executed import Executed
from tracelens.sources.otlp.messages import Requested
from tracelens.sources.otlp.spans import Spans

I64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Merged:
    """The calls of whole traces, in their final order.

    Attributes:
        asked: int64[calls], row of `Requested`, -1 where no message asked for it.
        ran: int64[calls], row of `Executed`, -1 where no span executed it.
        span: int64[calls], the span of a call: the tool's, else the model's.
        trace: int64[calls], ascending.
        turn: int64[calls], from 0 in each trace.
        depth: int64[calls], how many calls it is inside of.
        inferred: bool[calls], message and span were joined by name, because one of them has no id.
        tied: bool[calls], only the order of the file tells it from the call before.
    """

    asked: I64
    ran: I64
    span: I64
    trace: I64
    turn: I64
    depth: I64
    inferred: Mask
    tied: Mask


def merge(spans: Spans, asked: Requested, ran: Executed) -> Merged:
    """Put messages and spans together.

    A message and a span are one call where trace and id are equal, the nth such message with the nth such span; where
    one of the two has no id, where trace, name and arguments are equal, then where trace and name are, as long as the
    span began after the model's. What is left is
    a call of its own: asked for and not executed, or executed where messages were not recorded.
    """
    keep = ~_repeated(spans, asked)
    partner, inferred = _partners(spans, asked, ran, keep)
    first = np.flatnonzero(keep)
    taken = np.zeros(ran.span.size, np.bool_)
    taken[partner[partner >= 0]] = True
    rest = np.flatnonzero(~taken)
    of_asked = np.concatenate([first, np.full(rest.size, -1, np.int64)])
    of_ran = np.concatenate([partner[first], rest])
    model = np.where(of_asked >= 0, _at(asked.span, of_asked), -1)
    tool = np.where(of_ran >= 0, _at(ran.span, of_ran), -1)
    span = np.where(tool >= 0, tool, model)
    trace = spans.trace[span]
    anchor = _anchors(spans, model, tool)
    start = np.where(tool >= 0, spans.start[tool], anchor)
    end = np.where(tool >= 0, spans.end[tool], anchor)
    position = np.where(of_asked >= 0, _at(asked.position, of_asked), 0)
    order = np.lexsort((span, end, start, position, np.where(model >= 0, model, -1), anchor, trace))
    same = np.zeros(order.size, np.bool_)
    before, after = order[:-1], order[1:]
    same[1:] = (trace[before] == trace[after]) & (anchor[before] == anchor[after])
    same[1:] &= (model[before] != model[after]) | (model[after] < 0)
    flagged = np.zeros(keep.size + 1, np.bool_)
    flagged[:-1] = inferred
    turn = _turns(spans, model, tool, anchor, order)
    return Merged(
        of_asked[order], of_ran[order], span[order], trace[order], turn[order], _depths(spans, ran)[span[order]],
        flagged[of_asked[order]] & (of_ran[order] >= 0), same,
    )  # fmt: skip


def _at(values: I64, rows: I64) -> I64:
    """Values of rows; anything for a row below zero."""
    return values[rows] if values.size else np.zeros(rows.size, np.int64)


def _repeated(spans: Spans, asked: Requested) -> Mask:
    """bool[asked]: calls that another model span tells of at the same time: two instrumentations, one answer."""
    out = np.zeros(asked.span.size, np.bool_)
    at = np.flatnonzero(valid(asked.id))
    code = numbers(asked.id.take(pa.array(at)).dictionary_encode().indices, default=0)
    span = asked.span[at]
    order = np.lexsort((at, spans.start[span], code, spans.trace[span]))
    at, span, code = at[order], span[order], code[order]
    same = (spans.trace[span][1:] == spans.trace[span][:-1]) & (code[1:] == code[:-1]) & (span[1:] != span[:-1])
    out[at[1:][same & (spans.start[span][1:] < spans.end[span][:-1])]] = True
    return out


def _partners(spans: Spans, asked: Requested, ran: Executed, keep: Mask) -> tuple[I64, Mask]:
    """int64[asked]: the executed call of each, -1 for none; and whether that was inferred."""
    n, m = asked.span.size, ran.span.size
    partner, inferred = np.full(n, -1, np.int64), np.zeros(n, np.bool_)
    if not n or not m:
        return partner, inferred
    ids = _codes(asked.id, ran.id)
    trace = np.concatenate([spans.trace[asked.span], spans.trace[ran.span]])
    began = np.where(spans.start[ran.span] > 0, spans.start[ran.span], np.iinfo(np.int64).max)
    time = np.concatenate([spans.start[asked.span], began])
    free = np.concatenate([keep, np.ones(m, np.bool_)])
    a_side = np.arange(n + m) < n

    def join(key: I64, among: Mask, *, by_time: bool) -> I64:
        mine = np.flatnonzero(free & among & (key >= 0))
        order = np.lexsort((mine, ~a_side[mine], time[mine]))
        if by_time and mine.size:
            order = _caused(key[mine], a_side[mine], order)
        left, right = _nth(key[mine], a_side[mine], order)
        partner[mine[left]] = mine[right] - n
        free[mine[left]] = free[mine[right]] = False
        return mine[left]

    join(np.where(ids >= 0, trace * (ids.max() + 2) + ids, -1), np.ones(n + m, np.bool_), by_time=False)
    without = ids < 0
    if not (free[:n].any() and free[n:].any() and (free & without).any()):
        return partner, inferred
    names = _codes(asked.name, ran.name)
    whole = _codes(_squeezed(asked.arguments), _squeezed(ran.arguments))
    of_name = np.where(names >= 0, trace * (names.max() + 2) + names, -1)
    of_call = np.where((of_name >= 0) & (whole >= 0), of_name * (whole.max() + 2) + whole, -1)
    for key in (of_call, of_name):
        for among in (without | ~a_side, without | a_side):
            inferred[join(key, among, by_time=True)] = True
    return partner, inferred


def _nth(key: I64, left: Mask, order: I64) -> tuple[I64, I64]:
    """Positions of the nth left and the nth right row of each key, as far as both are there, rows taken in an order."""
    order = order[np.lexsort((left[order], key[order]))]
    group = key[order] * 2 + left[order]
    new = np.ones(order.size, np.bool_)
    new[1:] = group[1:] != group[:-1]
    begin = np.flatnonzero(new)
    nth = np.arange(order.size) - np.repeat(begin, np.diff(np.append(begin, order.size)))
    again = np.lexsort((left[order], nth, key[order]))
    rows = order[again]
    k, i = key[rows], nth[again]
    pair = np.flatnonzero((k[1:] == k[:-1]) & (i[1:] == i[:-1]))
    return rows[pair + 1], rows[pair]


def _caused(key: I64, left: Mask, order: I64) -> I64:
    """The rows in that order, without right rows that come before a left one of their key is free for them."""
    rows = order[np.argsort(key[order], kind="stable")]
    new = np.ones(rows.size, np.bool_)
    new[1:] = key[rows][1:] != key[rows][:-1]
    group = np.cumsum(new) - 1
    balance = np.cumsum(np.where(left[rows], 1, -1))
    begin = np.flatnonzero(new)
    base = balance[begin] - np.where(left[rows[begin]], 1, -1)
    level = balance - base[group] - 4 * rows.size * group
    lowest = np.minimum.accumulate(np.minimum(level, -4 * rows.size * group))
    before = np.where(new, -4 * rows.size * group, np.append(0, lowest[:-1]))
    return np.asarray(rows[level >= before], np.int64)


def _codes(one: pa.Array, two: pa.Array) -> I64:
    """int64: equal texts of both columns have equal numbers; -1 for null and for the empty text."""
    both = pa.concat_arrays([one, two])
    both = pc.if_else(pc.equal(both, ""), pa.scalar(None, TEXT), both)
    return numbers(both.dictionary_encode().indices, default=-1).astype(np.int64)


def _squeezed(arguments: pa.Array) -> pa.Array:
    """Texts without white space: enough to find the copy of a call."""
    return pc.replace_substring_regex(arguments, r"\s+", "")


def _anchors(spans: Spans, model: I64, tool: I64) -> I64:
    """int64[calls]: when a call came into being: the end of the answer that asked, else the start of its span.

    All calls of an answer have one anchor; where tools ran before a model's span ended, the first of them sets it.
    """
    anchor = np.where(spans.end > 0, spans.end, spans.start)
    both = np.flatnonzero((model >= 0) & (tool >= 0))
    known = both[spans.start[tool[both]] > 0]
    np.minimum.at(anchor, model[known], spans.start[tool[known]])
    return np.asarray(np.where(model >= 0, anchor[model], spans.start[tool]), np.int64)


def _turns(spans: Spans, model: I64, tool: I64, anchor: I64, order: I64) -> I64:
    """int64[calls]: the number of the model's answer that a call belongs to, in its trace, from 0.

    Answers count by the time at which they began (a span may well end after the tools have run). Without a message it is
    the last answer that began before the call; in a trace without model spans the number of the step around the call,
    else of the instant at which it began.
    """
    llm = np.flatnonzero(spans.kind == LLM)
    trace = spans.trace[np.where(tool >= 0, tool, model)]
    asked = np.where(model >= 0, spans.start[model], anchor)
    time = np.concatenate([spans.start[llm], asked])
    of = np.concatenate([spans.trace[llm], trace])
    is_call = np.arange(time.size) >= llm.size
    along = np.lexsort((is_call, time, of))
    count = np.empty(time.size, np.int64)
    count[along] = np.cumsum(~is_call[along])
    models = np.bincount(spans.trace[llm], minlength=int(spans.trace.max(initial=0)) + 1)
    base = np.cumsum(models) - models
    turn: I64 = np.maximum(count[llm.size :] - base[trace] - 1, 0)
    bare = np.isin(order, np.flatnonzero(models[trace] == 0))
    rows = order[bare]
    if rows.size:
        step = np.where(tool[rows] >= 0, spans.parent[tool[rows]], -1)
        stepped = (step >= 0) & (spans.kind[step] == CHAIN)
        key = np.where(stepped, step, spans.n + np.cumsum(np.diff(anchor[rows], prepend=-1) != 0))
        turn[rows] = _ranks(trace[rows], key)
    return turn


def _ranks(trace: I64, key: I64) -> I64:
    """int64[n]: the number of each key among those of its trace, by first appearance; rows are ordered by trace."""
    both = trace * (int(key.max()) + 1) + key
    _, first, inverse = np.unique(both, return_index=True, return_inverse=True)
    rank = np.empty(first.size, np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(first.size)
    number = rank[inverse]
    begin = np.flatnonzero(np.diff(trace, prepend=-1))
    sizes = np.diff(np.append(begin, trace.size))
    return np.asarray(number - np.repeat(np.minimum.reduceat(number, begin), sizes), np.int64)


def _depths(spans: Spans, ran: Executed) -> I64:
    """int64[spans]: how many executed calls each span is inside of."""
    is_call = np.zeros(spans.n, np.bool_)
    is_call[ran.span] = True
    return spans.depth(is_call)


def own_arguments(asked: Requested, ran: Executed, merged: Merged) -> tuple[pa.Array, npt.NDArray[np.uint8], Mask]:
    """Arguments of each call as the model wrote them, else as the tool was given them; form; whether from a message."""
    form = np.zeros(merged.asked.size, np.uint8)
    there = merged.asked >= 0
    form[there] = asked.form[merged.asked[there]]
    written = there & ((form != ABSENT) & (form != NULL) | (merged.ran < 0))
    given = ~written
    form[given] = ran.form[merged.ran[given]]
    both = pa.concat_arrays([asked.arguments, ran.arguments])
    row = np.where(written, merged.asked, merged.ran + asked.span.size)
    return both.take(pa.array(row)), form, written
