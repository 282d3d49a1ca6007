"""Where other libraries' numbers disagree on the traces of a run, and why."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracelens.dialects import DIALECTS
from tracelens.dialects.modes import OWN, WORDS, modes
from tracelens.dialects.request import MARK, REFUSED
from tracelens.errors import UsageError, counted

if TYPE_CHECKING:
    import polars as pl

    from tracelens.store import Run

NEEDED = (
    "trace_id", "case_id", "n_calls", "n_expected", "n_exact_optimal", "n_partial_optimal", "n_missing_optimal",
    "n_extra_optimal", "n_identical_repeats", "in_order", "any_order", "exact_order",
)  # fmt: skip
"""Columns of `traces` that explain a disagreement."""


@dataclass(frozen=True)
class Disagreements:
    """How far numbers of one name lie apart.

    Attributes:
        columns: By word, the columns of `traces` that are held against each other.
        words: One row per word: ``word``, ``columns``, ``n_traces`` (with at least two values), ``n_differ``,
            ``mean_spread`` (largest less smallest value).
        numbers: One row per word and column: ``word``, ``column``, ``n_scored`` (traces that have a value), ``mean``,
            in the order of the words, largest mean first.
        traces: One row per trace on which some word's numbers differ, most disagreement first: ``trace_id``,
            ``case_id``, ``disagreement`` (the spreads added up), a column per word with its spread, every number, and
            ``why``, a list of sentences.
    """

    columns: dict[str, list[str]]
    words: pl.DataFrame
    numbers: pl.DataFrame
    traces: pl.DataFrame


def disagreements(run: Run) -> Disagreements:
    """Hold the dialects of a run against each other, and against our own scores.

    Args:
        run: A run whose suite names dialects.

    Raises:
        UsageError: It has no column of any dialect.
    """
    import polars as pl
    import pyarrow.parquet as pq

    from tracelens.store.layout import table_file

    there = pq.read_schema(table_file(run.folder, "traces")).names
    by_word = {word: found for word in WORDS if len(found := _columns(word, there)) > 1}
    if not any(MARK in name for names in by_word.values() for name in names):
        raise UsageError(
            "the run has no numbers of other libraries",
            where=str(run.folder),
            hint=f'name dialects in the suite, [match] dialects = ["{next(iter(DIALECTS))}", …], and rescore it',
        )
    wanted = list(dict.fromkeys(name for names in by_word.values() for name in names))
    refused = [name for name in there if name.endswith(f"{MARK}{REFUSED}")]
    traces = run.read("traces", list(dict.fromkeys([*NEEDED, *wanted, *refused])))
    spreads = [
        (pl.max_horizontal(names) - pl.min_horizontal(names)).alias(f"spread_{word}") for word, names in by_word.items()
    ]
    whole = traces.with_columns(spreads).with_columns(
        disagreement=pl.sum_horizontal(pl.col(f"spread_{word}").fill_null(0) for word in by_word)
    )
    words = pl.DataFrame([_word(word, names, whole) for word, names in by_word.items()])
    apart = whole.filter(pl.col("disagreement") > 0).sort(
        ["disagreement", "trace_id"], descending=[True, False], maintain_order=True
    )
    words = words.sort(["n_differ", "mean_spread"], descending=True, maintain_order=True)
    numbers = pl.concat([_numbers(word, by_word[word], whole) for word in words["word"]])
    return Disagreements(by_word, words, numbers, apart)


def _columns(word: str, there: list[str]) -> list[str]:
    """Columns that hold what some library means by a word, with or without parameters."""
    found = []
    for mode in modes():
        if mode.word != word:
            continue
        pattern = re.escape(mode.metric)
        if mode.dialect != OWN:
            pattern = f"{re.escape(mode.dialect)}(_.*)?{MARK}{pattern}"
        found += [name for name in there if re.fullmatch(pattern, name)]
    return list(dict.fromkeys(found))


def _word(word: str, names: list[str], whole: pl.DataFrame) -> dict[str, object]:
    """One row about a word."""
    spread = whole[f"spread_{word}"].drop_nulls()
    n = int((spread > 0).sum())
    return {"word": word, "columns": len(names), "n_traces": spread.len(), "n_differ": n, "mean_spread": spread.mean()}


def _numbers(word: str, names: list[str], whole: pl.DataFrame) -> pl.DataFrame:
    """The columns of a word with their means."""
    import polars as pl

    numbers = [(word, name, whole[name].count(), whole[name].mean()) for name in names]
    frame = pl.DataFrame(
        numbers, {"word": pl.String, "column": pl.String, "n_scored": pl.Int64, "mean": pl.Float64}, orient="row"
    )
    return frame.sort("mean", descending=True, nulls_last=True, maintain_order=True)


def reasons(row: dict[str, object]) -> list[str]:
    """Why libraries may disagree on a trace, from what is known of it.

    Args:
        row: A row of `Disagreements.traces`.

    Example:
        >>> reasons({"n_expected": 0, "n_calls": 1})
        ['nothing is expected: some libraries refuse, others give 0 or 1']
    """

    def many(name: str) -> int:
        value = row.get(name)
        return int(value) if isinstance(value, int | float) else 0

    said = []
    if many("n_expected") == 0:
        said.append("nothing is expected: some libraries refuse, others give 0 or 1")
    elif row.get("n_calls") == 0:
        said.append("nothing was called")
    if n := many("n_partial_optimal"):
        said.append(f"{counted(n, 'right tool')} with other arguments: names agree where arguments do not")
    if n := many("n_missing_optimal"):
        said.append(
            f"{counted(n, 'expected call')} missing: a verdict is 0 where a share is not, and A ⊆ E still holds"
        )
    if n := many("n_extra_optimal"):
        said.append(
            f"{counted(n, 'call')} beyond the expected ones: precision and A ⊆ E see them, recall and E ⊆ A do not"
        )
    if n := many("n_identical_repeats"):
        said.append(f"{counted(n, 'repeated call')}: sets do not see repeats, multisets and positions do")
    if row.get("any_order") == 1 and row.get("in_order") == 0:
        said.append("the order differs")
    said += [f"{name.partition(MARK)[0]} refuses: {text}" for name, text in _refusals(row)]
    return said or ["arguments are equal under one library's equality and not under another's"]


def _refusals(row: dict[str, object]) -> list[tuple[str, str]]:
    """What libraries refuse."""
    return [(name, value) for name, value in row.items() if name.endswith(REFUSED) and isinstance(value, str)]
