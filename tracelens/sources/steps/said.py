"""What the root of a trace gave back, as text: a final answer where no model said it last."""

from __future__ import annotations

from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import TEXT, texts, valid
from tracelens.projection import STRING, Projection, Row, run

NAMES = ("output", "answer", "content", "text", "response", "result", "final_output", "raw")
"""Members that an application may give its answer in."""

MESSAGE = {"content": ("content", "kwargs.content", "data.content")}


@cache
def shapes() -> Projection:
    """The declaration of what a root may give back."""
    lists = ("messages[*]", "output.messages[*]")
    return Projection(Row("root", capture={"text": NAMES}, rows=[Row("message", lists, MESSAGE)]))


def root_texts(given: pa.Array) -> pa.Array:
    """The text of each output: its last message, a member that holds the answer, a JSON string, or plain text.

    Args:
        given: str?[n], JSON text or plain text.

    Example:
        >>> outputs = pa.array(['{"messages": [{"content": "a"}, {"content": "b"}]}', '"c"', "d", '{"x": 1}'], TEXT)
        >>> root_texts(outputs).to_pylist()
        ['b', 'c', 'd', None]
    """
    n = len(given)
    if not n:
        return given
    whole = texts(given)
    found = run(shapes(), whole.data, whole.offsets[:-1].copy(), whole.offsets[1:].copy())
    root, message = found["root"], found["message"]
    content = message.text("content")
    there = np.flatnonzero(valid(content) & (pc.binary_length(content).fill_null(0).to_numpy() > 0))
    last = np.full(root.n, -1, np.int64)
    last[message.parent[there]] = there
    said = content.take(pa.array(np.where(last < 0, 0, last), mask=last < 0)) if message.n else pa.nulls(root.n, TEXT)
    inner = pc.coalesce(said, root.text("text"), root.text("@", STRING))
    at = np.full(n, -1, np.int64)
    at[root.parent] = np.arange(root.n)
    read = inner.take(pa.array(np.where(at < 0, 0, at), mask=at < 0)) if root.n else pa.nulls(n, TEXT)
    broken = pa.array(found.errors[:, 0] > 0)
    plain = pc.if_else(broken, given, pa.scalar(None, TEXT))
    return pc.coalesce(read, pc.if_else(pc.equal(plain, ""), pa.scalar(None, TEXT), plain))
