"""Other libraries' numbers, reproduced: one dialect a library, for one pair of lists of calls.

``tracelens.dialects.<name>.<metric>(actual, expected, **params)`` is what the library says; None where it refuses, and
``….reason(…)`` says why. For all traces at once a suite names the dialects in ``[match] dialects``. May import errors.

Example:
    >>> from tracelens import dialects
    >>> dialects.agentevals.trajectory_superset_match(["search", "search", "book"], ["search", "book"])
    True
    >>> dialects.strands.any_order_match_scorer(["search"], ["search", "search"])
    0.5
"""

from __future__ import annotations

from tracelens.dialects.libraries.adk import adk
from tracelens.dialects.libraries.agentevals import agentevals
from tracelens.dialects.libraries.article import article
from tracelens.dialects.libraries.azure import azure
from tracelens.dialects.libraries.deepeval import deepeval
from tracelens.dialects.libraries.futureagi import futureagi
from tracelens.dialects.libraries.mlflow import mlflow
from tracelens.dialects.libraries.pydantic_evals import pydantic_evals
from tracelens.dialects.libraries.ragas import ragas
from tracelens.dialects.libraries.strands import strands
from tracelens.dialects.libraries.tau2 import tau2
from tracelens.dialects.libraries.vertex import vertex
from tracelens.dialects.model import BoundMetric, Dialect, Metric, Verdict
from tracelens.dialects.reading import Reading

DIALECTS: dict[str, Dialect] = {
    each.name: each
    for each in (
        article,
        futureagi,
        agentevals,
        adk,
        azure,
        ragas,
        deepeval,
        mlflow,
        pydantic_evals,
        tau2,
        strands,
        vertex,
    )
}
"""All dialects by name."""

__all__ = [
    "DIALECTS",
    "BoundMetric",
    "Dialect",
    "Metric",
    "Reading",
    "Verdict",
    "adk",
    "agentevals",
    "article",
    "azure",
    "deepeval",
    "futureagi",
    "mlflow",
    "pydantic_evals",
    "ragas",
    "strands",
    "tau2",
    "vertex",
]
