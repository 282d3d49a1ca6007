"""What lies behind a missed threshold, as sentences: missing calls, extra calls, arguments that differ."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from tracelens import columns
from tracelens.kernels.loops import first_equal
from tracelens.kernels.pairing import EXTRA, MALFORMED, MISSING
from tracelens.run.calls import Calls, digested
from tracelens.run.matching import Forms
from tracelens.run.names import NameCodes
from tracelens.run.rows import Placed
from tracelens.rungs.routing import FAILURES

B1 = npt.NDArray[np.bool_]
I64 = npt.NDArray[np.int64]

LAST = 2**30
"""Place of what has none among the calls of its trace."""

SHOWN = 60
"""Characters of a value that a sentence shows."""

BETWEEN = {
    "differs": " is ",
    "missing": " is missing",
    "unexpected": " = ",
    "not_compared": ": arguments could not be compared",
}
BEHIND = {"differs": ", expected ", "missing": ", expected ", "unexpected": " was not expected", "not_compared": ""}


def pair_details(
    held: Placed, differences: pa.Table, calls: Calls, forms: Forms, codes: NameCodes, wanted: B1
) -> pl.DataFrame:
    """A sentence per defect of the optimal pairing.

    Args:
        held: The rows of that pairing.
        differences: Its rows of `argument_diffs`, with ``trace``.
        calls: All calls.
        forms: The same, digested.
        codes: Their names.
        wanted: bool[traces], traces whose defects are asked for.

    Returns:
        A frame of `FAILURES`, rung 2, by trace and call.
    """
    status, asked = held.pairs.status, wanted[held.trace]
    extra, malformed, missing = (np.flatnonzero(asked & (status == each)) for each in (EXTRA, MALFORMED, MISSING))
    tool = pl.Series([*codes.names, "a call without a name"], dtype=pl.String)
    parts = [
        _sentences(held, extra, held.call_index, _extra(held, extra, calls, forms, tool)),
        _sentences(held, malformed, held.call_index, pl.format("call {}: malformed entry", "at")),
        _sentences(held, missing, held.expected_index, _missing(tool.gather(held.tool[missing])), LAST),
        _differing(differences, wanted),
    ]
    every = pl.concat(parts).sort("place", maintain_order=True)
    return every.select("trace", pl.lit(2, pl.Int8).alias("rung"), "text").cast(FAILURES)


def _sentences(
    held: Placed, rows: I64, at: npt.NDArray[np.int32], text: pl.Expr, place: int | None = None
) -> pl.DataFrame:
    """``trace, text, place`` of some pairs; the text may name the call, ``at``."""
    frame = pl.DataFrame({"trace": held.trace[rows].astype(np.uint32), "at": at[rows]})
    return frame.select("trace", text.alias("text"), _place(pl.col("at") if place is None else pl.lit(place)))


def _place(call: pl.Expr) -> pl.Expr:
    """Trace and call as one number to sort by."""
    return (pl.col("trace").cast(pl.Int64) * 2**31 + call.cast(pl.Int64)).alias("place")


def _missing(tool: pl.Series) -> pl.Expr:
    return pl.format("expected call {}: {} was not made", "at", pl.lit(tool))


def _extra(held: Placed, rows: I64, calls: Calls, forms: Forms, tool: pl.Series) -> pl.Expr:
    """Sentences about calls that were not expected; some repeat an earlier one."""
    row = held.actual_row[rows]
    first = _first_equal(calls, forms)[row] if rows.size else row
    earlier = pl.Series(calls.index[first])
    name = pl.lit(tool.gather(held.tool[rows]))
    again = pl.format(" repeats call {} and", pl.lit(earlier))
    said = pl.when(pl.lit(pl.Series(first < row))).then(again).otherwise(pl.lit(""))
    return pl.format("call {}: {}{} was not expected", "at", name, said)


def _first_equal(calls: Calls, forms: Forms) -> I64:
    """int64 by call: the first call of its trace with the same tool and arguments, itself where there is none."""
    name = np.where(digested(forms.arguments), calls.names.code, -1).astype(np.int64)
    out = np.empty(name.size, np.int64)
    offsets = columns.group_offsets(calls.trace, int(calls.trace[-1]) + 1)
    first_equal(offsets, name, forms.hi, forms.lo, out)
    return out


def _differing(table: pa.Table, wanted: B1) -> pl.DataFrame:
    """``trace, text, place`` of the arguments that differ."""
    frame = pl.DataFrame(table.select(["trace", "call_index", "tool", "path", "status", "actual", "expected"]))
    status = frame["status"].cast(pl.String)
    amiss = status.is_in(list(BETWEEN)) & ((status != "not_compared") | frame["actual"].is_not_null())
    rows = pl.Series(wanted[frame["trace"].to_numpy()]) & amiss
    frame, status = frame.filter(rows), status.filter(rows)
    sent = pl.when(status.is_in(["differs", "unexpected"])).then("actual").otherwise(pl.lit(""))
    due = pl.when(status.is_in(["differs", "missing"])).then("expected").otherwise(pl.lit(""))
    between, behind = (pl.lit(status.replace_strict(each, return_dtype=pl.String)) for each in (BETWEEN, BEHIND))
    dot = pl.when(pl.col("path") == "").then(pl.lit("")).otherwise(pl.lit("."))
    frame = frame.with_columns(
        _short(frame["actual"]), _short(frame["expected"]), pl.col("tool", "path").cast(pl.String)
    )
    text = pl.format("call {}: {}{}{}{}{}{}{}", "call_index", "tool", dot, "path", between, sent, behind, due)
    return frame.select("trace", text.alias("text"), _place(pl.col("call_index")))


def _short(values: pl.Series) -> pl.Series:
    """Canonical values, shortened for a sentence."""
    long = (values.str.len_chars() > SHOWN).fill_null(value=False)
    if not long.any():
        return values
    rows = long.arg_true()
    return values.scatter(rows, values.gather(rows).str.head(SHOWN - 3) + "...")
