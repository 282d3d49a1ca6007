"""What a tool gave back, taken out of the messages that frameworks put around it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import TEXT, places
from tracelens.projection import ANYTHING, NONE, STRING, Projection, Row
from tracelens.sources.backends.steps.model import inside

BODIES = ("", "kwargs.", "data.", "output.", "output.kwargs.", "output.data.")
"""Where LangChain's serialisations keep the members of a tool message, alone or as an ``output``."""


@cache
def shapes() -> Projection:
    """The declaration of a result."""
    names = ("content", "tool_call_id", "status")
    capture = {name: [body + name for body in BODIES] for name in names}
    return Projection(Row("result", capture={**capture, "output": "output"}, rows=[Row("member", ".*")]))


@dataclass(frozen=True, slots=True)
class Results:
    """Results of tools, by row.

    Attributes:
        text: str?[n].
        call_id: str?[n]: the call's id, where a tool message says it.
        status: str?[n]: ok or error, where a tool message says it.
    """

    text: pa.Array
    call_id: pa.Array
    status: pa.Array


def results(given: pa.Array) -> Results:
    """Take results out of tool messages, and out of objects whose only member is ``output``.

    Args:
        given: str?[n], JSON text or plain text.

    Example:
        >>> found = results(pa.array(['{"output": {"content": "4", "tool_call_id": "c", "status": "success"}}', "5"]))
        >>> found.text.to_pylist(), found.call_id.to_pylist(), found.status.to_pylist()
        (['4', '5'], ['c', None], ['ok', None])
    """
    given = given.cast(TEXT)
    found = inside(shapes(), given)
    top = found["result"]
    message = top.has("tool_call_id", STRING) & top.has("content", *ANYTHING)
    members = np.bincount(found["member"].parent, minlength=top.n)
    alone = (members == 0) & top.has("output", *ANYTHING) & top.has("content", NONE) & top.has("tool_call_id", NONE)
    inner = pc.if_else(
        pa.array(message),
        top.text("content", *ANYTHING),
        pc.if_else(pa.array(alone), top.text("output", *ANYTHING), pa.scalar(None, TEXT)),
    )
    plain = top.text("@", STRING)
    status = top.text("status")
    said = pc.if_else(pc.equal(status, "success"), "ok", pc.if_else(pc.equal(status, "error"), "error", None))
    of_message = pa.array(message)
    at = np.full(len(given), -1, np.int64)
    at[top.parent] = np.arange(top.n)
    index = places(at)

    def spread(values: pa.Array) -> pa.Array:
        return values.cast(TEXT).take(index) if top.n else pa.nulls(len(given), TEXT)

    return Results(
        pc.coalesce(spread(pc.coalesce(inner, plain)), given),
        spread(pc.if_else(of_message, top.text("tool_call_id"), pa.scalar(None, TEXT))),
        spread(pc.if_else(of_message, said.cast(TEXT), pa.scalar(None, TEXT))),
    )
