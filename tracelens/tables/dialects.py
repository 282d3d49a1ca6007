"""The columns of `traces` that are other libraries' numbers, by their names ``<dialect>__<metric>``."""

from __future__ import annotations

from functools import cache

from tracelens.dialects import DIALECTS
from tracelens.dialects.model import Metric
from tracelens.dialects.request import MARK, REFUSED, Request
from tracelens.tables.model import Column, Dtype

_NULL = "no reference, `null_reason` says why it was not evaluated, or the library refuses (`<dialect>__refused`)"
_UNITS = {"truth": "0 or 1", "share": "0..1", "score": "percent, may exceed 100", "count": "", "verdicts": ""}
VERDICTS = frozenset(each.name for dialect in DIALECTS.values() for each in dialect.metrics if each.shape == "verdicts")
"""Metrics whose column is text: a JSON list of verdicts."""


@cache
def extra_column(name: str) -> Column:
    """The definition of a dialect's column.

    Args:
        name: ``<label>__<metric>``; a label is a dialect's name, or begins with one and an underscore.

    Example:
        >>> extra_column("adk__in_order").comment.partition(";")[0]
        'google-adk: 1 if E is a subsequence of A, else 0 (0..1)'
        >>> extra_column("tau2__matches").dtype, extra_column("adk__refused").dtype
        ('str', 'str')
    """
    label, _, metric = name.rpartition(MARK)
    library, found = _look_up(label, metric)
    if metric == REFUSED:
        return Column(name, "str", f"{library}: why it has no value", null="it has, or there is no reference", few=True)
    dtype: Dtype = "str" if metric in VERDICTS else "f64"
    meaning = f"{library}: {found.meaning}" if found else f"{library}: {metric}"
    return Column(name, dtype, meaning, null=_NULL, unit=_UNITS[found.shape] if found else "")


def _look_up(label: str, metric: str) -> tuple[str, Metric | None]:
    """The library behind a label, and the metric."""
    for name in sorted(DIALECTS, key=len, reverse=True):
        if label == name or label.startswith(f"{name}_"):
            found = [each for each in DIALECTS[name].metrics if each.name == metric]
            suffix = "" if label == name else " with parameters"
            return DIALECTS[name].library + suffix, found[0] if found else None
    return "a dialect", None


def dialect_columns() -> tuple[Column, ...]:
    """The columns of all dialects without parameters."""
    return tuple(extra_column(name) for dialect in DIALECTS.values() for name in Request.of(dialect).columns)
