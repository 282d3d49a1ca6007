"""Random traces for the laws: as the plain-Python scores take them, as JSON lines and as a table."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from tracelens.columns import ABSENT, JSON_STRING, JSON_VALUE, NOT_CAPTURED, NULL, TRUNCATED

NAMES = ("a", "a", "b", "c", "A", " a", "")
VALUES = st.sampled_from(
    [1, 1.0, 2, True, None, "x", " X ", "y", "", "é", "E\u0301", "1", [], [1, 2], [2, 1], {}, {"k": " v"}, {"k": "V"}]
)
OBJECTS = st.dictionaries(st.sampled_from(["p", "q", "Q", "r"]), VALUES, max_size=3)
ODD = st.sampled_from(
    [None, "", "{}", '{"p": 1', '{"p": NaN}', "[1]", "7", "null", '{"p": 1}{"p": 1}', [1], True, '"p"']
)
MATCHERS = st.sampled_from(
    [{"p": {"$any": True}}, {"p": {"$regex": "x"}}, {"p": {"$optional": 1}, "q": 1}, {"p": {"$one_of": [1, "x"]}}]
)


@st.composite
def made(draw: st.DrawFn, lost: bool) -> Any:
    """A call made: mostly an object, sometimes text, broken, malformed or (where a format can say so) not recorded."""
    kind = draw(st.integers(0, 15))
    if kind == 0:
        return draw(st.sampled_from([None, {}, {"name": None}, {"name": 7, "arguments": {}}, 7, []]))
    call: dict[str, Any] = {"name": draw(st.sampled_from(NAMES))}
    arguments = draw(OBJECTS)
    if kind == 1:
        call["arguments"] = draw(ODD)
    elif kind == 2 and lost:
        call["arguments_state"] = draw(st.sampled_from(["not_captured", "truncated"]))
    elif kind in {3, 4}:
        call["arguments"] = json.dumps(arguments)
    elif kind != 5:
        call["arguments"] = arguments
    turn = draw(st.sampled_from([None, 0, 0, 1, 1, 2]))
    return call if turn is None else call | {"turn": turn}


@st.composite
def wanted(draw: st.DrawFn, matchers: bool) -> dict[str, Any]:
    """An expected call: mostly an object, sometimes any arguments, sometimes matchers."""
    kind = draw(st.integers(0, 9))
    name = draw(st.sampled_from(["a", "a", "b", "c", "A"]))
    if kind == 0 and matchers:
        return {"name": name}
    return {"name": name, "arguments": draw(MATCHERS if kind == 1 and matchers else OBJECTS)}


@st.composite
def pairs_of_lists(
    draw: st.DrawFn, lost: bool = False, matchers: bool = True, most: int = 6
) -> tuple[list[Any], list[dict[str, Any]]]:
    """Calls made and calls expected, often nearly the same ones."""
    expected = draw(st.lists(wanted(matchers), max_size=most))
    actual = draw(st.lists(made(lost), max_size=most))
    if draw(st.booleans()):
        copies = [{"name": e["name"], "arguments": e["arguments"]} for e in expected if "arguments" in e]
        actual = draw(st.permutations([*copies, *actual[:2]]))
    return actual, expected


def lines_of(pairs: list[tuple[list[Any], list[Any]]]) -> list[dict[str, Any]]:
    """As native traces ``t0``, ``t1``, …"""
    return [
        {"trace_id": f"t{n}", "tool_calls": actual, "expected": expected} for n, (actual, expected) in enumerate(pairs)
    ]


def table_of(pairs: list[tuple[list[Any], list[Any]]]) -> pa.Table:
    """As a table of calls, which can also say that arguments were not recorded."""
    rows: list[dict[str, Any]] = []
    for n, (actual, expected) in enumerate(pairs):
        rows.append({"trace_id": f"t{n}", "row": "trace", "n_references": 1})
        rows.extend({"trace_id": f"t{n}", "row": "call", **_row(call)} for call in actual)
        for call in expected:
            given = call.get("arguments")
            text = given if given is None or isinstance(given, str) else json.dumps(given)
            rows.append({"trace_id": f"t{n}", "row": "expected", "name": call["name"], "arguments": text})
    types = {"n_references": pa.int64(), "arguments_form": pa.int64(), "turn": pa.int64()}
    names = ("trace_id", "row", "name", "arguments", "arguments_form", "turn", "n_references")
    return pa.table(
        {name: pa.array([row.get(name) for row in rows], types.get(name, pa.large_string())) for name in names}
    )


def _row(call: Any) -> dict[str, Any]:
    if not isinstance(call, dict) or not isinstance(call.get("name"), str):
        return {}
    row = {"name": call["name"], "turn": call.get("turn"), "arguments_form": ABSENT}
    lost = {"not_captured": NOT_CAPTURED, "truncated": TRUNCATED}
    if "arguments_state" in call:
        return row | {"arguments_form": lost[call["arguments_state"]]}
    if "arguments" not in call:
        return row
    given = call["arguments"]
    if given is None:
        return row | {"arguments_form": NULL}
    text = isinstance(given, str)
    return row | {
        "arguments": given if text else json.dumps(given),
        "arguments_form": JSON_STRING if text else JSON_VALUE,
    }
