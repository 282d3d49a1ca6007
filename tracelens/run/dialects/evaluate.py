"""The columns of dialects: formulas over all traces, and the reference where these are out of the ordinary."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracelens import columns
from tracelens.arguments import S_NOT_CAPTURED, S_OBJECT, S_TRUNCATED
from tracelens.dialects.model import Metric
from tracelens.dialects.reading import Reading
from tracelens.dialects.view import ExoticError
from tracelens.run.dialects.lists import Lists, Side
from tracelens.run.dialects.view import NO_SCHEMAS, BulkView, Verdicts
from tracelens.suite.dialects import Request

B1 = npt.NDArray[np.bool_]
I64 = npt.NDArray[np.int64]

NOT_CAPTURED = "arguments_not_captured"
MATCHER = "expected arguments hold a matcher, which the library does not know"
MALFORMED = "malformed call: it has no name"


def evaluate(lists: Lists, requests: Sequence[Request], schema_errors: I64 | None) -> dict[str, pa.Array]:
    """Evaluate dialects over all units.

    Args:
        lists: The calls.
        requests: Which dialects with which parameters.
        schema_errors: int64[units], errors of the schemas; None where the suite has none.

    Returns:
        ``<label>__<metric>`` for each metric and ``<label>__refused``, one value a unit.
    """
    values: dict[str, pa.Array] = {}
    for request in requests:
        told = [_Told.of(lists, request, metric, schema_errors) for metric in request.metrics]
        values |= {f"{request.label}__{each.metric.name}": each.values for each in told}
        values[f"{request.label}__refused"] = _refusals(told, lists.units.shape[0])
    return values


@dataclass(frozen=True, slots=True)
class _Told:
    """One metric over all units.

    Attributes:
        metric: The metric.
        values: Its values.
        refused: int32[units], place in ``reasons``, -1 for none.
        reasons: Why the library refuses.
    """

    metric: Metric
    values: pa.Array
    refused: npt.NDArray[np.int32]
    reasons: list[str]

    @classmethod
    def of(cls, lists: Lists, request: Request, metric: Metric, schema_errors: I64 | None) -> _Told:
        """Ask the formula, and the reference where it has to be."""
        dialect, params = request.dialect, request.params
        view = BulkView(lists, dialect, schema_errors)
        view.refuse(lists.malformed, MALFORMED)
        refuses = dialect.reading.text == "refuses"
        if refuses:
            view.refuse(lists.with_text, dialect.reading.complaint)
        if dialect.reading.null == "refuses":
            view.refuse(lists.with_null, dialect.reading.complaint)
        if dialect.reading.named_by:
            view.doubtful |= lists.with_member(dialect.reading.named_by)
        try:
            found = metric.formula(view, **params)
            slow = view.doubtful | _unlike(lists, dialect.reading, looked=view.looked)
        except ExoticError:
            n, view.looked, view.compared = lists.units.shape[0], True, True
            found = (
                Verdicts(np.zeros(n + 1, np.int64), np.zeros(0, np.uint8)) if metric.shape == "verdicts" else [0] * n
            )
            slow = np.ones(n, np.bool_)
        if view.looked:
            view.refuse(lists.uncaptured, NOT_CAPTURED)
        if view.compared:
            view.doubtful &= ~lists.with_matchers
            view.refuse(lists.with_matchers, MATCHER)
        values = found.texts() if isinstance(found, Verdicts) else np.asarray(found, np.float64).copy()
        values = _asked(lists, request, metric, np.flatnonzero(slow & (view.refused < 0)), values, view)
        return cls(metric, _nulled(values, view.refused >= 0), view.refused, view.reasons)


def _unlike(lists: Lists, reading: Reading, *, looked: bool) -> B1:
    """bool[units]: those that the reference has to look at because some arguments are no object."""
    out = np.zeros(lists.units.shape[0], np.bool_)
    if looked or reading.text == "refuses" or reading.others == "refuses":
        out |= lists.unreadable
    if looked and reading.text == "parses" and reading.broken == "refuses":
        out |= lists.broken
    return out


def _nulled(values: Any, null: B1) -> pa.Array:
    """Values without those that are refused."""
    if isinstance(values, np.ndarray):
        return columns.nullable(values, null)
    return pa.compute.if_else(pa.array(~null), values, pa.scalar(None, values.type)) if null.any() else values


def _asked(lists: Lists, request: Request, metric: Metric, units: I64, values: Any, view: BulkView) -> Any:
    """The values with those of some units as the reference has them."""
    if not units.size:
        return values
    told = values if isinstance(values, np.ndarray) else values.to_pylist()
    calls, known = _Calls(lists), dict[str, int]()
    for unit in units.tolist():
        verdict = request.dialect.verdict(metric.name, *calls.of(unit), **request.params)
        if verdict.value is None:
            reason = verdict.reason or ""
            if reason not in known:
                known[reason] = len(view.reasons)
                view.reasons.append(reason)
            view.refused[unit] = known[reason]
        else:
            told[unit] = as_stored(metric, verdict.value)
    return told if isinstance(told, np.ndarray) else pa.array(told, columns.TEXT)


def as_stored(metric: Metric, value: Any) -> Any:
    """A library's value as its column holds it: a number, or the JSON text of a list of verdicts."""
    if isinstance(value, list):
        return json.dumps(value)
    return float(value == metric.said[0]) if metric.said is not None and isinstance(value, str) else float(value)


class _Calls:
    """The calls of units as the reference takes them; equal arguments are read once."""

    def __init__(self, lists: Lists) -> None:
        self._lists = lists
        self._read: dict[tuple[int, bool, int], dict[str, Any]] = {}

    def of(self, unit: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Both lists of a unit."""
        first, n, e_first, m = self._lists.units[unit].tolist()
        return self._side(self._lists.a, first, n), self._side(self._lists.e, e_first, m)

    def _side(self, side: Side, first: int, count: int) -> list[dict[str, Any]]:
        return [
            {
                "name": self._lists.names[side.name[at]],
                **self._arguments(int(side.row[at]), text=bool(side.text[at]), form=int(side.form[at])),
                **({"status": "error"} if side.failed[at] else {}),
            }
            for at in range(first, first + count)
        ]

    def _arguments(self, row: int, *, text: bool, form: int) -> dict[str, Any]:
        key = row, text, form
        if key not in self._read:
            self._read[key] = self._parsed(row, text=text, form=form)
        return self._read[key]

    def _parsed(self, row: int, *, text: bool, form: int) -> dict[str, Any]:
        arguments = self._lists.arguments
        state = int(arguments.state[row])
        if form <= columns.NULL:
            return {} if form == columns.ABSENT else {"arguments": None}
        if state in (S_NOT_CAPTURED, S_TRUNCATED):
            return {"arguments_state": "not_captured"}
        if text:
            return {"arguments": arguments.text_sent(row).decode()}
        given = arguments.text(row).decode()
        try:
            return {"arguments": json.loads(given) if given.strip() or state == S_OBJECT else {}}
        except ValueError:
            return {"arguments": given}


def _refusals(told: Sequence[_Told], n: int) -> pa.Array:
    """Why a dialect has no value, one sentence a unit; null where it has all."""
    every = np.stack([_real(each) for each in told], axis=1)
    rows = np.flatnonzero((every >= 0).any(axis=1))
    place = np.full(n, -1, np.int32)
    texts: list[str] = []
    if rows.size:
        kinds, place[rows] = np.unique(every[rows], axis=0, return_inverse=True)
        texts = [_sentence(told, kind) for kind in kinds.tolist()]
    return columns.coded(place, texts).dictionary_decode()


def _real(told: _Told) -> npt.NDArray[np.int32]:
    """The codes of reasons that are a library's own."""
    own = np.array([*(reason != NO_SCHEMAS for reason in told.reasons), True])
    return np.where(own[told.refused], told.refused, np.int32(-1))


def _sentence(told: Sequence[_Told], codes: Sequence[int]) -> str:
    """The reasons of all metrics, once where they agree."""
    said = {each.metric.name: each.reasons[code] for each, code in zip(told, codes, strict=True) if code >= 0}
    if len(set(said.values())) == 1:
        return next(iter(said.values()))
    return "; ".join(f"{name}: {reason}" for name, reason in said.items())
