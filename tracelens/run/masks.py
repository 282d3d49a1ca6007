"""Secrets out of every stored text."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import polars as pl
import pyarrow as pa

from tracelens.kernels.reference.paths import parse_path, render_path
from tracelens.run.plan import Plan
from tracelens.rungs.safety import mask
from tracelens.rungs.safety.scan import mask_leaves, mask_series

TEXTS: Mapping[str, tuple[str, ...]] = {
    "traces": ("final_answer", "tags", "tools"),
    "calls": ("arguments", "result", "error"),
    "expected": ("arguments",),
    "findings": ("path", "message", "value"),
    "state_results": ("reason", "observed", "expected"),
    "rejects": ("text", "reason"),
}
"""Columns in which free text may hold a secret."""

LEAVES = ("actual", "expected")
"""Columns of `argument_diffs` that hold the value of a path."""


def masked(name: str, frame: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    """A frame with secrets masked, where the suite asks for that.

    Args:
        name: The table it belongs to.
        frame: The frame.
        plan: The compiled suite.
    """
    return frame.with_columns(_masked(name, frame.get_column, plan))


def masked_table(name: str, table: pa.Table, plan: Plan) -> pa.Table:
    """As `masked`, for an Arrow table; texts of which nothing is masked are not copied."""
    changed = {
        series.name: series.to_arrow()
        for series in _masked(name, lambda column: pl.Series(column, table[column]), plan)
    }
    return pa.table({column: changed.get(column, table[column]) for column in table.column_names}) if changed else table


def _masked(name: str, column: Callable[[str], pl.Series], plan: Plan) -> list[pl.Series]:
    """The columns in which something was masked."""
    if not plan.safety.masks:
        return []
    if name == "argument_diffs":
        paths = column("path").cast(pl.String)
        pairs = [(text, mask_leaves(paths, text)) for text in map(column, LEAVES)]
        pairs.append((paths, _masked_paths(paths)))
    else:
        given = [text for text in map(column, TEXTS[name]) if text.dtype == pl.String]
        pairs = [(text, _masked_paths(text) if text.name == "path" else mask_series(text)) for text in given]
    return [after for before, after in pairs if after is not before]


def _masked_paths(paths: pl.Series) -> pl.Series:
    """Paths without secrets: a key may be one. The same series where there is none."""
    distinct = paths.unique()
    shown = mask_series(distinct)
    if shown is distinct:
        return paths
    changed = distinct.filter(shown != distinct).to_list()
    new = [
        render_path([mask(part) if isinstance(part, str) else part for part in parse_path(path)]) for path in changed
    ]
    return paths.replace(changed, new)
