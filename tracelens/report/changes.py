"""What changed between two parts, beyond what chance explains."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tracelens.report.numbers import Numbers

Row = dict[str, Any]

SIGMA = 3.0
"""Standard errors beyond which a difference is told: with many groups, fewer would tell of chance every day."""

LEAST = 10
"""Traces (calls for a tool) that both sides need before a difference of a group is told."""


def sigmas(k: int, n: int, k_before: int, n_before: int) -> float | None:
    """How many standard errors two shares lie apart: the pooled z of two proportions.

    Args:
        k: Successes now.
        n: Trials now.
        k_before: Successes before.
        n_before: Trials before.

    Returns:
        Positive where the share rose; None where one side is empty or both shares are 0 or both 1.

    Example:
        >>> round(sigmas(70, 100, 85, 100), 2)
        -2.54
    """
    if not n or not n_before:
        return None
    pooled = (k + k_before) / (n + n_before)
    spread = math.sqrt(pooled * (1 - pooled) * (1 / n + 1 / n_before))
    return (k / n - k_before / n_before) / spread if spread else None


def changes_of(numbers: Numbers) -> list[Row]:
    """What changed, the worst first.

    Args:
        numbers: The numbers, with a base.

    Returns:
        Rows with ``kind`` (overall, rate, mistake, gone), ``dimension``, ``value``, ``tool``, ``code``, ``path``, ``before``,
        ``after`` (shares), ``n_before``, ``n_after``, ``sigmas``, ``better`` and ``example_trace_id``. The first row is
        the overall pass rate, whatever it did; the others lie at least `SIGMA` standard errors apart.
    """
    found = [*_rates(numbers), *_mistakes(numbers)]
    found.sort(key=lambda row: (row["better"], -abs(row["sigmas"])))
    overall = _compared(numbers.rate("head"), numbers.rate("base"), "overall")
    return [*([overall] if overall else []), *found]


def _rates(numbers: Numbers) -> Iterator[Row]:
    """Groups whose pass rate changed."""
    before = {_group(row): row for row in numbers.tables["rates"] if row["part"] == "base"}
    for row in numbers.tables["rates"]:
        if row["part"] != "head" or row["dimension"] == "all":
            continue
        other = before.get(_group(row), {})
        if min(row["n_scored"], other.get("n_scored", 0)) >= LEAST:
            compared = _compared(row, other, "rate")
            if compared and abs(compared["sigmas"] or 0) >= SIGMA:
                yield compared


def _group(row: Row) -> tuple[Any, Any]:
    return row["dimension"], row["value"]


def _compared(row: Row, other: Row, kind: str) -> Row | None:
    """Two pass rates side by side; None where one of them is not known."""
    if not row.get("n_scored") or not other.get("n_scored"):
        return None
    apart = sigmas(row["n_passed"], row["n_scored"], other["n_passed"], other["n_scored"])
    return _row(
        kind, dimension=row["dimension"], value=row["value"],
        before=other["pass_rate"], after=row["pass_rate"], n_before=other["n_scored"], n_after=row["n_scored"],
        sigmas=apart, better=row["pass_rate"] > other["pass_rate"],
    )  # fmt: skip


def _mistakes(numbers: Numbers) -> Iterator[Row]:
    """Mistakes that are new, or much more or less frequent."""
    n, n_before = numbers.total("head").get("n_traces", 0), numbers.total("base").get("n_traces", 0)
    for row in numbers.tables["mistakes"]:
        if row["code"].startswith("threshold."):
            continue  # what the other mistakes come to
        apart = sigmas(row["n_traces"], n, row["n_traces_before"], n_before)
        if apart is not None and abs(apart) >= SIGMA:
            yield _row(
                "mistake", tool=row["tool"], code=row["code"], path=row["path"],
                before=row["n_traces_before"] / n_before, after=row["n_traces"] / n, n_before=row["n_traces_before"],
                n_after=row["n_traces"], sigmas=apart, better=apart < 0, example_trace_id=row["example_trace_id"],
            )  # fmt: skip


def _row(kind: str, **values: Any) -> Row:
    names = ("dimension", "value", "tool", "code", "path", "before", "after", "n_before", "n_after", "sigmas", "better")
    return {"kind": kind, **{name: values.get(name) for name in (*names, "example_trace_id")}}
