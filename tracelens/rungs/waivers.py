"""Waivers: known failures that must not block a gate for a while. They change no score and no route.

Whether a waiver still holds depends on the day a gate is read, never on the day of scoring: tables only say from when
a finding counts again, so that scoring the same input later gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta
from fnmatch import fnmatchcase
from typing import Protocol

import numpy as np
import polars as pl
import pyarrow as pa

from tracelens.columns import nullable
from tracelens.rungs.facts import nothing

_NEVER = np.iinfo(np.int32).max
"""A day after all others."""


class WaiverLike(Protocol):
    """A waiver of the suite."""

    @property
    def case_id(self) -> str | None:
        """The case; None for all cases and for traces without one."""

    @property
    def code(self) -> str:
        """Code of the findings, or a pattern (``*``, ``?``)."""

    @property
    def until(self) -> date:
        """Last day of the waiver."""

    @property
    def reason(self) -> str:
        """Why."""


def apply_waivers(findings: pl.DataFrame, traces: pl.DataFrame, waivers: Iterable[WaiverLike]) -> pl.DataFrame:
    """Findings with the waiver that covers them, whatever today's date is.

    Args:
        findings: Rows with ``code`` and a key of traces: ``trace`` inside a batch, ``trace_id`` in a run.
        traces: One row per trace: the same key, ``case_id`` str?.
        waivers: The waivers of the suite.

    Returns:
        The same rows in the same order with ``waived_until`` date? (the first day on which the finding counts again:
        the day after the waiver's last) and ``waive_reason`` str?. Of several waivers the one that lasts longest
        counts, then the first.

    Example:
        >>> from types import SimpleNamespace
        >>> found = pl.DataFrame(
        ...     {"trace": [0], "code": ["schema.type"]}, schema={"trace": pl.UInt32, "code": pl.String}
        ... )
        >>> cases = pl.DataFrame({"trace": [0], "case_id": ["c"]}, schema={"trace": pl.UInt32, "case_id": pl.String})
        >>> waiver = SimpleNamespace(case_id="c", code="schema.*", until=date(2026, 12, 31), reason="known")
        >>> apply_waivers(found, cases, [waiver]).row(0)[2:]
        (datetime.date(2027, 1, 1), 'known')
    """
    until = nothing("waived_until", pl.Date, findings.height)
    reason = nothing("waive_reason", pl.String, findings.height)
    given = sorted(enumerate(waivers), key=lambda pair: (-pair[1].until.toordinal(), pair[0]))
    if not given:
        return findings.with_columns(until, reason)
    key = _key(findings)
    cases = findings.select(key).join(traces.select(key, "case_id"), on=key, how="left", maintain_order="left")
    codes = findings["code"].unique().to_list()
    for _, waiver in reversed(given):
        covered = findings["code"].is_in([code for code in codes if fnmatchcase(code, waiver.code)])
        if waiver.case_id is not None:
            covered &= (cases["case_id"] == waiver.case_id).fill_null(value=False)
        until = (
            pl.Series([waiver.until + timedelta(days=1)], dtype=pl.Date)
            .new_from_index(0, len(until))
            .zip_with(covered, until)
        )
        reason = pl.Series([waiver.reason], dtype=pl.String).new_from_index(0, len(until)).zip_with(covered, reason)
    return findings.with_columns(until.alias("waived_until"), reason.alias("waive_reason"))


def waived_until(findings: pl.DataFrame, n: int) -> pa.Array:
    """Until when all that a trace did wrong is waived.

    Args:
        findings: What `apply_waivers` returned inside a batch, with ``severity``.
        n: Number of traces.

    Returns:
        date?[traces], the first day on which one of a trace's errors counts again; null for a trace with an error that
        no waiver covers, or without any error.
    """
    if findings["waived_until"].null_count() == findings.height:
        return pa.nulls(n, pa.date32())
    errors = findings.filter(pl.col("severity") == "error")
    trace, covered = errors["trace"].to_numpy(), errors["waived_until"].is_not_null().to_numpy()
    day = np.full(n, _NEVER, np.int32)
    np.minimum.at(day, trace[covered], errors["waived_until"].drop_nulls().to_physical().to_numpy())
    counts = day == _NEVER
    counts[trace[~covered]] = True
    return nullable(day, counts).cast(pa.date32())


def _key(findings: pl.DataFrame) -> str:
    return "trace" if "trace" in findings.columns else "trace_id"
