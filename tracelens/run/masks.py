"""Secrets out of every stored text.

Whatever column holds text is looked at, by its type: a new column is covered by itself. Matching, joining and checking
see the true values; masks are the last thing that happens to a table.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import TEXT, numbers, one_chunk, texts
from tracelens.kernels.reference.paths import parse_path, render_path
from tracelens.run.expected import Expected
from tracelens.run.plan import Plan
from tracelens.run.pool import Pool
from tracelens.run.rows import places_of
from tracelens.rungs.safety import mask
from tracelens.rungs.safety.plan import SECRETS
from tracelens.rungs.safety.scan import mask_named, mask_rows, mask_series, named_secrets, secrets_in

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]

EARLY = {"findings": ("path", "message", "value"), "argument_diffs": ("path", "actual", "expected")}
"""Columns of which reasons are made: `masked_findings` and `masked_differences` mask them before that."""

MAY_HOLD_TEXT = frozenset(
    kind.id
    for kind in (
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.dictionary(pa.int32(), pa.string()),
        pa.list_(pa.string()),
        pa.large_list(pa.string()),
    )
)
"""Kinds of columns that are looked at."""

LEAVES = ("actual", "expected")
"""Columns of `argument_diffs` that hold the value at a path."""


def masked_findings(findings: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    """Findings without secrets in the texts of which reasons are made."""
    if not plan.safety.masks:
        return findings
    return findings.with_columns(
        _masked_paths(findings["path"]), mask_series(findings["message"]), mask_series(findings["value"])
    )


def masked_differences(table: pa.Table, plan: Plan) -> pa.Table:
    """Rows of `argument_diffs` without secrets; the name of one may stand in the path, its value beside it."""
    if not plan.safety.masks:
        return table
    new = {"path": _masked_column(table["path"], is_path=True)}
    paths = one_chunk(table["path"])
    paths = paths if pa.types.is_dictionary(paths.type) else paths.dictionary_encode()
    named = named_secrets(pl.Series(paths.dictionary))
    rows = np.flatnonzero(np.isin(numbers(paths.indices), named)) if named.size else named
    for name in LEAVES:
        suspects = secrets_in(texts(table[name]))
        if suspects.size or rows.size:
            shown = mask_rows(pl.Series(table[name]), suspects)
            new[name] = mask_named(shown, rows, paths.take(pa.array(rows)).to_pylist()).to_arrow()
    return pa.table({name: new.get(name, table[name]) for name in table.column_names})


def suspect_arguments(marks: U64, pool: Pool, expected: Expected) -> dict[str, I64]:
    """The rows of `calls` and of `expected` whose arguments may hold a secret.

    Args:
        marks: What safety has seen in the arguments, see `Pool.marks`.
        pool: The arguments.
        expected: The expected calls.
    """
    suspect = np.append(marks >> np.uint64(SECRETS) & np.uint64(1), np.uint64(0)).astype(np.bool_)
    _, _, row = places_of(expected)
    of_row = np.append(pool.expected.row, suspect.size - 1)[row]
    return {"calls": np.flatnonzero(suspect[pool.actual.row]), "expected": np.flatnonzero(suspect[of_row])}


def masked_tables(tables: dict[str, pa.Table], suspects: Mapping[str, I64], plan: Plan) -> dict[str, pa.Table]:
    """Tables as they may be stored: no text column holds a secret, where the suite asks for that.

    Args:
        tables: Rows by table; the columns of `EARLY` are masked already.
        suspects: By table, the only rows whose ``arguments`` may hold a secret, where that is known.
        plan: The compiled suite.

    Returns:
        The tables; columns in which nothing is masked are not copied.
    """
    if not plan.safety.masks:
        return tables
    return {
        name: masked_table(table, skip=EARLY.get(name, ()), suspects=suspects.get(name))
        for name, table in tables.items()
    }


def masked_table(table: pa.Table, *, skip: tuple[str, ...] = (), suspects: I64 | None = None) -> pa.Table:
    """A table of which every text column and every list of texts is masked.

    Args:
        table: Any table.
        skip: Columns to leave alone.
        suspects: int64, the only rows whose ``arguments`` may hold a secret, where that is known.
    """
    for at, field in enumerate(table.schema):
        if field.type.id not in MAY_HOLD_TEXT or field.name in skip:
            continue
        column = table.column(at)
        if suspects is not None and field.name == "arguments":
            new = _masked_text(column, suspects)
        else:
            new = _masked_column(column, is_path=field.name == "path")
        if new is not column:
            table = table.set_column(at, pa.field(field.name, new.type, field.nullable), new)
    return table


def masked_rows(frame: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    """Rows of any table as they may be stored."""
    return pl.DataFrame(masked_table(frame.to_arrow())) if plan.safety.masks else frame


def masked_texts(texts: pa.Array | pa.ChunkedArray, plan: Plan) -> pa.Array | pa.ChunkedArray:
    """Texts masked where the suite asks for that; the same ones where nothing is masked."""
    return _masked_column(texts) if plan.safety.masks else texts


def _masked_column(column: pa.ChunkedArray, *, is_path: bool = False) -> pa.ChunkedArray:
    """The column masked; the same one if it holds no text, or no secret."""
    kind = column.type
    if column.null_count == len(column):
        return column
    if pa.types.is_dictionary(kind):
        # only what it may hold is looked at; a column that changes becomes plain, as two texts may get one mask
        parts = [chunk.dictionary for chunk in getattr(column, "chunks", [column])]
        if all(_masked_column(part, is_path=is_path) is part for part in parts):
            return column
        column = column.cast(TEXT)
        kind = TEXT
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _masked_lists(column)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return _masked_text(column, secrets_in(texts(column)), is_path=is_path)
    return column


def _masked_text(column: pa.ChunkedArray, suspects: I64, *, is_path: bool = False) -> pa.ChunkedArray:
    """Texts masked of which only some may hold a secret."""
    if not suspects.size:
        return column
    series = pl.Series(column, dtype=pl.String)
    shown = _masked_paths(series) if is_path else mask_rows(series, suspects)
    return column if shown is series else pa.chunked_array([shown.to_arrow().cast(TEXT)])


def _masked_lists(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Lists of texts, none of them null."""
    values = pc.list_flatten(column)
    shown = _masked_column(values)
    if shown is values:
        return column
    sizes = pc.fill_null(pc.list_value_length(column), 0).to_numpy()
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    return pa.chunked_array([pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), one_chunk(shown))])


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
