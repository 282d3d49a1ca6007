"""OpenAI Responses: a response or a list of items a record, or what an agent's run returned.

Items stand in ``output``, ``input``, ``items``, in ``raw_responses`` of a run, or are the record itself, a list; input
comes before output, wherever a record has it. See `tracelens.sources.chats.items` for what each type of item is. A turn is
what the model says until it is told something; an item of a provider's own tool ends a turn. Calls that join a message
as ``tool_calls`` are read as those of chat messages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import TEXT
from tracelens.projection import ARRAY, NUMBER, STRING, Found, Projected, Projection, Row
from tracelens.sources.chats.items import APPROVAL, ASKING, SERVER, item_kinds, item_row, told_by_items
from tracelens.sources.chats.messages import MessageSource, Reading, Steps, epoch, record_row, wrapped
from tracelens.sources.oddities import Oddities
from tracelens.sources.talk import CALL, I64, Stream, Told, is_in, read_stream

SHOWN = {*ASKING, *SERVER, APPROVAL, "function_call_output", "reasoning"}


class Responses(MessageSource):
    """OpenAI Responses items."""

    name = "responses"
    title = "OpenAI Responses: a response or a list of items a line"
    sample = "responses.jsonl"
    holders: ClassVar[tuple[str, ...]] = ("output", "input", "items", "raw_responses")
    also_called: ClassVar[Mapping[str, Sequence[str]]] = {
        "programmatic_tool_calling": ("program",),
        r"web_search_\w+": ("web_search",),
        r"computer\w*_use\w*": ("computer",),
    }
    whose: ClassVar[str] = "a record must be a response, an object with items, or a list of items"
    projection = Projection(
        record_row(
            item_row(
                "item",
                ("output[*]", "input[*]", "items[*]", "[*]", "raw_responses[*].output[*]"),
                Row(
                    "call",
                    "tool_calls[*]",
                    {"call_id": "id", "name": "function.name", "arguments": "function.arguments"},
                ),
            ),
            Row(
                "response",
                "raw_responses[*]",
                {"input_tokens": "usage.input_tokens", "output_tokens": "usage.output_tokens"},
            ),
            output="output",
            input="input",
            items="items",
            raw_responses="raw_responses",
            model="model",
            created="created_at",
            final="final_output",
        )
    )

    def is_message(self, item: Mapping[str, Any]) -> str:
        """An item of a type that only this format has, a message of such a list, or a whole response."""
        kind = item.get("type")
        if item.get("object") == "response" and "output" in item:
            return "a record is a response with output items"
        if isinstance(kind, str) and kind in SHOWN and "payload" not in item:
            return f"items have the type {kind}"
        parts = item.get("content")
        kinds = (
            {str(part.get("type")) for part in parts if isinstance(part, dict)} if isinstance(parts, list) else set()
        )
        found = sorted(kinds & {"output_text", "input_text"})
        return f"messages have parts of type {found[0]}" if found and "role" in item else ""

    def messages_of(self, record: Any) -> list[Any]:
        """The items of a record, and the record itself where it is a response."""
        found = list(super().messages_of(record))
        if isinstance(record, dict):
            for run in record.get("raw_responses") or ():
                found += run.get("output") or () if isinstance(run, dict) else ()
            found.append(record)
        return found

    def reading(self, found: Projected, odd: Oddities) -> Reading:  # noqa: ARG002  nothing is odd here
        """What the conversations hold."""
        line, item, said, given = (found[name] for name in ("line", "item", "said", "given"))
        stream = _stream(found)
        told = told_by_items(item, said, given, lambda units: stream.row[units])
        talk = read_stream(stream, _with_joined(told, found["call"], item.n), line.n)
        columns = {"final_answer": pc.coalesce(line.text("final"), talk.final_answer), "tools": _tools(found)}
        columns["started_at"] = epoch(line.float("created"), 1)
        return Reading(talk.calls, columns["final_answer"], _steps(found, stream), columns)


def _stream(found: Projected) -> Stream:
    """The items in the order of the conversation, and the calls that join a message behind it."""
    line, item, response, call = (found[name] for name in ("line", "item", "response", "call"))
    trace, start = item.parent.astype(np.int64), item.cells("@").start
    after = np.zeros(item.n, np.bool_)
    if (line.has("input", ARRAY) & line.has("output", ARRAY)).any():  # the order of members of an object means nothing
        cell = line.cells("output")
        after = (start > cell.start[trace]) & (start < cell.end[trace])
    run = np.searchsorted(response.cells("@").start, start, side="right") - 1
    inside = run >= 0
    if response.n:
        inside[inside] = start[inside] < response.cells("@").end[run[inside]]
    run = np.where(inside, run, -1)
    row = np.concatenate([np.arange(item.n), item.n + np.arange(call.n)])
    host = np.concatenate([np.arange(item.n), call.parent])
    kind = np.concatenate([item_kinds(item), np.full(call.n, CALL, np.uint8)])
    order = np.lexsort((row, host, after[host], trace[host]))
    host = host[order]
    changes = np.ones(host.size, np.bool_)
    changes[1:] = (trace[host][1:] != trace[host][:-1]) | (run[host][1:] != run[host][:-1])
    return Stream(trace[host], np.cumsum(changes), kind[order], row[order])


def _with_joined(told: Told, call: Found, n: int) -> Told:
    """The same where calls may also be entries of a message's ``tool_calls``, numbered behind the items."""
    if not call.n:
        return told

    def asks(rows: I64) -> dict[str, Any]:
        own = rows >= n
        items = told.asks(rows[~own])
        mine = call.taken(rows[own] - n)
        arguments, form = mine.arguments("arguments")
        entries = {
            "name": mine.text("name"),
            "malformed": ~mine.has("name", STRING),
            "arguments": arguments,
            "arguments_form": form,
            "call_id": mine.text("call_id", STRING, NUMBER),
        }
        order = np.argsort(np.argsort(own, kind="stable"), kind="stable")
        parts = [pa.table(dict(items)), pa.table({name: entries.get(name, pa.nulls(mine.n, TEXT)) for name in items})]
        both = pa.concat_tables(parts).take(pa.array(order)).combine_chunks()
        return {name: both[name].chunk(0) for name in both.column_names}

    return Told(asks, told.answers, told.says)


def _tools(found: Projected) -> pa.Array:
    """Tool definitions of each record, those that servers listed in its items included."""
    line, item = found["line"], found["item"]
    tools = line.text("tools", ARRAY)
    listed = np.flatnonzero(is_in(item.text("type"), "mcp_list_tools") & item.has("tools", ARRAY))
    if not listed.size:
        return tools
    every = wrapped("tools", pa.concat_arrays([tools, item.taken(listed).text("tools", ARRAY)]))
    of_trace = np.concatenate([np.arange(line.n), item.parent[listed]])
    order = np.argsort(of_trace, kind="stable")
    order = order[every.take(pa.array(order)).is_valid().to_numpy(zero_copy_only=False)]
    counts = np.bincount(of_trace[order], minlength=line.n)
    lists = pa.LargeListArray.from_arrays(np.concatenate([[0], np.cumsum(counts)]), every.take(pa.array(order)))
    joined = pc.binary_join_element_wise(
        pa.scalar("[", TEXT), pc.binary_join(lists, pa.scalar(", ", TEXT)), pa.scalar("]", TEXT), pa.scalar("", TEXT)
    )
    return pc.if_else(pa.array(np.bincount(item.parent[listed], minlength=line.n) > 0), joined, tools)


def _steps(found: Projected, stream: Stream) -> Steps:
    """The calls of the language model: the responses, or the stretches in which the model spoke."""
    line, response = found["line"], found["response"]
    rounds = stream.rounds()
    counts = np.bincount(rounds, minlength=line.n)
    runs = np.bincount(response.parent, minlength=line.n)
    trace = np.repeat(np.arange(line.n), np.where(runs > 0, runs, counts))
    known = line.has("output_tokens", NUMBER)
    if not known.any() and not response.n:
        return Steps(trace)
    columns: dict[str, Any] = {"model": line.taken(trace).text("model")}
    for name in ("input_tokens", "output_tokens"):
        alone = pc.if_else(pa.array(counts == 1), line.integer(name), pa.scalar(None, pa.int64())).take(pa.array(trace))
        of_runs = np.full(trace.size, -1, np.int64)
        of_runs[runs[trace] > 0] = np.arange(response.n)
        columns[name] = pc.coalesce(response.integer(name).take(pa.array(of_runs, mask=of_runs < 0)), alone)
    return Steps(trace, columns)
