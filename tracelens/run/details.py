"""What lies behind a missed threshold, as sentences: missing calls, extra calls, arguments that differ."""

from __future__ import annotations

import polars as pl

from tracelens.rungs.routing import FAILURES


def pair_details(pairs: pl.DataFrame, differences: pl.DataFrame, calls: pl.DataFrame) -> pl.DataFrame:
    """A sentence per defect of the optimal pairing.

    Args:
        pairs: Rows of `pairs` of the optimal pairing, with ``trace``.
        differences: Rows of `argument_diffs` of the same, with ``trace``.
        calls: All calls, with ``trace``, ``call_index``, ``tool`` and digests.

    Returns:
        A frame of `FAILURES`, rung 2, by trace and call.
    """
    extra = pairs.filter(pl.col("status") == "extra")
    repeats = _repeats(calls, extra.select("trace").unique())
    extra = extra.join(repeats, on=["trace", "call_index"], how="left", maintain_order="left")
    again = pl.format("call {}: {} repeats call {} and was not expected", "call_index", _tool(), "earlier")
    once = pl.format("call {}: {} was not expected", "call_index", _tool())
    missing = pairs.filter(pl.col("status") == "missing")
    malformed = pairs.filter(pl.col("status") == "malformed")
    parts = [
        _sentences(extra, pl.coalesce(again, once), pl.col("call_index")),
        _sentences(malformed, pl.format("call {}: malformed entry", "call_index"), pl.col("call_index")),
        _sentences(missing, pl.format("expected call {}: {} was not made", "expected_index", _tool()), pl.lit(2**30)),
        _sentences(differences, _difference(), pl.col("call_index")),
    ]
    every = pl.concat(parts).sort("trace", "place", maintain_order=True)
    return every.select("trace", pl.lit(2, pl.Int8).alias("rung"), "text").cast(dict(FAILURES))


def _sentences(rows: pl.DataFrame, text: pl.Expr, place: pl.Expr) -> pl.DataFrame:
    return rows.select(pl.col("trace").cast(pl.UInt32), text.alias("text"), place.cast(pl.Int64).alias("place")).filter(
        pl.col("text").is_not_null()
    )


def _tool() -> pl.Expr:
    return pl.col("tool").fill_null("a call without a name")


def _difference() -> pl.Expr:
    """The sentence for a row of argument differences; null where nothing is amiss."""
    place = pl.when(pl.col("path") == "").then(pl.format("{}", _tool())).otherwise(pl.format("{}.{}", _tool(), "path"))
    head = pl.format("call {}: {}", "call_index", place)
    sent, wanted = _short("actual"), _short("expected")
    status = pl.col("status")
    return (
        pl.when(status == "differs")
        .then(pl.format("{} is {}, expected {}", head, sent, wanted))
        .when(status == "missing")
        .then(pl.format("{} is missing, expected {}", head, wanted))
        .when(status == "unexpected")
        .then(pl.format("{} = {} was not expected", head, sent))
        .when((status == "not_compared") & pl.col("actual").is_not_null())
        .then(pl.format("{}: arguments could not be compared", head))
    )


def _short(name: str) -> pl.Expr:
    """A canonical value, shortened for a sentence."""
    value = pl.col(name)
    return pl.when(value.str.len_chars() > 60).then(value.str.head(57) + "...").otherwise(value)


def _repeats(calls: pl.DataFrame, traces: pl.DataFrame) -> pl.DataFrame:
    """Calls that repeat an earlier one of their trace (same tool, same arguments), with the first such call."""
    key = ["trace", "tool", "digest_hi", "digest_lo"]
    known = calls.join(traces, on="trace", how="semi").filter(
        pl.col("tool").is_not_null() & pl.col("digest_hi").is_not_null()
    )
    first = known.group_by(key).agg(pl.col("call_index").min().alias("earlier"))
    return (
        known.select(*key, "call_index")
        .join(first, on=key, how="inner")
        .filter(pl.col("earlier") < pl.col("call_index"))
        .select("trace", "call_index", "earlier")
    )
