"""`Results`: one run, its tables as Polars frames and the questions people ask first."""

from __future__ import annotations

import shutil
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tracelens import store
from tracelens.errors import UsageError, counted, path_of, shown_type
from tracelens.results.scoring import run_folder
from tracelens.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import date

    import duckdb
    import polars as pl

    from tracelens.results.compare import Comparison
    from tracelens.results.curve import ThresholdCurve
    from tracelens.results.explain import Explanation
    from tracelens.results.summary import Summary
    from tracelens.suite import Suite


class Results:
    """One run.

    Tables are read from disk when asked for, as Polars frames (pandas and Arrow take those by their protocols):
    `traces`, `calls`, `expected`, `pairs`, `argument_diffs`, `steps`, `findings`, `state_results`, `rejects`, `runs`,
    `spans`. What their columns mean is in `tracelens.tables`.

    Args:
        run: The run on disk.
        owned: A temporary folder to remove with this object.
    """

    def __init__(self, run: store.Run, *, owned: Path | None = None) -> None:
        self.run = run
        self._owned = owned is not None
        self._connection: duckdb.DuckDBPyConnection | None = None
        if owned is not None:
            weakref.finalize(self, shutil.rmtree, owned, ignore_errors=True)

    @property
    def run_id(self) -> str:
        """Digest of input, suite and program version."""
        return self.run.run_id

    @property
    def path(self) -> Path:
        """The run's folder."""
        return self.run.folder

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds of processor time by stage of the run, summed over threads."""
        return dict(self.run.info.get("seconds", {}))

    @property
    def traces(self) -> pl.DataFrame:
        """One row per trace."""
        return self.run.read("traces")

    @property
    def calls(self) -> pl.DataFrame:
        """One row per recorded tool call."""
        return self.run.read("calls")

    @property
    def expected(self) -> pl.DataFrame:
        """One row per expected call."""
        return self.run.read("expected")

    @property
    def pairs(self) -> pl.DataFrame:
        """One row per pair and per leftover."""
        return self.run.read("pairs")

    @property
    def argument_diffs(self) -> pl.DataFrame:
        """One row per argument of a partial pair."""
        return self.run.read("argument_diffs")

    @property
    def steps(self) -> pl.DataFrame:
        """The golden trace, step by step."""
        return self.run.read("steps")

    @property
    def findings(self) -> pl.DataFrame:
        """One row per defect or note."""
        return self.run.read("findings")

    @property
    def state_results(self) -> pl.DataFrame:
        """One row per trace and state check."""
        return self.run.read("state_results")

    @property
    def rejects(self) -> pl.DataFrame:
        """One row per record that could not be read."""
        return self.run.read("rejects")

    @property
    def runs(self) -> pl.DataFrame:
        """The run itself, one row."""
        return self.run.read("runs")

    @property
    def spans(self) -> pl.DataFrame:
        """One row per recorded span."""
        return self.run.read("spans")

    def summary(self) -> Summary:
        """Funnel, mean scores with their denominators, tools and top reasons."""
        from tracelens.results.summary import summarise

        return summarise(self.run, self._duck())

    def failures(self, tool: str | None = None, code: str | None = None) -> pl.DataFrame:
        """The error findings, with what was sent and where the trace came from.

        Args:
            tool: Only findings about this tool.
            code: Only this code, or all that start with it and a dot (``schema``).

        Returns:
            Columns of `findings` that say what is wrong, and ``arguments``, ``case_id``, ``source``, ``line``.
        """
        import polars as pl

        for name, value in (("tool", tool), ("code", code)):
            if value is not None and not isinstance(value, str):
                raise UsageError(f"{name} is given as {shown_type(value)}", hint=f"give the text of the column {name}")
        found = self.run.scan("findings").filter(pl.col("severity") == "error")
        if tool is not None:
            found = found.filter(pl.col("tool") == tool)
        if code is not None:
            found = found.filter((pl.col("code") == code) | pl.col("code").str.starts_with(f"{code}."))
        calls = self.run.scan("calls").select("trace_id", "call_index", "arguments")
        traces = self.run.scan("traces").select("trace_id", "case_id", "source", "line")
        named = found.select("trace_id", "call_index", "code", "tool", "path", "message", "value")
        joined = named.join(calls, on=["trace_id", "call_index"], how="left", maintain_order="left")
        return joined.join(traces, on="trace_id", how="left", maintain_order="left").collect()

    def sql(self, query: str) -> pl.DataFrame:
        """The answer to an SQL query over the tables, views and macros of this run.

        Args:
            query: DuckDB SQL.

        Raises:
            UsageError: DuckDB refuses the query; its message is kept.
        """
        return store.ask(self._duck(), query)

    def explain(self, trace_id: str) -> Explanation:
        """One trace rung by rung: calls aligned with the expected ones, findings, scores, route and reasons.

        Raises:
            UsageError: The run has no such trace.
        """
        from tracelens.results.explain import explain

        return explain(self.run, trace_id)

    def compare(self, other: Results | str | Path) -> Comparison:
        """What changed from this run (base) to another (head), case by case.

        Args:
            other: Results, or a results folder.
        """
        from tracelens.results.compare import compare

        head = other.run if isinstance(other, Results) else store.open_run(other)
        return compare(self.run, head)

    def threshold_curve(self, score: str = "accuracy_optimal") -> ThresholdCurve:
        """What the pass rate would be for each threshold of a score: to choose the threshold by.

        Args:
            score: A score of `traces`.

        Returns:
            The curve: ``points`` is a frame, ``chart()`` an Altair chart, which a notebook shows.

        Raises:
            UsageError: No such score.
        """
        from tracelens.results.curve import threshold_curve

        return threshold_curve(self.run, score)

    def rescore(
        self, suite: Suite | str | Path | Mapping[str, Any] | None, *, out: str | Path | None = None
    ) -> Results:
        """The same traces scored again with another suite, without their source.

        Secrets are masked in stored traces. What rests on a masked value is not judged: it is null, with a reason, and
        a note of the new run says so.

        Args:
            suite: As for `score`.
            out: A results folder; a temporary one when None.

        Returns:
            The results; with the suite of this run they are the same run, unless something was masked.
        """
        from tracelens.run.again import stored_input

        return score(stored_input(self.run), suite, out=out, progress=False)

    def report(
        self, path: str | Path, *, base: str | None = None, by: Sequence[str] = ("agent", "tag:version")
    ) -> Path:
        """Write a report about this run: one HTML file that needs nothing from anywhere.

        Args:
            path: The file; one that ends in ``.md`` gets Markdown, one that ends in ``.json`` the numbers.
            base: Id of the run in the same results folder to hold it against; the run before it by default.
            by: What to tell pass rates apart by: ``tool``, ``agent``, ``day``, ``tag:NAME``.

        Returns:
            The file.

        Raises:
            StoreError: The file cannot be written, or there is no such run.
        """
        from tracelens.report import measure, subject, write_reports

        file = path_of(path, "report")
        folder = self.path.parent.parent
        form = {".md": "markdown", ".json": "json"}.get(file.suffix.lower(), "html")
        found = measure(subject(folder, run=self.run_id, base=base), by=by)
        return write_reports(found, **{form: file})[0]

    def save(self, path: str | Path) -> Path:
        """Copy the run into a results folder.

        Args:
            path: The results folder; made where absent.

        Returns:
            The run's folder there.

        Raises:
            StoreError: The run is there already, or the folder cannot be written.
        """
        return store.copy_run(self.run, path_of(path, "results folder"))

    def __repr__(self) -> str:
        rows = self.run.rows
        place = "not saved" if self._owned else f"in {self.path}"
        return f"Results({self.run_id[:12]}: {counted(rows['traces'], 'trace')}, {counted(rows['calls'], 'call')}, {place})"

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()

    def _duck(self) -> duckdb.DuckDBPyConnection:
        """DuckDB over this run alone, made at the first question."""
        if self._connection is None:
            self._connection = store.connect(self.run.folder, comments=False)
        return self._connection


def open_results(path: str | Path, run: str | None = None) -> Results:
    """The latest run of a results folder, or a named one.

    Args:
        path: A results folder, or one run folder.
        run: Id of the run, or the beginning of it.

    Raises:
        StoreError: No results folder, no run in it, or no such run.
    """
    return Results(store.open_run(path, run))


def score(
    source: Any,
    suite: Suite | str | Path | Mapping[str, Any] | None = None,
    *,
    out: str | Path | None = None,
    format: str = "auto",
    progress: bool | str = "auto",
    sample: str | float | None = None,
    since: str | date | None = None,
    until: str | date | None = None,
    where: Mapping[str, Any] | str | Iterable[str] | None = None,
) -> Results:
    """Score traces with every rung.

    Args:
        source: A path, a glob, a list of them, or a Polars, Arrow, pandas or DuckDB table of call rows.
        suite: A suite, the path of a suite file, or what such a file would hold as a dictionary. Without one there
            are diagnostics and safety checks only.
        out: The results folder, to which the run is added. Without one the run lives as long as the results.
        format: Name of the input format; ``auto`` finds it.
        progress: Whether to show a progress bar on standard error; ``auto``: if that is a terminal.
        sample: A share of the traces, such as ``"10%"`` or ``0.1``, chosen by hash of ``trace_id``: the same traces on
            every machine, and a smaller share is part of a larger one.
        since: Only traces that started at this time or later: ISO 8601 text, date or time; no zone: UTC.
        until: Only traces that started before this time. With either, traces without a start are left out.
        where: Only traces with these tags: a value, or a list of possible ones, by tag (``{"version": "1.2"}``), or
            texts ``"version=1.2"``. Dots lead into nested objects; of a tag that is an array one element must be equal.

    Returns:
        The results; column ``n_left_out`` of `runs` counts the traces that were not selected, and a note says why.

    Raises:
        SuiteError: The suite cannot be used; all problems at once.
        InputError: The input cannot be read, or holds no trace at all.
        StateError: A database of a state check cannot be reached.
        StoreError: The results cannot be written.
    """
    selection = Selection.of(sample, since, until, where)
    folder, owned = run_folder(source, suite, out=out, format=format, progress=progress, selection=selection)
    results = Results(store.open_run(folder), owned=owned)
    if out is not None:
        store.must_hold(results._duck(), str(folder))  # noqa: SLF001  a class of this module
    return results
