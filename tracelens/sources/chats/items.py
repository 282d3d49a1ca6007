"""Items of the OpenAI Responses API: what each type of item is, for every format that holds them.

An item is a call, a result, a message or something beside. Tools that the provider runs bring their result in the same
item and are calls of kind ``server``, named after their type: ``web_search_call`` is a call of ``web_search``. Free-text
tools are of kind ``custom``. A name in a ``namespace`` is written ``namespace.name``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import FREE_TEXT, JSON_VALUE, NOT_CAPTURED, TEXT
from tracelens.projection import ANYTHING, FALSE, NONE, NULL, NUMBER, OBJECT, STRING, Found, Row
from tracelens.sources.chats.messages import wrapped
from tracelens.sources.talk import (
    BESIDE,
    CALL,
    HEARD,
    I64,
    RESULT,
    SAID,
    SERVED,
    THOUGHT,
    U8,
    Mask,
    Told,
    chosen,
    contents,
    is_in,
    spread,
)

ASKING = ("function_call", "custom_tool_call", "computer_call", "local_shell_call", "shell_call", "apply_patch_call")
"""Types of calls that the caller answers in another item."""

SERVER = (
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "mcp_call",
    "program",
    "tool_search_call",
)
"""Types of calls that bring their result, or have one that nobody sees."""

APPROVAL = "mcp_approval_request"

ITEM: Mapping[str, str | tuple[str, ...]] = {
    "type": "type",
    "id": "id",
    "call_id": "call_id",
    "name": "name",
    "namespace": "namespace",
    "arguments": "arguments",
    "input": "input",
    "action": ("action", "operation"),
    "queries": "queries",
    "code": "code",
    "output": ("output", "outputs", "results"),
    "error": "error",
    "status": "status",
    "tools": "tools",
    "role": "role",
    "content": "content",
    "request": "approval_request_id",
    "approve": "approve",
}


def item_row(
    name: str,
    at: str | tuple[str, ...],
    /,
    *more: Row,
    within: str | tuple[str, ...] = "",
    **capture: str | Sequence[str],
) -> Row:
    """The tables of items: their message pieces, the pieces of an output, and tables of the format's own.

    Args:
        name: Name of the items' table.
        at: Where they stand.
        *more: More tables inside.
        within: Path to the item below such a place, with a dot behind it; of several, the first one is that of the
            columns, and pieces stand at all of them.
        **capture: More columns.
    """
    all_within = (within,) if isinstance(within, str) else within
    pieces = [
        Row("said", tuple(f"{one}content[*]" for one in all_within), {"text": "text"}),
        Row("given", tuple(f"{one}output[*]" for one in all_within), {"text": "text"}),
    ]
    first = all_within[0]
    item = {key: [first + one for one in ([path] if isinstance(path, str) else path)] for key, path in ITEM.items()}
    return Row(name, at, {**item, **capture}, [*pieces, *more])


def item_kinds(item: Found) -> U8:
    """uint8[items]: the kind of unit that each item is."""
    kind = item.text("type")
    out = np.full(item.n, BESIDE, np.uint8)
    message = is_in(kind, "message") | (~item.has("role", NONE, NULL) & item.has("type", NONE, NULL))
    speaks = is_in(item.text("role"), "assistant")
    out[message] = np.where(speaks[message], SAID, HEARD)
    out[is_in(kind, "reasoning")] = THOUGHT
    out[is_in(kind, *ASKING)] = CALL
    out[is_in(kind, *SERVER)] = SERVED
    ends = pc.or_(pc.ends_with(kind, "_output"), pc.equal(kind, "mcp_approval_response"))
    out[np.asarray(pc.fill_null(ends, False).to_numpy(zero_copy_only=False), np.bool_)] = RESULT
    asked = is_in(kind, APPROVAL)
    if asked.any():  # the call that was approved comes again as an mcp_call
        done = is_in(item.text("id"), *item.text("request").drop_null().to_pylist())
        refused = item.text("request").filter(pa.array(item.has("approve", FALSE))).to_pylist()
        out[asked & (~done | is_in(item.text("id"), *refused))] = CALL
    return out


def told_by_items(item: Found, said: Found, given: Found, rows_of: Callable[[I64], I64]) -> Told:
    """How items are read.

    Args:
        item: The items.
        said: Pieces of messages.
        given: Pieces of outputs.
        rows_of: The items of some units.
    """

    def answers(units: I64) -> dict[str, Any]:
        rows = rows_of(units)
        mine = item.taken(rows)
        refused = mine.has("approve", FALSE)
        status = pc.coalesce(chosen(refused, "denied"), _statuses(mine, done=False))
        ids = pc.coalesce(mine.text("call_id", STRING, NUMBER), mine.text("request"), mine.text("id"))
        return {
            "call_id": ids,
            "name": pa.nulls(rows.size, TEXT),
            "result": contents(item, given, rows, "output"),
            "status": status,
        }

    return Told(
        lambda rows: call_columns(item, given, rows), answers, lambda units: contents(item, said, rows_of(units))
    )


def call_columns(item: Found, given: Found, rows: I64) -> dict[str, Any]:
    """Columns of `tracelens.columns.CALLS` of the items at those rows."""
    mine = item.taken(rows)
    kind = mine.text("type")
    served = is_in(kind, *SERVER, APPROVAL)
    free = is_in(kind, "custom_tool_call")
    arguments, form = _arguments(mine, free)
    own = ~mine.has("output", NONE, NULL) & served
    result = pa.nulls(rows.size, TEXT)
    if own.any():
        result = spread(contents(item, given, rows[own], "output"), own)
    name = _names(mine, kind)
    return {
        "name": name,
        "malformed": np.asarray(pc.is_null(name).to_numpy(zero_copy_only=False), np.bool_),
        "arguments": arguments,
        "arguments_form": form,
        "call_id": pc.coalesce(mine.text("call_id", STRING, NUMBER), mine.text("id")),
        "kind": pc.coalesce(chosen(served, "server"), chosen(free, "custom")),
        "result": result,
        "status": pc.if_else(pa.array(served), _statuses(mine, done=True), pa.scalar(None, TEXT)),
        "error": mine.text("error", *ANYTHING),
    }


def _names(mine: Found, kind: pa.Array) -> pa.Array:
    """The tool of each call: its name, or its type where it has none."""
    name = mine.text("name")
    spaced = mine.has("namespace", STRING)
    if spaced.any():
        space = mine.text("namespace")
        ready = pc.match_substring_regex(space, r"[._/:]$")
        whole = pc.if_else(
            ready,
            pc.binary_join_element_wise(space, name, pa.scalar("", TEXT)),
            pc.binary_join_element_wise(space, name, pa.scalar(".", TEXT)),
        )
        name = pc.coalesce(whole, name)
    own = is_in(kind, "function_call", "custom_tool_call", "mcp_call", APPROVAL)
    if own.all():
        return name
    return pc.if_else(pa.array(own), name, pc.replace_substring_regex(kind, r"_call$", ""))


def _arguments(mine: Found, free: Mask) -> tuple[pa.Array, npt.NDArray[np.uint8]]:
    """Arguments of calls, in whatever member their type keeps them; none is not the same as empty."""
    arguments, form = mine.arguments("arguments")
    form = np.where(mine.has("arguments", NONE, NULL), np.uint8(NOT_CAPTURED), form).astype(np.uint8)
    if free.any():
        arguments = pc.if_else(pa.array(free), mine.text("input", *ANYTHING), arguments)
        form[free & ~mine.has("input", NONE, NULL)] = FREE_TEXT
    others = {
        "action": mine.has("action", OBJECT),
        "queries": ~mine.has("queries", NONE, NULL),
        "code": mine.has("code", STRING),
    }
    for name, held in others.items():
        there = held & (form == NOT_CAPTURED)
        if there.any():
            text = mine.json(name) if name == "action" else wrapped(name, mine.json(name))
            arguments = pc.if_else(pa.array(there), text, arguments)
            form[there] = JSON_VALUE
    return arguments, form


def _statuses(mine: Found, *, done: bool) -> pa.Array:
    """What items say about success: an error, or ``status``; of an answer that says nothing it is not known."""
    status = mine.text("status")
    failed = ~mine.has("error", NONE, NULL) | is_in(status, "failed", "incomplete")
    good = chosen(is_in(status, "completed"), "ok") if done else pa.nulls(mine.n, TEXT)
    return pc.coalesce(chosen(failed, "error"), good)
