"""Dates and date-times in their usual shape, many at once.

Gives the same canonical texts as the plain-Python rules where it gives one; whatever has another shape (an escape,
no seconds, a leap second, white space around it, no date of the calendar) is left to them.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

_SHAPE = (
    r'^"(?<date>[0-9]{4}-[0-9]{2}-[0-9]{2})(?:[Tt ](?<clock>(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9])'
    r"(?:\.(?<fraction>[0-9]+))?(?<zone>[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])?)?\"$"
)


def _parts(texts: Sequence[str]) -> pl.DataFrame:
    """The parts of each JSON text, null where it has another shape; ``day`` is null where there is no such date."""
    frame = pl.DataFrame({"text": pl.Series(texts, dtype=pl.String)})
    return frame.select(pl.col("text").str.extract_groups(_SHAPE).struct.unnest()).with_columns(
        day=pl.when(pl.col("date").str.slice(0, 4) != "0000").then(
            pl.col("date").str.to_date("%Y-%m-%d", strict=False, exact=True)
        )
    )


def canonical_dates(texts: Sequence[str]) -> list[str | None]:
    """Canonical texts of JSON texts under the rule ``date``.

    Args:
        texts: JSON texts.

    Returns:
        ``"2026-11-02"`` with its quotes; None where the plain-Python rule has to decide.

    Example:
        >>> canonical_dates(['"2026-11-02T23:00:00-08:00"', '"2026-02-30"', '"soon"'])
        ['"2026-11-02"', None, None]
    """
    found = pl.when(pl.col("day").is_not_null()).then(pl.format('"{}"', "date"))
    return _parts(texts).select(found).to_series().to_list()


def canonical_instants(texts: Sequence[str], tag: str) -> list[str | None]:
    """Canonical texts of JSON texts under the rule ``datetime``.

    Args:
        texts: JSON texts.
        tag: What stands before an instant.

    Returns:
        The tag and ``2026-11-02T09:00:00Z`` (without ``Z`` for a naive time); None where the plain-Python rule has to
        decide.

    Example:
        >>> canonical_instants(['"2026-11-02 10:00:00.50+01:00"', '"2026-11-02"', "5"], "t:")
        ['t:2026-11-02T09:00:00.5Z', None, None]
    """
    clock, zone = pl.col("clock"), pl.col("zone")
    aware = zone.is_not_null()
    minutes = zone.str.slice(1, 2).cast(pl.Int64, strict=False) * 60 + zone.str.slice(4, 2).cast(pl.Int64, strict=False)
    east = pl.when(zone.str.starts_with("-")).then(-minutes).otherwise(minutes).fill_null(0)
    local = pl.col("day").cast(pl.Datetime("us")) + pl.duration(
        hours=clock.str.slice(0, 2).cast(pl.Int64),
        minutes=clock.str.slice(3, 2).cast(pl.Int64),
        seconds=clock.str.slice(6, 2).cast(pl.Int64),
    )
    moment = pl.col("moment")
    fraction = pl.col("fraction").str.strip_chars_end("0")
    text = pl.concat_str(
        pl.lit(tag),
        moment.dt.strftime("%Y-%m-%dT%H:%M:%S"),
        pl.when(fraction != "").then(pl.concat_str(pl.lit("."), fraction)).otherwise(pl.lit("")),
        pl.when(aware).then(pl.lit("Z")).otherwise(pl.lit("")),
    )
    found = _parts(texts).with_columns(moment=local - pl.duration(minutes=east))
    return found.select(pl.when(moment.dt.year().is_between(1, 9999)).then(text)).to_series().to_list()
