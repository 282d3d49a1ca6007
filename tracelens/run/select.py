"""Leaving out the traces of a batch that are not selected, with a count by reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens import columns
from tracelens.columns import TEXT, Batch
from tracelens.kernels.digest import hash_rows
from tracelens.projection import ANYTHING, NULL, OBJECT, Projection, Row, run
from tracelens.run.plan import Plan
from tracelens.selection import ALL, Selection

B1 = npt.NDArray[np.bool_]

UNTIMED = "without a start time"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What was left out of a batch.

    Attributes:
        counts: Traces by reason, the first reason of each.
        cases: int64[left out], their rows of the suite's cases, -1 for none.
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    cases: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))


NOTHING_LEFT_OUT = LeftOut()


def select(batch: Batch, selection: Selection, plan: Plan) -> tuple[Batch, LeftOut]:
    """The selected traces of a batch.

    Rejects, blank records and the digests of the input stay: what cannot be read cannot be left out either.

    Args:
        batch: The batch.
        selection: What to keep.
        plan: Whose cases those of the traces left out are.

    Returns:
        The batch, and what is missing of it.
    """
    keep = np.ones(batch.traces.num_rows, np.bool_)
    counts: dict[str, int] = {}
    for why, good in _conditions(batch.traces, selection):
        lost = keep & ~good
        counts[why] = counts.get(why, 0) + int(np.count_nonzero(lost))
        keep &= good
    if keep.all():
        return batch, NOTHING_LEFT_OUT
    cases = plan.cases.rows_of(batch.traces["case_id"].filter(pa.array(~keep)))
    return batch.keeping(keep), LeftOut(counts, cases)


def _conditions(traces: pa.Table, selection: Selection) -> list[tuple[str, B1]]:
    """What is asked, and which traces meet it, in the order in which reasons count."""
    out: list[tuple[str, B1]] = []
    if selection.since or selection.until:
        out.append((UNTIMED, columns.valid(traces["started_at"])))
        out.append(("by time", _in_time(traces["started_at"], selection)))
    for path, values in selection.where:
        out.append((f"by tag {path}", _tagged(traces["tags"], path, values)))
    if selection.sample != ALL:
        out.append(("by sample", _sampled(traces["trace_id"], selection)))
    return out


def _sampled(ids: pa.ChunkedArray, selection: Selection) -> B1:
    """bool[n]: ids whose hash falls into the share; those of a smaller share are among those of a larger one."""
    packed = columns.texts(ids)
    n = len(ids)
    hi, lo = np.empty(n, np.uint64), np.empty(n, np.uint64)
    hash_rows(packed.data, packed.offsets, np.zeros(n, np.uint64), hi, lo)
    return hi <= np.uint64(int(selection.sample * (1 << 64)) - 1)


def _in_time(started: pa.ChunkedArray, selection: Selection) -> B1:
    good = pa.scalar(True)
    if selection.since is not None:
        good = pc.and_(good, pc.greater_equal(started, pa.scalar(selection.since, columns.TIME)))
    if selection.until is not None:
        good = pc.and_(good, pc.less(started, pa.scalar(selection.until, columns.TIME)))
    return _true(good)


def _tagged(tags: pa.ChunkedArray, path: str, values: tuple[str, ...]) -> B1:
    """bool[n]: tags with one of those texts at a path, or among the elements of the array there."""
    inner = columns.texts(tags)
    quoted = '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'
    paths = [quoted, path] if _is_path(path) else [quoted]
    elements = Row("element", [f"{each}[*]" for each in paths])
    found = run(
        Projection(Row("tags", capture={"value": paths}, rows=[elements])),
        inner.data,
        inner.offsets[:-1].copy(),
        inner.offsets[1:].copy(),
    )
    wanted = pa.array(values, TEXT)
    out = np.zeros(len(tags), np.bool_)
    top = found["tags"]
    here = _true(pc.is_in(top.text("value", NULL, *ANYTHING), wanted)) & top.has("@", OBJECT)
    out[top.parent[here]] = True
    among = _true(pc.is_in(found["element"].text("@", NULL, *ANYTHING), wanted))
    out[top.parent[found["element"].parent[among]]] = True
    return out


def _is_path(text: str) -> bool:
    """Whether a tag's name can also be read as a path into nested objects."""
    return "." in text and not set(text) & set('[]*"\\') and all(text.split("."))


def _true(values: pa.ChunkedArray | pa.Array) -> B1:
    """bool[n]: true; null is not."""
    known = columns.one_chunk(pc.fill_null(values, False))
    return np.asarray(known.to_numpy(zero_copy_only=False), np.bool_)
