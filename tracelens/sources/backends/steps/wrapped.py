"""Arguments that a tracer put inside an object of its own."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa

from tracelens.sources.backends.steps.model import I64

SPACES = r"[ \n\r\t]+"


def wrapped(recorded: pa.Array, asked: pa.Array) -> I64:
    """Which recorded arguments hold what was asked for as one of their values.

    Args:
        recorded: str?[n], arguments as a span has them.
        asked: str?[n], arguments as the model gave them.

    Example:
        >>> outer = pa.array(['{"input": {"city": "Oslo"}}', '{"city": "Oslo"}', '{"a": 1, "b": 2}'])
        >>> wrapped(outer, pa.array(['{"city":"Oslo"}', '{"city":"Oslo"}', '{"a": 1}'])).tolist()
        [0]
    """
    frame = pl.DataFrame({"outer": pl.from_arrow(recorded), "inner": pl.from_arrow(asked)}).with_columns(
        pl.all().cast(pl.String).str.replace_all(SPACES, "")
    )
    outer, inner = pl.col("outer"), pl.col("inner")
    hit = (
        inner.str.starts_with("{")
        & (inner != "{}")
        & (outer.str.len_bytes() > inner.str.len_bytes())
        & outer.str.contains(inner, literal=True)
    )
    return np.flatnonzero(frame.select(hit.fill_null(False)).to_series().to_numpy()).astype(np.int64)
