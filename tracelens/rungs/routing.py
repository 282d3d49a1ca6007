"""Rung five: each trace's route, with every reason.

Failures and gaps arrive as rows, whatever found them; this module only decides. A failure sends a
trace to triage; a gap (something needed that was not evaluated) makes it unscored; what is left has passed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from tracelens import columns
from tracelens.columns import Texts, coded, nullable
from tracelens.groups import offsets_of
from tracelens.rungs.findings import concat_findings, finding_frame
from tracelens.rungs.sentences import sentences, together

B1 = npt.NDArray[np.bool_]
I64 = npt.NDArray[np.int64]


class Failures(NamedTuple):
    """What failed, one row per sentence about a trace.

    Attributes:
        trace: int64[n].
        rung: int8[n], the rung it belongs to (1 to 4).
        text: A sentence per row, no two of a trace equal.
        place: int64[n], below 2**31: order among what has the same trace and rung; equal ones stand as they are given.
    """

    trace: I64
    rung: npt.NDArray[np.int8]
    text: Texts
    place: I64


class Gap(NamedTuple):
    """Something that was needed and not evaluated.

    Attributes:
        trace: int64, the traces.
        rung: The rung it belongs to (1 to 4).
        reason: A short reason.
    """

    trace: I64
    rung: int
    reason: str


ROUTES = ("triage", "unscored", "judge", "settled")
TRIAGE, UNSCORED, JUDGE, SETTLED = range(4)

_NONE = 127
"""Above every rung."""

RUNG_OF_SCORE: Mapping[str, int] = {
    **dict.fromkeys(
        (
            "strict",
            "unordered",
            "subset",
            "superset",
            "subset_partial",
            "superset_partial",
            "exact_order",
            "in_order",
            "any_order",
            "precision",
            "recall",
            "f1",
            "lcs",
            "golden_score",
        ),
        3,
    ),
    **dict.fromkeys(("accuracy_positional", "accuracy_best_unused", "accuracy_optimal", "accuracy_graded"), 4),
}
"""Which rung a threshold on a score belongs to; thresholds on pair counts belong to rung two."""

DEFAULT_THRESHOLDS: Mapping[str, float] = {"accuracy_optimal": 1.0}
"""What a trace with a reference needs where the suite sets no thresholds."""


@dataclass(frozen=True, slots=True)
class Routing:
    """What the suite says about routing.

    Attributes:
        thresholds: Least value by score; None = the suite has no such table.
        require_reference: Whether a trace without a reference is unscored.
        state_decides: Whether passed state checks replace rungs two to four.
        has_questions: Whether passed traces go to the judge.
    """

    thresholds: Mapping[str, float] | None = None
    require_reference: bool = False
    state_decides: bool = False
    has_questions: bool = False

    @property
    def effective(self) -> Mapping[str, float]:
        """The thresholds that apply to a trace with a reference."""
        return DEFAULT_THRESHOLDS if self.thresholds is None else self.thresholds


def check_thresholds(traces: pa.Table, routing: Routing) -> tuple[pl.DataFrame, list[Gap]]:
    """Hold the scores of traces against the thresholds.

    Args:
        traces: One row per trace: ``n_expected`` (null without a reference), ``null_reason``, ``state_ok`` and a
            column per thresholded score.
        routing: The suite's thresholds.

    Returns:
        Findings ``threshold.<score>``, one for every score below its threshold (none where a passed state check decides
        instead), and gaps (a needed score that is null).

    Example:
        >>> scores = {"n_expected": [2, 2], "null_reason": [None, None], "state_ok": [None, None], "f1": [1.0, 0.5]}
        >>> check_thresholds(pa.table(scores), Routing({"f1": 0.8}))[0].row(0, named=True)["message"]
        'f1 is 0.5, below 0.8'
    """
    has_reference = columns.valid(traces["n_expected"])
    decided = routing.state_decides & columns.numbers(traces["state_ok"].cast(pa.bool_()), default=False)
    findings, gaps = [], list[Gap]()
    for name, least in sorted(routing.effective.items()):
        rung = RUNG_OF_SCORE.get(name, 4 if "__" in name else 2)
        score = traces[name].cast(pa.float64())
        below = columns.numbers(score, default=np.nan) < least
        findings.append(_below(score, np.flatnonzero(below & ~decided), name, least, rung))
        gaps += _null_scores(has_reference & ~columns.valid(score), traces["null_reason"], rung, f"{name}_null")
    if routing.require_reference:
        gaps += _null_scores(~has_reference, traces["null_reason"], 3, "no_reference")
    return concat_findings(findings), gaps


def _below(score: pa.ChunkedArray, rows: I64, name: str, least: float, rung: int) -> pl.DataFrame:
    """A finding for every score below its threshold."""
    value = pl.Series(score).gather(rows).round(4).cast(pl.String)
    message = pl.select(pl.format("{} is {}, below {}", pl.lit(name), value, pl.lit(f"{least:g}"))).to_series()
    told = {"severity": "error", "code": f"threshold.{name}", "message": message, "value": value}
    return finding_frame({"trace": pl.Series(rows), "rung": rung, **told})


def _null_scores(null: B1, reasons: pa.ChunkedArray, rung: int, otherwise: str) -> list[Gap]:
    """The gaps of traces without a score, by reason."""
    if not null.any():
        return []
    code, known = columns.numbered(reasons)
    said = [*enumerate(known), (-1, otherwise)]
    return [Gap(np.flatnonzero(null & (code == number)), rung, reason) for number, reason in said]


def decide(
    traces: pa.Table,
    failures: Sequence[Failures],
    details: Callable[[B1], Sequence[Failures]],
    gaps: Sequence[Gap],
    routing: Routing,
) -> dict[str, pa.Array]:
    """Give each trace its route.

    Args:
        traces: One row per trace: ``state_ok`` (null where no state check decided).
        failures: Every error finding; at least one lot, perhaps without rows.
        details: Given bool[traces], says what lies behind missed thresholds of those traces, as failures: missing,
            extra and differing calls. It is asked for traces that failed a rung from two to four; its answers stand
            among the reasons and fail nothing by themselves.
        gaps: What was needed and not evaluated.
        routing: The suite's say.

    Returns:
        Columns of `traces`: ``route``, ``passed``, ``failed_rung``, ``reasons``, ``unscored_reason``.

    Example:
        >>> traces = pa.table({"state_ok": pa.array([None, None], pa.bool_())})
        >>> bad = Failures(np.array([1]), np.array([1], np.int8), columns.texts(["x: bad"]), np.array([0]))
        >>> decide(traces, [bad], lambda wanted: [], [], Routing())["route"].to_pylist()
        ['settled', 'triage']
    """
    n = traces.num_rows
    if routing.state_decides:
        decided = columns.numbers(traces["state_ok"], default=False)
        failures = [_only(each, (each.rung < 2) | ~decided[each.trace]) for each in failures]
        gaps = [each if each.rung < 2 else each._replace(trace=each.trace[~decided[each.trace]]) for each in gaps]
    failed_rung, below = np.full(n, _NONE, np.int8), np.zeros(n, np.bool_)
    for each in failures:
        np.minimum.at(failed_rung, each.trace, each.rung)
        below[each.trace[each.rung >= 2]] = True
    failed = failed_rung != _NONE
    why, reasons = _first_gap(gaps, n)
    why[failed] = -1
    unscored = why >= 0
    passed = JUDGE if routing.has_questions else SETTLED
    return {
        "route": coded(np.where(failed, TRIAGE, np.where(unscored, UNSCORED, passed)), ROUTES),
        "passed": nullable(~failed, unscored),
        "failed_rung": nullable(failed_rung, ~failed),
        "reasons": _reasons([*failures, *details(below)], n),
        "unscored_reason": coded(why, reasons),
    }


def _only(failures: Failures, rows: B1) -> Failures:
    """Some of the failures."""
    trace, rung, text, place = failures
    return Failures(trace[rows], rung[rows], sentences([(text, np.flatnonzero(rows))]), place[rows])


def _first_gap(gaps: Sequence[Gap], n: int) -> tuple[npt.NDArray[np.int32], list[str]]:
    """Number of each trace's reason, that of the lowest rung, then the first by name; below zero for none."""
    reasons = sorted({each.reason for each in gaps})
    why = np.full(n, -1, np.int32)
    for each in sorted(gaps, key=lambda gap: (gap.rung, gap.reason), reverse=True):
        why[each.trace] = reasons.index(each.reason)
    return why, reasons


def _reasons(failures: Sequence[Failures], n: int) -> pa.Array:
    """``reasons`` by trace: lists of texts, lower rungs first."""
    trace, rung, place = (np.concatenate([each[field] for each in failures]) for field in (0, 1, 3))
    order = np.argsort(trace * 2**34 + rung * np.int64(2**31) + place, kind="stable")
    texts = together([each.text for each in failures], order)
    offsets = offsets_of(np.bincount(trace, minlength=n))
    return pa.LargeListArray.from_arrays(pa.array(offsets), columns.text_array(texts.data, texts.offsets))
