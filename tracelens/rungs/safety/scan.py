"""Safety over whole columns: findings of all calls and answers of a batch, and masking of stored text."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from tracelens import columns
from tracelens.columns import Texts, numbered
from tracelens.rungs.findings import NO_FINDINGS, concat_findings, finding_frame
from tracelens.rungs.safety.analyse import Hit, analyse_answer, argument_hits, tool_hits
from tracelens.rungs.safety.leaves import JSON_STATES
from tracelens.rungs.safety.looks import look_for
from tracelens.rungs.safety.masking import NAME_WINDOWS, WINDOWS, mask
from tracelens.rungs.safety.plan import SafetyPlan
from tracelens.rungs.safety.prefilter import marked, marks, own_passes

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]

ASKED = ("trace", "call_index", "tool", "arguments", "arguments_state", "executed")
"""Columns of calls that are looked at."""


def scan(
    calls: pa.Table,
    answers: pa.Table,
    plan: SafetyPlan,
    seen: U64 | None = None,
    names: Sequence[str] | None = None,
) -> pl.DataFrame:
    """Safety findings of a batch.

    A hit counts whatever became of the call; ``effect`` says whether it ran.

    Args:
        calls: One row per call: ``trace`` u32, ``call_index`` i32, ``tool`` str?, ``arguments`` str?,
            ``arguments_state`` str, ``executed`` bool; texts may be dictionaries.
        answers: One row per trace: ``trace`` u32, ``final_answer`` str?.
        plan: What to look for.
        seen: uint64[calls], the marks of their arguments, where the caller has them.
        names: All names of tools, where the caller has them.

    Returns:
        Findings of rung 1, by trace and call (answers after calls), masked when the pack ``secrets`` is on.
    """
    if not plan.active:
        return NO_FINDINGS
    return concat_findings([_call_hits(calls, plan, seen, names), _answer_hits(answers, plan)])


def _call_hits(calls: pa.Table, plan: SafetyPlan, seen: U64 | None, names: Sequence[str] | None) -> pl.DataFrame:
    suspect = np.zeros(calls.num_rows, np.bool_)
    if plan.own:
        suspect = own_passes(_texts(calls["arguments"]), _texts(calls["tool"]), plan.own)
    if seen is None:
        seen = marks(_texts(calls["arguments"]), plan.look()) if plan.looks else np.zeros(calls.num_rows, np.uint64)
    if plan.looks:
        loose = _loose(calls["arguments_state"])
        if loose.size:
            seen[loose] = marks(_texts(calls["arguments"].take(pa.array(loose))), plan.look(loose=True))
    named = _named(_texts(calls["tool"]).unique() if names is None else pl.Series(names, dtype=pl.String), plan)
    if named:
        suspect |= _texts(calls["tool"]).is_in(list(named)).fill_null(value=False).to_numpy()
    rows = np.flatnonzero(suspect | (seen != 0))
    if not rows.size:
        return NO_FINDINGS
    return _explode(calls.select(ASKED).take(pa.array(rows)), seen[rows].tolist(), named, plan)


def _texts(column: pa.ChunkedArray) -> pl.Series:
    """A text column, row by row."""
    return pl.Series(column).cast(pl.String)


def _loose(states: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    """Rows whose arguments are not one JSON value."""
    code, known = numbered(states)
    return np.flatnonzero(~np.array([*(state in JSON_STATES for state in known), False])[code])


def _named(names: pl.Series, plan: SafetyPlan) -> dict[str, list[Hit]]:
    """Hits of the tools whose very names are hits."""
    if not plan.own:
        names = names.gather(np.flatnonzero(marks(names, plan.look())))
    found = {name: tool_hits(name, plan) for name in names.to_list() if name}
    return {name: hits for name, hits in found.items() if hits}


def _explode(suspects: pa.Table, seen: list[int], named: dict[str, list[Hit]], plan: SafetyPlan) -> pl.DataFrame:
    """Findings of the suspects; equal calls are analysed once."""
    known: dict[tuple[str | None, str | None, str], list[Hit]] = {}
    rows = []
    asked = (suspects[name].to_pylist() for name in ASKED)
    for groups, trace, index, tool, text, state, executed in zip(seen, *asked, strict=True):
        key = (tool, text, state)
        if key not in known:
            hits = [*named.get(tool or "", ()), *argument_hits(tool, text, state, plan, groups)]
            known[key] = list(dict.fromkeys(hits))
        rows += [(trace, index, tool, executed, hit) for hit in known[key]]
    if not rows:
        return NO_FINDINGS
    return finding_frame(
        {
            "trace": [row[0] for row in rows],
            "call_index": [row[1] for row in rows],
            "rung": [1] * len(rows),
            "severity": [row[4].severity for row in rows],
            "code": [row[4].code for row in rows],
            "tool": [row[2] for row in rows],
            "path": [row[4].path for row in rows],
            "message": [row[4].message for row in rows],
            "value": [row[4].value for row in rows],
            "effect": [row[3] for row in rows],
        }
    )


def _answer_hits(answers: pa.Table, plan: SafetyPlan) -> pl.DataFrame:
    if answers["final_answer"].null_count == answers.num_rows:
        return NO_FINDINGS
    text = _texts(answers["final_answer"])
    suspect = own_passes(text, pl.Series([None] * len(text), dtype=pl.String), [p for p in plan.own if not p.tools])
    seen = np.zeros(len(text), np.uint64)
    if plan.looks:
        seen = marks(text, plan.look())
    chosen = np.flatnonzero(suspect | (seen != 0))
    rows = [
        (trace, hit)
        for groups, trace, answer in zip(
            seen[chosen].tolist(), columns.numbers(answers["trace"])[chosen].tolist(), text.gather(chosen), strict=True
        )
        for hit in analyse_answer(answer, plan, groups)
    ]
    return finding_frame(
        {
            "trace": [trace for trace, _ in rows],
            "rung": [1] * len(rows),
            "severity": [hit.severity for _, hit in rows],
            "code": [hit.code for _, hit in rows],
            "message": [f"final answer: {hit.message}" for _, hit in rows],
            "value": [hit.value for _, hit in rows],
        }
    )


def mask_series(values: pl.Series) -> pl.Series:
    """A text column with every secret masked (see `mask`).

    Args:
        values: Strings, nulls stay.

    Returns:
        The same series where nothing had to be masked. Only rows that may hold a secret are touched.

    Example:
        >>> mask_series(pl.Series(["a", None, "Bearer q1"])).to_list()
        ['a', None, 'Bearer [secret:bearer:c75de8c1b7c3]']
    """
    return mask_rows(values, np.flatnonzero(marks(values, look_for((WINDOWS,)))))


def secrets_in(texts: Texts) -> I64:
    """The rows that may hold a secret; all others hold none."""
    return np.flatnonzero(marked(texts, look_for((WINDOWS,))))


def mask_rows(values: pl.Series, rows: I64) -> pl.Series:
    """`mask_series` where it is known which rows may hold a secret."""
    if not rows.size:
        return values
    old = values.gather(rows).to_list()
    new = [text and mask(text) for text in old]
    changed = [(row, text) for row, text, before in zip(rows.tolist(), new, old, strict=True) if text != before]
    if not changed:
        return values
    at, texts = zip(*changed, strict=True)
    return values.clone().scatter(list(at), list(texts))  # scatter changes what it is called on


def mask_leaves(paths: pl.Series, values: pl.Series) -> pl.Series:
    """A column of JSON values masked, where the name of a secret may stand in another column.

    Args:
        paths: Path of each value.
        values: JSON text of each value.

    Returns:
        The values; a value whose path ends in a name such as ``password`` is masked like ``{"password": value}``.

    Example:
        >>> mask_leaves(pl.Series(["user", "password"]), pl.Series(['"ann"', '"hunter2"'])).to_list()
        ['"ann"', '"[secret:assigned:f52fbd32b2b3]"']
    """
    rows = named_secrets(paths)
    return mask_named(mask_series(values), rows, paths.gather(rows).to_list())


def named_secrets(paths: pl.Series) -> I64:
    """The rows whose value may be a secret because of the path to it."""
    return np.flatnonzero(marks(paths, look_for((NAME_WINDOWS,))))


def mask_named(values: pl.Series, rows: I64, paths: Sequence[str]) -> pl.Series:
    """JSON values in some rows masked by their names.

    Args:
        values: JSON text of each value.
        rows: int64[k].
        paths: Path of the value in each of these rows.
    """
    new = []
    for path, value in zip(paths, values.gather(rows).to_list(), strict=True):
        head = f'"{_last_name(path)}": '
        masked = value and mask(head + value)
        new.append(masked[len(head) :] if masked and masked.startswith(head) else value)
    return values.clone().scatter(rows.tolist(), new) if new else values


def _last_name(path: str) -> str:
    """The last member of a path, if it is a bare one."""
    return re.split(r"[.\"]", re.sub(r"(?:\[\d+\])+$|\"$", "", path))[-1]
