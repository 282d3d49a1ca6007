"""The order of spans, and which calls were asked for together."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import numbers, one_chunk
from tracelens.sources.backends.steps.model import AGENT, I64, UNKNOWN, Mask, instants, taken, text_codes
from tracelens.sources.backends.steps.tree import levels, nearest, parents


@dataclass(frozen=True, slots=True)
class Order:
    """The spans of a block as numbers.

    Attributes:
        trace: int64[n].
        kind: uint8[n], see `tracelens.sources.backends.steps.model`.
        parent: int64[n], row of the parent, -1 for none.
        start: int64[n], nanoseconds, `UNKNOWN` where not recorded.
        end: int64[n].
        rank: int64[n]: place of each span among all of the block, by trace.
        second: bool[n]: tool spans that record another's call again.
    """

    trace: I64
    kind: npt.NDArray[np.uint8]
    parent: I64
    start: I64
    end: I64
    rank: I64
    second: Mask = field(default_factory=lambda: np.zeros(0, np.bool_))

    def nearest(self, wanted: Mask) -> I64:
        """The nearest ancestor of each span that is wanted, -1 for none."""
        return nearest(self.parent, wanted)

    def depth(self, tool: Mask, second: Mask) -> npt.NDArray[np.int32]:
        """int32[n]: how many tool calls are around each span."""
        around = nearest(self.parent, tool & ~second)
        return levels(around)

    def agents(self, steps: pa.Table) -> pa.Array:
        """str?[n]: the agent of each span: its own word, or the name of the nearest agent around it."""
        own = one_chunk(steps["agent"])
        agent = self.kind == AGENT
        if not agent.any():
            return own
        above = nearest(self.parent, agent)
        names = pc.if_else(pa.array(agent), pc.coalesce(own, one_chunk(steps["name"])), own)
        return pc.coalesce(names, taken(names, above))


def order_of(steps: pa.Table) -> Order:
    """Put spans in order: by start, a parent before its children, then by end, then as they stand in the file.

    A span without a start counts as starting with the nearest span around it that has one.

    Args:
        steps: See `tracelens.sources.backends.steps.model.STEPS`.
    """
    trace = steps["trace"].to_numpy()
    parent = parents(trace, steps["span_id"], steps["parent_id"])
    start, end = instants(steps["start"]), instants(steps["end"])
    known = start != UNKNOWN
    since = start
    if not known.all():
        above = nearest(parent, known)
        since = np.where(known, start, np.where(above >= 0, start[above], UNKNOWN))
    by = np.lexsort((end, levels(parent), since, trace)) if known.any() else np.argsort(trace, kind="stable")
    rank = np.empty(trace.size, np.int64)
    rank[by] = np.arange(trace.size)
    return Order(trace, numbers(steps["kind"]).copy(), parent, start, end, rank)


def groups_of(order: Order, steps: pa.Table, ran: I64, owner: I64, trace: I64) -> tuple[npt.NDArray[np.int32], I64]:
    """The turn of each call, from 0 in each trace, and the calls whose place the file alone gave.

    Calls of one turn were asked for together: by one model span; by a group that the format names; or, where nothing
    says who asked, because they ran at the same time under the same parent.

    Args:
        order: The spans.
        steps: See `tracelens.sources.backends.steps.model.STEPS`.
        ran: int64[calls]: span of each call in order, -1 for none.
        owner: int64[calls]: model span that asked for it, -1 for none.
        trace: int64[calls], ascending.
    """
    n = ran.size
    if not n:
        return np.zeros(0, np.int32), np.zeros(0, np.int64)
    known = (ran >= 0) & (owner < 0)
    start = np.where(known, order.start[ran], UNKNOWN)
    parent = np.where(known, order.parent[ran], -2)
    (group,) = text_codes(taken(steps["group"], ran))
    same = np.zeros(n, np.bool_)
    same[1:] = (trace[1:] == trace[:-1]) & known[1:] & known[:-1] & (parent[1:] == parent[:-1])
    grouped = (group >= 0) & known
    tied = same.copy()
    tied[1:] &= (start[1:] == start[:-1]) & (start[1:] != UNKNOWN)
    until = _running_ends(same, np.where(known, order.end[ran], UNKNOWN))
    together = same & (start != UNKNOWN)
    together[1:] &= ~(grouped[1:] | grouped[:-1]) & (tied[1:] | (start[1:] < until[:-1]))
    together[1:] |= (trace[1:] == trace[:-1]) & (owner[1:] == owner[:-1]) & (owner[1:] >= 0)
    together[1:] |= (trace[1:] == trace[:-1]) & grouped[1:] & grouped[:-1] & (group[1:] == group[:-1])
    turn = np.cumsum(~together)
    first = np.ones(n, np.bool_)
    first[1:] = trace[1:] != trace[:-1]
    base = np.maximum.accumulate(np.where(first, turn, 0))
    return (turn - base).astype(np.int32), np.flatnonzero(tied)


def _running_ends(same: Mask, end: I64) -> I64:
    """int64[n]: the latest end so far in each run of rows that are the same as the row before."""
    ends, rank = np.unique(end, return_inverse=True)
    run = np.cumsum(~same)
    latest = np.maximum.accumulate(run * ends.size + rank)
    return np.asarray(ends[latest - run * ends.size], np.int64)
