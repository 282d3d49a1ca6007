"""What the root of a trace gave back, as text: a final answer where no model said it last."""

from __future__ import annotations

from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import TEXT, places, valid
from tracelens.projection import STRING, Projection, Row
from tracelens.sources.backends.steps.model import inside, taken

NAMES = ("output", "answer", "content", "text", "response", "result", "final_output", "raw")
"""Members that an application may give its answer in."""

NESTED = 4
"""How many times text may be JSON inside of JSON."""

MESSAGE = {"content": ("content", "kwargs.content", "data.content")}


@cache
def shapes() -> Projection:
    """The declaration of what a root may give back."""
    lists = ("messages[*]", "output.messages[*]")
    return Projection(Row("root", capture={"text": NAMES}, rows=[Row("message", lists, MESSAGE)]))


def root_texts(given: pa.Array) -> pa.Array:
    r"""The text of each output: its last message, a member that holds the answer, or plain text.

    JSON text inside a JSON string is read again, as backends write it that keep outputs as text.

    Args:
        given: str?[n], JSON text or plain text.

    Example:
        >>> outputs = [
        ...     '{"messages": [{"content": "a"}, {"content": "b"}]}',
        ...     '"{\\"answer\\": \\"c\\"}"',
        ...     "d",
        ...     '{"x": 1}',
        ... ]
        >>> root_texts(pa.array(outputs, TEXT)).to_pylist()
        ['b', 'c', 'd', None]
    """
    out = pa.nulls(len(given), TEXT)
    for _ in range(NESTED):
        if given.null_count == len(given):
            break
        found, given = _read(given)
        out = pc.coalesce(out, found)
    return out


def _read(given: pa.Array) -> tuple[pa.Array, pa.Array]:
    """The texts found, and what stands in JSON strings."""
    n = len(given)
    found = inside(shapes(), given)
    root, message = found["root"], found["message"]
    content = message.text("content")
    there = np.flatnonzero(valid(content) & (pc.binary_length(content).fill_null(0).to_numpy() > 0))
    last = np.full(root.n, -1, np.int64)
    last[message.parent[there]] = there
    said = taken(content, last) if message.n else pa.nulls(root.n, TEXT)
    inner = pc.coalesce(said, root.text("text"))
    at = np.full(n, -1, np.int64)
    at[root.parent] = np.arange(root.n)
    index = places(at)
    read = inner.take(index) if root.n else pa.nulls(n, TEXT)
    again = root.text("@", STRING).take(index) if root.n else pa.nulls(n, TEXT)
    plain = pc.if_else(pa.array(found.errors[:, 0] > 0), given, pa.scalar(None, TEXT))
    return pc.coalesce(read, pc.if_else(pc.equal(plain, ""), pa.scalar(None, TEXT), plain)), again
