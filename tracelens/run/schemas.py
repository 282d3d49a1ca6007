"""Rung one of a batch: the arguments of both sides against the schemas of their tools, equal ones once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from tracelens import columns
from tracelens.columns import Batch, coded, numbered
from tracelens.run.calls import Calls
from tracelens.run.expected import Expected
from tracelens.run.hold import hold
from tracelens.run.names import NameCodes, Names
from tracelens.run.plan import Plan
from tracelens.run.pool import Pool
from tracelens.run.wanted import refusals, wanted_of
from tracelens.rungs.facts import CallFacts, Numbered
from tracelens.rungs.findings import finding_frame
from tracelens.rungs.schema.catalogue import UNKNOWN
from tracelens.rungs.schema.check import STATES

I32 = npt.NDArray[np.int32]
U8 = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Schemas:
    """What rung one says.

    Attributes:
        state: uint8[calls], ``schema_state`` of each actual call.
        stored: The same as it is stored.
        findings: Findings about actual calls.
        expected: The columns of `expected` that say which expected calls the schemas refuse.
    """

    state: U8
    stored: pa.DictionaryArray
    findings: pl.DataFrame
    expected: dict[str, pa.Array]


def check_schemas(
    batch: Batch,
    calls: Calls,
    expected: tuple[Expected, Names],
    pool: Pool,
    facts: CallFacts,
    codes: NameCodes,
    plan: Plan,
) -> Schemas:
    """Hold every call, and every expected one, against the schema of its tool.

    Args:
        batch: The batch.
        calls: Its calls.
        expected: Its references, and the names of their calls.
        pool: The arguments of both.
        facts: What is known of the actual calls.
        codes: Names of the tools.
        plan: The compiled suite.
    """
    catalogue, n = plan.catalogue, len(calls.arguments)
    of_trace, texts = _definitions(batch)
    definitions = None if of_trace is None else of_trace[calls.trace]
    of_call = catalogue.assign((facts.tool, facts.names), _agents(batch, calls), definitions, texts)
    wanted = wanted_of(batch, expected, pool, codes, (of_trace, texts), catalogue)
    # What a format writes as JSON text is decoded once; more than that is the sender's doing, and worth a note.
    prescribed = (pool.form == columns.JSON_STRING).astype(np.uint8)
    rows = np.concatenate([calls.arguments.row, wanted.row[wanted.plain]])
    asked = np.concatenate([of_call, wanted.asked[wanted.plain]])
    tools = pool.tools if (asked == UNKNOWN).any() else None
    state, found = hold(pool.arguments, rows, asked, catalogue, tools, prescribed)
    mine = int(found["call"].search_sorted(n))
    refused = refusals(wanted, state[n:], found[mine:].with_columns(pl.col("call") - n), pool, catalogue)
    return Schemas(state[:n], coded(state[:n], STATES), by_call(found[:mine], facts), refused)


def _definitions(batch: Batch) -> tuple[I32 | None, list[str]]:
    """The number of each trace's recorded definitions, -1 for none, and their texts; None where no trace has any."""
    tools = batch.traces["tools"]
    if tools.null_count == len(tools):
        return None, []
    return numbered(tools)


def _agents(batch: Batch, calls: Calls) -> Numbered | None:
    """The agent of each call, that of its trace where it has none of its own; None where nobody has one."""
    of_call, of_trace = batch.calls["agent"], batch.traces["agent"]
    if of_call.null_count == len(of_call) and of_trace.null_count == len(of_trace):
        return None
    return numbered(pc.coalesce(of_call, columns.one_chunk(of_trace).take(pa.array(calls.trace))))


def by_call(found: pl.DataFrame, facts: CallFacts) -> pl.DataFrame:
    """Findings that name rows of calls, as findings of a batch."""
    told = {name: found[name] for name in ("severity", "code", "path", "message", "value")}
    return finding_frame({**facts.at(found["call"].to_numpy()), "rung": 1, **told})
