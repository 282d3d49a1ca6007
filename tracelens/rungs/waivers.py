"""Waivers: known failures that must not block a gate until a day.

Whether a waiver still holds depends on the day a gate is read, never on the day of scoring: the tables only say until
when, so that scoring the same input again gives the same bytes.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from tracelens.suite.blocks import Waiver

_DAY = dt.timedelta(days=1)


def waive(findings: pl.DataFrame, cases: pl.DataFrame, waivers: Iterable[Waiver]) -> pl.DataFrame:
    """Mark the findings that a waiver covers.

    Args:
        findings: One row per finding, with ``code`` and a key column that `cases` has too (``trace`` or
            ``trace_id``).
        cases: That key and ``case_id``, one row per trace.
        waivers: The suite's; of several for one case and code the latest counts.

    Returns:
        The findings in the same order, with ``waived_until`` (date: the first day on which the finding counts again,
        which is the day after the waiver's last) and ``waive_reason``; both null where nothing is waived.

    Example:
        >>> from tracelens.suite.blocks import Waiver
        >>> known = Waiver(case_id="c", code="tool.unknown", until=dt.date(2026, 12, 31), reason="under way")
        >>> found = pl.DataFrame({"trace": [0], "code": ["tool.unknown"]})
        >>> waive(found, pl.DataFrame({"trace": [0], "case_id": ["c"]}), [known])["waived_until"].to_list()
        [datetime.date(2027, 1, 1)]
    """
    latest = {(each.case_id, each.code): each for each in sorted(waivers, key=lambda each: each.until)}
    table = pl.DataFrame(
        {
            "case_id": [case for case, _ in latest],
            "code": [code for _, code in latest],
            "waived_until": [each.until + _DAY for each in latest.values()],
            "waive_reason": [each.reason for each in latest.values()],
        },
        schema={"case_id": pl.String, "code": pl.String, "waived_until": pl.Date, "waive_reason": pl.String},
    )
    key = "trace" if "trace" in findings.columns else "trace_id"
    by_case = findings.join(cases.select(key, "case_id"), on=key, how="left", maintain_order="left")
    return by_case.join(table, on=["case_id", "code"], how="left", maintain_order="left").drop("case_id")


def waived_traces(findings: pl.DataFrame) -> pl.DataFrame:
    """Traces all of whose errors are waived.

    Args:
        findings: What `waive` returned.

    Returns:
        One row per such trace: its key and ``waived_until``, the first day on which one of its errors counts again.
        A trace with an error that no waiver covers, or without any error, has no row.
    """
    key = "trace" if "trace" in findings.columns else "trace_id"
    errors = findings.filter((pl.col("severity") == "error") & pl.col(key).is_not_null())
    grouped = errors.group_by(key, maintain_order=True).agg(
        pl.col("waived_until").min(), pl.col("waived_until").is_null().any().alias("open")
    )
    return grouped.filter(~pl.col("open")).select(key, "waived_until").sort(key)
