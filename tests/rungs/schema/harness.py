"""Running the fast path and the reference on the same instances."""

from collections import Counter
from typing import Any

import numpy as np
import polars as pl

from tracelens.kernels import check
from tracelens.kernels.reference.paths import render_path
from tracelens.kernels.shred import shred
from tracelens.rungs.schema.compile import Compiler
from tracelens.rungs.schema.engine import Engine
from tracelens.rungs.schema.render import code_of, findings
from tracelens.rungs.schema.truth import CompiledSchema, validate

Errors = Counter[tuple[str, str, str]]


def slow(schema: CompiledSchema, text: str) -> Errors:
    """Code, path and message of every error, by the reference."""
    return Counter((code_of(each.keyword), render_path(each.path), each.message) for each in validate(schema, text))


def fast(pairs: list[tuple[CompiledSchema, str]]) -> list[Errors | None]:
    """The same by the kernel; None where it does not decide."""
    compiler = Compiler()
    roots: dict[int, int] = {}
    for schema, _ in pairs:
        if id(schema) not in roots:
            roots[id(schema)] = compiler.add(schema)
    compiled = compiler.builder.finish()
    data, first, last = packed([text for _, text in pairs])
    read = shred(data, first, last)
    assert not read.error.any()
    nodes = np.array([roots[id(schema)] for schema, _ in pairs], np.int64)
    outcome = Engine(compiled).run(data, read.tape, np.arange(len(pairs)), nodes)
    frame = findings(outcome.events, compiled.templates, data, read.tape)
    out: list[Errors | None] = [None if state == check.ODD else Counter() for state in outcome.state]
    for call, code, path, message in frame.select("call", "code", "path", "message").iter_rows():
        found = out[call]
        assert found is not None
        found[code, path, message] += 1
    for row, found in enumerate(out):
        assert found is None or (outcome.state[row] == check.INVALID) == bool(found)
    return out


def packed(texts: list[str]) -> tuple[Any, Any, Any]:
    """Texts back to back with padding, and where each begins and ends."""
    raw = [text.encode() for text in texts]
    offsets = np.cumsum([0, *map(len, raw)])
    return np.frombuffer(b"".join(raw) + bytes(64), np.uint8).copy(), offsets[:-1], offsets[1:]


def rows(frame: pl.DataFrame, *columns: str) -> list[Any]:
    """The rows of some columns, or the values of one."""
    return frame[columns[0]].to_list() if len(columns) == 1 else frame.select(columns).rows()
