"""Random tables of lists, for everything that computes the scores from columns of them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tracelens.kernels.reference.pairing import Call, Match

Row = dict[str, list[str | None] | None]

SCHEMA_COLUMNS = ("actual", "expected", "actual_arguments", "expected_arguments")


@st.composite
def rows(draw: st.DrawFn) -> Row:
    """Two lists of names with their arguments; some names and arguments are missing, some lists are."""
    names = st.lists(st.sampled_from(["a", "a", "b", "c", "", None]), max_size=6)
    actual, expected = draw(names), [name for name in draw(names) if name]
    arguments = st.sampled_from(["x", "x", "y", "z"])
    row: Row = {
        "actual": actual,
        "expected": expected,
        "actual_arguments": [draw(st.one_of(arguments, arguments, arguments, st.none())) for _ in actual],
        "expected_arguments": [draw(arguments) for _ in expected],
    }
    absent = draw(st.sampled_from([None, None, None, None, "actual", "expected"]))
    return row if absent is None else row | {absent: None, f"{absent}_arguments": None}


def match_of(row: Row) -> Match | None:
    """The row as the reference takes it; None where a list is null."""
    if row["actual"] is None or row["expected"] is None:
        return None
    return Match.by_value(
        [Call(n, x, captured=x is not None) for n, x in zip(row["actual"], row["actual_arguments"] or [], strict=True)],
        [Call(n, x) for n, x in zip(row["expected"], row["expected_arguments"] or [], strict=True)],
    )


def wanted(scores: dict[str, Any] | None, names: list[str]) -> list[Any]:
    """The reference's scores by name; all None where a list is null."""
    return [None if scores is None else scores[name] for name in names]
