"""Arguments of tools as tracers write them: an object, its text, Python's way of writing it, or keys lost."""

from __future__ import annotations

import ast
import json
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens.columns import JSON_STRING, JSON_VALUE, TEXT, coded, one_chunk, true, valid
from tracelens.projection import ARRAY, NONE, OBJECT, STRING, Projection, Row
from tracelens.sources.backends.steps.model import Mask, inside

LOST = "lost"
"""What ``repair`` says of arguments that lost their keys: those of the model's request are better, if there is one."""

PYTHON = "python_repr"
"""What ``repair`` says of arguments that were written by Python and are JSON now."""


@cache
def shapes() -> Projection:
    """The declaration of what may stand around arguments."""
    return Projection(
        Row("inputs", capture={"input": "input", "args": "args", "kwargs": "kwargs"}, rows=[Row("member", ".*")])
    )


def recorded(given: pa.Array, form: npt.NDArray[np.uint8]) -> tuple[pa.Array, npt.NDArray[np.uint8], pa.Array]:
    r"""Arguments, their form and what was done to them.

    ``{"input": "…"}`` is how LangChain records a tool that was called with one text: where that text is an object, in
    JSON or as Python writes it, it holds the arguments, else their key is lost. ``{"args": […], "kwargs": {…}}`` and
    ``{"args": […]}`` are arguments by position.

    Args:
        given: str?[n], JSON text.
        form: uint8[n], see `tracelens.columns`.

    Example:
        >>> texts_ = pa.array(['{"input": "{\'a\': 1}"}', '{"a": 2}', '{"input": "bags"}'])
        >>> found = recorded(texts_, np.full(3, JSON_VALUE, np.uint8))
        >>> found[0].to_pylist(), found[2].to_pylist()
        (['{"a": 1}', '{"a": 2}', '{"input": "bags"}'], ['python_repr', None, 'lost'])
    """
    given = one_chunk(given).cast(TEXT)
    found = inside(shapes(), given)
    top, member = found["inputs"], found["member"]
    row = top.parent.astype(np.int64)
    members = np.bincount(member.parent, minlength=top.n)
    for name in ("input", "args", "kwargs"):
        members += ~top.has(name, NONE)
    repair = np.full(len(given), -1, np.int8)
    form = form.copy()
    named = top.has("kwargs", OBJECT) & (members == 2) & top.has("args", ARRAY)
    placed = top.has("args", ARRAY) & (members == 1)
    empty = true(pc.equal(top.text("args", ARRAY), "[]"))
    texts_of = {OBJECT: top.text("kwargs", OBJECT), STRING: top.text("input")}
    given = _put(given, row[named & empty], texts_of[OBJECT].filter(pa.array(named & empty)))
    repair[row[placed | (named & ~empty)]] = 0
    single = (members == 1) & top.has("input", STRING)
    given, form, repair = _single(given, form, repair, row[single], texts_of[STRING].filter(pa.array(single)))
    python = _looks_python(given) & np.isin(form, (JSON_STRING, JSON_VALUE))
    given, fixed = _from_python(given, python)
    repair[fixed] = 1
    return given, form, coded(repair, [LOST, PYTHON]).cast(TEXT)


def _single(given: pa.Array, form: Any, repair: Any, rows: Any, inner: pa.Array) -> tuple[pa.Array, Any, Any]:
    """Take the arguments out of a lone ``input`` that holds them."""
    if not rows.size:
        return given, form, repair
    opens = pc.starts_with(pc.utf8_ltrim_whitespace(inner), "{").to_numpy(zero_copy_only=False)
    given = _put(given, rows[opens], inner.filter(pa.array(opens)))
    form[rows[opens]] = JSON_STRING
    repair[rows[~opens]] = 0
    return given, form, repair


def _put(given: pa.Array, rows: Any, values: pa.Array) -> pa.Array:
    """The column with other values in some rows."""
    if not rows.size:
        return given
    pick = np.arange(len(given))
    pick[rows] = len(given) + np.arange(rows.size)
    return pa.concat_arrays([given, values.cast(given.type)]).take(pa.array(pick))


def _looks_python(given: pa.Array) -> Mask:
    """Which texts are an object with a key as Python quotes it."""
    return true(pc.match_substring_regex(given, r"^\s*\{\s*'"))


def _from_python(given: pa.Array, rows: Mask) -> tuple[pa.Array, Any]:
    """Texts as Python writes objects, as JSON; each distinct one is read once."""
    at = np.flatnonzero(rows)
    if not at.size:
        return given, at
    coded = given.take(pa.array(at)).dictionary_encode()
    made = pa.array([as_json(text) for text in coded.dictionary.to_pylist()], TEXT).take(coded.indices)
    good = valid(made)
    return _put(given, at[good], made.filter(pa.array(good))), at[good]


def as_json(text: str) -> str | None:
    """A Python literal of an object as JSON; None where it is none, or JSON has no such value.

    Example:
        >>> as_json("{'a': True, 'b': None}"), as_json("{'a': f()}")
        ('{"a": true, "b": null}', None)
    """
    try:
        value = ast.literal_eval(text)
        return json.dumps(value, ensure_ascii=False, allow_nan=False) if isinstance(value, dict) else None
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
