"""Spans and requests put together: one row per call, however many records repeat it, in one order.

A span that ran a call counts, and takes from the model's request what it lacks: the id, and the arguments where it has
none, lost their keys or wrapped them. A request that no span ran is a call as well; its result is looked up in what
models were told later. The place of a requested call is that of the model's span and of the request in it; any other
call stands where it started. A tool span right inside another of the same name, with no agent and no model between
them, is a second record of it. Depth counts the tool calls around a call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import (
    ABSENT,
    CALLS,
    JSON_STRING,
    JSON_VALUE,
    NOT_CAPTURED,
    NULL,
    SPANS,
    TEXT,
    TIME,
    TRUNCATED,
    coded,
    nullable,
    numbers,
    one_chunk,
    places,
    table,
    valid,
)
from tracelens.groups import group_offsets, positions_in
from tracelens.sources.backends.steps.arguments import LOST
from tracelens.sources.backends.steps.asks import said
from tracelens.sources.backends.steps.merge import without_repeats
from tracelens.sources.backends.steps.model import (
    AGENT,
    ASKS,
    I64,
    KIND_NAMES,
    LLM,
    MAYBE,
    OTHER,
    TOOL,
    UNKNOWN,
    Mask,
    joint_codes,
    taken,
    text_codes,
)
from tracelens.sources.backends.steps.order import Order, groups_of, order_of
from tracelens.sources.backends.steps.pairs import Side, matched, repeated
from tracelens.sources.backends.steps.sums import last_texts, totals
from tracelens.sources.backends.steps.told import told
from tracelens.sources.backends.steps.wrapped import wrapped

Inputs = Callable[[I64], pa.Array]
"""Gives the inputs of models, as JSON text, by row of the steps as they were handed over."""


RUN = ("name", "arguments", "arguments_form", "repair", "call_id", "status", "output", "error", "call_kind")
ASKED = ("name", "arguments", "arguments_form", "call_id", "error", "kind")
"""What a call has of the span that ran it, and of the request for it."""


@dataclass(frozen=True, slots=True)
class Flat:
    """What spans say of the traces of a block.

    Attributes:
        calls: See `tracelens.columns.CALLS`.
        spans: See `tracelens.columns.SPANS`.
        complete: bool?[traces]: false where the outermost span is missing or did not end, else null.
        agent: str?[traces]: the first agent that is named.
        answer: str?[traces]: the last thing that a model of the trace itself said without asking for a call.
        started_at: timestamp?[traces]: start of the first span.
        llm_calls: int64?[traces]; null where no model span was recorded.
        input_tokens: int64?[traces].
        output_tokens: int64?[traces].
        cost: float64?[traces].
        n_merged: Records of a span that is there already.
        n_tied: Calls that start at the same instant as the one before, so that the file alone gave the order.
        tied: Number of the first trace with such a call, -1 for none.
    """

    calls: pa.Table
    spans: pa.Table
    complete: pa.Array
    agent: pa.Array
    answer: pa.Array
    started_at: pa.Array
    llm_calls: pa.Array
    input_tokens: pa.Array
    output_tokens: pa.Array
    cost: pa.Array
    n_merged: int
    n_tied: int
    tied: int


@dataclass(frozen=True, slots=True)
class _Made:
    """Calls before they are put in order: the step and the request of each (-1 for none)."""

    step: I64
    ask: I64


def flattened(steps: pa.Table, n: int, *, inputs: Inputs | None = None, asks: pa.Table | None = None) -> Flat:
    """Make calls out of spans.

    Args:
        steps: See `tracelens.sources.backends.steps.model.STEPS`.
        n: Number of traces.
        inputs: Gives what models were told, for results that no span has.
        asks: Requests that the format records beside the outputs, see `tracelens.sources.backends.steps.model.ASKS`; they count
            instead of those in the output of the same span.
    """
    steps, n_merged, place = without_repeats(steps)
    order = order_of(steps)
    models = np.flatnonzero(order.kind == LLM)
    spoken = said(one_chunk(steps["output"]).take(pa.array(models)))
    steps = _with_usage(steps, models, spoken.input_tokens, spoken.output_tokens)
    wanted = _requests(spoken.asks, models, asks, place)
    wanted = wanted.filter(pa.array(~_again(wanted, order)))
    order = _with_tools(steps, wanted, order)
    made, order = _calls_made(steps, wanted, order)
    agents = order.agents(steps)
    calls, rows, tied = _call_table(steps, wanted, made, order, agents, n)
    silent = np.ones(len(order.kind), np.bool_)
    silent[wanted["step"].to_numpy()] = False
    calls = _with_results(calls, rows, order, inputs, place)
    return Flat(
        calls,
        _span_table(steps, order, agents, rows.step, numbers(calls["call_index"])),
        _complete(steps, order, n),
        _first_agents(order, agents, n),
        last_texts(order, models, spoken.text, silent, n),
        _first_starts(order, n),
        *totals(steps, order, n),
        n_merged=n_merged,
        n_tied=int(tied.size),
        tied=int(numbers(calls["trace"])[tied[0]]) if tied.size else -1,
    )


def _with_usage(steps: pa.Table, models: I64, *tokens: pa.Array) -> pa.Table:
    """The steps with the tokens that outputs tell where the span does not."""
    for name, found in zip(("input_tokens", "output_tokens"), tokens, strict=True):
        if found.null_count == len(found):
            continue
        at = np.full(steps.num_rows, -1, np.int64)
        at[models] = np.arange(models.size)
        spread = taken(found, at)
        index = steps.schema.get_field_index(name)
        steps = steps.set_column(index, steps.schema.field(index), pc.coalesce(one_chunk(steps[name]), spread))
    return steps


def _requests(found: pa.Table, models: I64, given: pa.Table | None, place: I64) -> pa.Table:
    """All requests by step: those that the format gives, and those in other outputs."""
    found = found.set_column(0, ASKS.field("step"), pa.array(models[found["step"].to_numpy()]))
    if given is None or not given.num_rows:
        return found
    at = place[given["step"].to_numpy()]
    given = given.set_column(0, ASKS.field("step"), pa.array(at))
    rest = found.filter(pa.array(~np.isin(found["step"].to_numpy(), at)))
    both = pa.concat_tables([given, rest]).combine_chunks()
    return both.take(np.argsort(both["step"].to_numpy(), kind="stable"))


def _again(wanted: pa.Table, order: Order) -> Mask:
    step = wanted["step"].to_numpy()
    above = order.nearest(order.kind == LLM)
    return repeated(wanted, order.trace[step], order.rank, above, order.start, order.end)


def _with_tools(steps: pa.Table, wanted: pa.Table, order: Order) -> Order:
    """Spans that may be tools are, where a model of the trace asked for one of that name and no tool is around them."""
    kind = order.kind.copy()
    maybe = np.flatnonzero(kind == MAYBE)
    if maybe.size:
        names = text_codes(one_chunk(steps["name"]).take(pa.array(maybe)), one_chunk(wanted["name"]))
        trace = np.concatenate([order.trace[maybe], order.trace[wanted["step"].to_numpy()]])
        keys = joint_codes(trace, np.concatenate(names))
        tools = maybe[np.isin(keys[: maybe.size], keys[maybe.size :][keys[maybe.size :] >= 0]) & (names[0] >= 0)]
        kind[maybe] = OTHER
        kind[tools] = TOOL
    return replace(order, kind=kind)


def _calls_made(steps: pa.Table, wanted: pa.Table, order: Order) -> tuple[_Made, Order]:
    """The spans that ran calls with their requests, and the requests that no span ran."""
    tool = order.kind == TOOL
    around = order.nearest(tool)
    between = order.nearest(tool | (order.kind == LLM) | (order.kind == AGENT))
    (names,) = text_codes(steps["name"])
    second = tool & (around >= 0) & (between == around) & (names[around] == names)
    runs = np.flatnonzero(tool & ~second)
    runs = runs[np.argsort(order.rank[runs])]
    step = wanted["step"].to_numpy()
    asked = np.argsort(order.rank[step], kind="stable")
    sides = [
        Side(
            order.trace[which],
            *(one_chunk(of[name]).take(pa.array(rows)) for name in ("name", "call_id", "arguments")),
        )
        for which, of, rows in ((step[asked], wanted, asked), (runs, steps, runs))
    ]
    found = matched(*sides)
    ask = np.full(runs.size, -1, np.int64)
    ask[found[found >= 0]] = asked[found >= 0]
    left = asked[found < 0]
    kind = order.kind.copy()
    given = numbers(steps["kind"])
    idle = runs[(ask < 0) & (given[runs] == MAYBE)]
    kind[idle] = OTHER
    kind[second] = TOOL
    keep = ~np.isin(runs, idle)
    made = _Made(np.concatenate([runs[keep], np.full(left.size, -1, np.int64)]), np.concatenate([ask[keep], left]))
    return made, replace(order, kind=kind, second=second)


def _call_table(
    steps: pa.Table, wanted: pa.Table, made: _Made, order: Order, agents: pa.Array, n: int
) -> tuple[pa.Table, _Made, I64]:
    """The calls in order, the step and request of each, and the rows whose order the file alone gave."""
    owner = _owners(wanted, made)
    where = np.where(made.step >= 0, made.step, owner)
    position = made.ask - np.searchsorted(wanted["step"].to_numpy(), owner)
    anchor = np.where(owner >= 0, order.rank[owner], order.rank[where])
    sorted_ = np.lexsort((np.where(owner >= 0, position, -1), anchor, order.trace[where]))
    made = _Made(made.step[sorted_], made.ask[sorted_])
    owner, where = owner[sorted_], where[sorted_]
    trace = order.trace[where]
    turn, tied = groups_of(order, steps, made.step, owner, trace)
    run, asked = _taken(steps, made.step, RUN), _taken(wanted, made.ask, ASKED)
    depth = order.depth(order.kind == TOOL, order.second)
    arguments, form, repair = _arguments(run, asked, made)
    alone = pa.array(made.step < 0)
    failed = pc.and_(alone, pc.is_valid(asked["error"]))
    start, end = (np.where(made.step >= 0, of[made.step], UNKNOWN) for of in (order.start, order.end))
    return (
        table(
            CALLS,
            where.size,
            trace=trace.astype(np.uint32),
            call_index=positions_in(group_offsets(trace, n)),
            name=pc.coalesce(asked["name"], run["name"]),
            malformed=~valid(asked["name"]) & ~valid(run["name"]),
            arguments=arguments,
            arguments_form=form,
            call_id=pc.coalesce(asked["call_id"], run["call_id"]),
            turn=turn,
            agent=agents.take(pa.array(where)),
            depth=depth[where],
            status=pc.if_else(failed, pa.scalar("error", TEXT), run["status"]),
            result=run["output"],
            error=pc.coalesce(run["error"], pc.if_else(alone, asked["error"], pa.scalar(None, TEXT))),
            started_at=times(start),
            duration_ms=durations(start, end),
            kind=pc.coalesce(asked["kind"], run["call_kind"]),
            repair=repair,
        ),
        made,
        tied,
    )


def _owners(wanted: pa.Table, made: _Made) -> I64:
    """int64[calls]: the step of the model that asked for each, -1 for none."""
    step = wanted["step"].to_numpy()
    return np.where(made.ask >= 0, step[made.ask], -1) if step.size else np.full(made.ask.size, -1, np.int64)


def _taken(rows: pa.Table, at: I64, names: Sequence[str]) -> dict[str, pa.Array]:
    """Columns at the rows told, null where the row is -1."""
    index = places(at)
    return {name: one_chunk(rows[name]).take(index) for name in names}


def _arguments(run: dict[str, Any], asked: dict[str, Any], made: _Made) -> tuple[pa.Array, pa.Array, pa.Array]:
    """Arguments, their form and repair: those of the span, or of the request where the span has less."""
    own = numbers(run["arguments_form"], default=ABSENT)
    theirs = numbers(asked["arguments_form"], default=ABSENT)
    usable = (made.ask >= 0) & ((theirs == JSON_VALUE) | (theirs == JSON_STRING))
    less = np.isin(own, (ABSENT, NULL, NOT_CAPTURED, TRUNCATED)) | valid(run["repair"])
    both = np.flatnonzero((made.step >= 0) & usable & ~less)
    less[both[wrapped(run["arguments"].take(pa.array(both)), asked["arguments"].take(pa.array(both)))]] = True
    take = (made.step < 0) | (less & usable)
    which = pa.array(take)
    repair = pc.if_else(pc.or_(which, pc.equal(run["repair"], LOST)), pa.scalar(None, TEXT), run["repair"])
    form = np.where(take, theirs, own).astype(np.uint8)
    return pc.if_else(which, asked["arguments"], run["arguments"]), pa.array(form), repair


def _with_results(calls: pa.Table, made: _Made, order: Order, inputs: Inputs | None, place: I64) -> pa.Table:
    """The calls with the results that models were told, where no span ran them: the first one of the same id."""
    alone = np.flatnonzero((made.step < 0) & valid(calls["call_id"]))
    if inputs is None or not alone.size:
        return calls
    trace = numbers(calls["trace"]).astype(np.int64)
    rows = np.flatnonzero((order.kind == LLM) & np.isin(order.trace, trace[alone]))
    rows = rows[np.argsort(order.rank[rows])]
    original = np.full(order.kind.size, -1, np.int64)
    original[place[::-1]] = np.arange(place.size)[::-1]
    found = told(inputs(original[rows]))
    if not found.row.size:
        return calls
    ids = text_codes(one_chunk(calls["call_id"]).take(pa.array(alone)), found.call_id)
    key = joint_codes(np.concatenate([trace[alone], order.trace[rows[found.row]]]), np.concatenate(ids))
    known, first = np.unique(key[alone.size :], return_index=True)
    at = np.minimum(np.searchsorted(known, key[: alone.size]), known.size - 1)
    hit = (known[at] == key[: alone.size]) & (key[: alone.size] >= 0)
    index = np.full(calls.num_rows, -1, np.int64)
    index[alone[hit]] = first[at[hit]]
    rows_told = places(index)
    for name, values in (("result", found.result), ("status", found.status)):
        column = pc.coalesce(one_chunk(calls[name]), values.take(rows_told))
        calls = calls.set_column(CALLS.get_field_index(name), CALLS.field(name), column)
    return calls


def times(values: I64) -> pa.Array:
    """Nanoseconds as instants in microseconds, null where unknown."""
    return nullable(values // 1000, values == UNKNOWN).cast(TIME)


def durations(start: I64, end: I64) -> pa.Array:
    """Milliseconds between instants, null where one is unknown or they are in the wrong order."""
    unknown = (start == UNKNOWN) | (end == UNKNOWN) | (end < start)
    return nullable(np.where(unknown, 0, end - start) / 1e6, unknown)


def _complete(steps: pa.Table, order: Order, n: int) -> pa.Array:
    root = ~valid(steps["parent_id"])
    rooted = np.bincount(order.trace[root], minlength=n) > 0
    ended = order.end != UNKNOWN
    some = np.bincount(order.trace[ended], minlength=n) > 0
    open_ = np.bincount(order.trace[root & ~ended], minlength=n) > 0
    whole = rooted & ~(open_ & some)
    return pa.array(np.zeros(n, np.bool_), mask=whole)


def _first_agents(order: Order, agents: pa.Array, n: int) -> pa.Array:
    named = np.flatnonzero(valid(agents))
    named = named[np.argsort(-order.rank[named])]
    first = np.full(n, -1, np.int64)
    first[order.trace[named]] = named
    return taken(agents, first) if len(agents) else pa.nulls(n, TEXT)


def _first_starts(order: Order, n: int) -> pa.Array:
    first = np.full(n, np.iinfo(np.int64).max)
    known = order.start != UNKNOWN
    np.minimum.at(first, order.trace[known], order.start[known])
    return times(np.where(first == np.iinfo(np.int64).max, UNKNOWN, first))


def _span_table(steps: pa.Table, order: Order, agents: pa.Array, ran: I64, calls: npt.NDArray[np.int32]) -> pa.Table:
    """The spans by trace and rank; ``ran`` is the step of each call, ``calls`` its index."""
    by_rank = np.argsort(order.rank)
    index = np.full(steps.num_rows, -1, np.int32)
    index[ran[ran >= 0]] = calls[ran >= 0]
    kept = ("parent_id", "name", "model", "status", "input_tokens", "output_tokens", "cost")
    rows = steps.select(["span_id", *kept]).take(pa.array(by_rank))
    start, end = order.start[by_rank], order.end[by_rank]
    name = one_chunk(rows["span_id"])
    if name.null_count:
        name = pc.coalesce(name, pa.array(by_rank).cast(TEXT))
    return table(
        SPANS,
        steps.num_rows,
        trace=order.trace[by_rank].astype(np.uint32),
        span_id=name,
        kind=coded(order.kind[by_rank], KIND_NAMES),
        agent=agents.take(pa.array(by_rank)),
        call_index=nullable(index[by_rank], index[by_rank] < 0),
        started_at=times(start),
        duration_ms=durations(start, end),
        **{each: rows[each] for each in kept},
    )
