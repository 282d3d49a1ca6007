"""Frames of findings, as every rung returns them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from tracelens.tables import polars_schema

FINDING_SCHEMA = polars_schema("batch_findings")
"""Columns of findings inside a batch; see the table `batch_findings`."""

_NO_CALL = 2**31 - 1
"""Behind every call of a trace."""

NO_FINDINGS = FINDING_SCHEMA.to_frame()
"""Findings without rows."""


def finding_frame(columns: Mapping[str, Any], n: int | None = None, schema: pl.Schema = FINDING_SCHEMA) -> pl.DataFrame:
    """Findings from some of their columns; the others are null.

    Args:
        columns: Values by column name: lists or series of one length, or constants.
        n: Number of rows; None: the length of the first of the schema's columns.
        schema: Columns of the frame.

    Example:
        >>> finding_frame({"trace": [3], "code": "tool.unknown", "rung": 1}).row(0, named=True)["code"]
        'tool.unknown'
    """
    height = len(columns[next(iter(schema))]) if n is None else n
    series = []
    for name, dtype in schema.items():
        value = columns.get(name)
        if isinstance(value, pl.Series):
            series.append((value if value.dtype == dtype else value.cast(dtype)).alias(name))
        elif isinstance(value, list):
            series.append(pl.Series(name, value, dtype=dtype))
        else:
            series.append(pl.Series(name, [value], dtype=dtype).new_from_index(0, height))
    return pl.DataFrame(series)


def concat_findings(parts: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """Findings of several sources as one frame, by trace and call; those about whole traces follow its calls.

    Args:
        parts: Frames with the columns of findings.
    """
    found = [part for part in parts if part.height]
    if not found:
        return NO_FINDINGS
    place = np.concatenate([_places(part) for part in found])
    whole = pl.concat(found) if len(found) > 1 else found[0]
    return whole if (place[1:] >= place[:-1]).all() else whole[np.argsort(place, kind="stable")]


def _places(found: pl.DataFrame) -> npt.NDArray[np.int64]:
    """int64[n], a number by which findings are sorted: by trace, then by call, those without a call at the end."""
    trace, call = found["trace"], found["call_index"].cast(pl.Int64).fill_null(_NO_CALL)
    return np.asarray(trace.to_numpy().astype(np.int64) << 31 | call.to_numpy())
