"""What is done to the calls of every format alike, after its source has read them.

Calls of a dispatcher tool (``Dispatcher.handle`` with the real call inside its arguments) become the real call, by a
rule that the suite declares: a tool may well have an argument called ``tool_name``, so nothing is unwrapped by guess.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import (
    CALLS,
    JSON_STRING,
    JSON_VALUE,
    MASKED,
    TEXT,
    Batch,
    numbers,
    one_chunk,
    texts,
)
from tracelens.projection import STRING, Found, Projection, Row, run


class Wrapper(Protocol):
    """Where a dispatcher's arguments hold the real call: two paths."""

    @property
    def name(self) -> str:
        """Path of the real tool's name."""

    @property
    def arguments(self) -> str:
        """Path of the real arguments."""


def flatten(batch: Batch, wrappers: Mapping[str, Wrapper]) -> Batch:
    """The batch with the calls of dispatcher tools unwrapped.

    A call whose arguments do not hold a name at the path stays as it is, and a note says so.

    Args:
        batch: As a source made it.
        wrappers: Rules by the dispatcher's name, as recorded.

    Returns:
        A batch whose ``calls.wrapper`` has the dispatcher's name where a call was unwrapped.
    """
    for dispatcher, rule in wrappers.items():
        batch = _unwrapped(batch, dispatcher, rule)
    return batch


def _unwrapped(batch: Batch, dispatcher: str, rule: Wrapper) -> Batch:
    calls = batch.calls
    form = numbers(calls["arguments_form"])
    named = numbers(pc.fill_null(pc.equal(calls["name"], dispatcher), False))
    rows = np.flatnonzero(named & ((form == JSON_VALUE) | (form == JSON_STRING) | (form == MASKED)))
    found = _inside(one_chunk(calls["arguments"]).take(pa.array(rows)), rule)
    good = found.has("name", STRING)
    notes = batch.notes
    if int(good.sum()) < int(named.sum()):
        notes = (*notes, f"some calls of {dispatcher} hold no tool name at {rule.name} and stay as they are")
    arguments, inner = found.arguments("arguments")
    inner = np.where(form[rows[found.parent]] == MASKED, np.uint8(MASKED), inner)
    made = {
        "name": found.text("name"),
        "arguments": arguments,
        "arguments_form": pa.array(inner),
        "wrapper": pa.repeat(pa.scalar(dispatcher, TEXT), found.n),
    }
    at = rows[found.parent[good]]
    for name, values in made.items():
        calls = _set(calls, name, at, values.filter(pa.array(good)))
    return replace(batch, calls=calls, notes=notes)


def _inside(arguments: pa.Array, rule: Wrapper) -> Found:
    """The name and the arguments inside a dispatcher's arguments; texts that are no JSON give no row."""
    inner = texts(arguments)
    wanted = Projection(Row("call", capture={"name": rule.name, "arguments": rule.arguments}))
    return run(wanted, inner.data, inner.offsets[:-1].copy(), inner.offsets[1:].copy())["call"]


def _set(calls: pa.Table, name: str, rows: npt.NDArray[np.int64], values: pa.Array) -> pa.Table:
    """The table with one column's values replaced in some rows."""
    pick = np.arange(calls.num_rows)
    pick[rows] = calls.num_rows + np.arange(rows.size)
    both = pa.concat_arrays([one_chunk(calls[name]), values.cast(CALLS.field(name).type)])
    return calls.set_column(CALLS.get_field_index(name), CALLS.field(name), both.take(pa.array(pick)))
