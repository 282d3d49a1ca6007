"""The trajectory metrics of Vertex AI's evaluation service, from their public documentation."""

from __future__ import annotations

from typing import Any

from tracelens.dialects.model import Dialect, Metric
from tracelens.dialects.reading import Reading
from tracelens.dialects.view import Equality, View, number, share


def exact_match(v: View) -> Any:
    """Equal lists."""
    return number(v.calls(Equality.PYTHON).equal)


def in_order_match(v: View) -> Any:
    """The reference's calls one after the other."""
    return number(v.calls(Equality.PYTHON).followed == v.m)


def any_order_match(v: View) -> Any:
    """All calls of the reference."""
    return number(v.calls(Equality.PYTHON).overlap == v.m)


def precision(v: View) -> Any:
    """Predicted calls that occur in the reference."""
    v.refuse(v.n == 0, "no predicted call to divide by; the documentation does not say")
    return share(v.calls(Equality.PYTHON).known_a, v.n, of_nothing=0.0)


def recall(v: View) -> Any:
    """Calls of the reference that occur in the prediction."""
    v.refuse(v.m == 0, "no expected call to divide by; the documentation does not say")
    return share(v.calls(Equality.PYTHON).known_e, v.m, of_nothing=0.0)


def single_tool_use(v: View, *, tool_name: str) -> Any:
    """Whether a tool was called."""
    return number(v.called(tool_name))


vertex = Dialect(
    name="vertex",
    library="Vertex AI Gen AI evaluation service",
    version="public documentation, read on 2026-11-30",
    source="cloud.google.com/vertex-ai/generative-ai/docs/models/evaluation-agents, trajectory evaluation",
    reading=Reading("parses", broken="keeps"),
    metrics=(
        Metric("trajectory_exact_match", exact_match, "1 if A = E, in order, else 0", "share", also=("exact_match",)),
        Metric(
            "trajectory_in_order_match",
            in_order_match,
            "1 if E is a subsequence of A, else 0",
            "share",
            also=("in_order_match",),
        ),
        Metric(
            "trajectory_any_order_match",
            any_order_match,
            "1 if E ⊆ A as multisets, else 0",
            "share",
            also=("any_order_match",),
        ),
        Metric("trajectory_precision", precision, "|{i : Aᵢ ∈ S(E)}| / n", "share", also=("precision",)),
        Metric("trajectory_recall", recall, "|{j : Eⱼ ∈ S(A)}| / m", "share", also=("recall",)),
        Metric(
            "trajectory_single_tool_use",
            single_tool_use,
            "1 if tool_name ∈ S(a), else 0",
            "share",
            also=("single_tool_use",),
            names_only=True,
            column=False,
        ),
    ),
    equality="the documentation says identical calls; here name and arguments by ==, JSON text is read first",
    empties=(
        "precision without a predicted call and recall without an expected one have no value; a call without arguments "
        "has {}, null is another thing"
    ),
    duplicates="any-order match counts them; precision and recall count each call that occurs on the other side",
    bugs=(
        "the service cannot be run here: where its documentation is silent (repeated calls, empty lists, numbers against "
        "text) these are our readings of it"
    ),
)
