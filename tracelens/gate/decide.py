"""The decision: every rule as a check that passed, failed, or could not be decided."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, Literal

from tracelens.errors import StoreError, UsageError, counted
from tracelens.gate.chance import mcnemar, permutation, smallest_drop
from tracelens.gate.rules import GateRules
from tracelens.gate.values import Metric, metric, read_traces
from tracelens.selection import EVERYTHING, Selection
from tracelens.suite.names import PASS_RATE

if TYPE_CHECKING:
    import polars as pl

    from tracelens.store import Run
    from tracelens.suite import Suite

Status = Literal["passed", "failed", "inconclusive"]

_ROUNDING = 1e-9
"""What a mean of doubles may be off by."""
_SHOWN = 5


@dataclass(frozen=True)
class Check:
    """One rule and what came of it.

    Attributes:
        name: Which rule, such as ``min pass_rate``.
        status: passed, failed or inconclusive.
        message: What was found, a sentence.
        facts: The numbers behind it.
    """

    name: str
    status: Status
    message: str
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class GateResult:
    """What a gate says.

    Attributes:
        run_id: The run.
        base_run_id: The run it was held against; None: none.
        suite: Name of the suite.
        checks: Every rule.
        warnings: What a reader should know beside them.
        allow_inconclusive: Whether what could not be decided lets it pass.
    """

    run_id: str
    base_run_id: str | None
    suite: str
    checks: tuple[Check, ...]
    warnings: tuple[str, ...] = ()
    allow_inconclusive: bool = False

    @property
    def status(self) -> Status:
        """Failed if a check failed, else inconclusive if one is, else passed."""
        found = {check.status for check in self.checks}
        return "failed" if "failed" in found else "inconclusive" if "inconclusive" in found else "passed"

    @property
    def passed(self) -> bool:
        """Whether the run may pass."""
        return self.status == "passed" or (self.status == "inconclusive" and self.allow_inconclusive)

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON values."""
        return {
            "status": self.status,
            "passed": self.passed,
            "run_id": self.run_id,
            "base_run_id": self.base_run_id,
            "suite": self.suite,
            "checks": [
                {"name": each.name, "status": each.status, "message": each.message, **each.facts}
                for each in self.checks
            ],
            "warnings": list(self.warnings),
        }


@dataclass(frozen=True)
class _Side:
    """A run with its traces and their cases."""

    run: Run
    traces: pl.DataFrame
    cases: pl.Series
    today: date

    def metric(self, name: str) -> Metric:
        return metric(self.traces, name, self.today)


def decide(
    head: Run,
    suite: Suite,
    rules: GateRules,
    *,
    base: Run | None = None,
    selection: Selection = EVERYTHING,
    today: date | None = None,
    seed: int = 1,
) -> GateResult:
    """Hold a run against the rules.

    Args:
        head: The run.
        suite: The suite that it was scored with.
        rules: What it must reach.
        base: The run that it must not fall behind.
        selection: Only these traces of both: tags and times.
        today: The day on which waivers are read; the present one in UTC by default.
        seed: Seed of permutation tests.

    Returns:
        Every rule with what came of it. Nothing that is absent, null or too little passes.

    Raises:
        UsageError: The selection asks for a sample, which is a matter of scoring.
    """
    if selection.sample != EVERYTHING.sample:
        raise UsageError("a gate takes no sample", hint="sample when scoring: `tracelens score --sample 10%`")
    names = [*rules.min, *rules.max_drop]
    day = today or datetime.now(UTC).date()
    sides = [None if run is None else _side(run, names, selection, day) for run in (head, base)]
    side, other = sides
    assert side is not None  # noqa: S101  the head is always there
    checks = [
        _suite_check(head, suite),
        _cases_check(side, other, rules, selection),
        *_scored_checks(side, rules),
        *_safety_checks(side, rules),
        *(_min_check(side.metric(name), least, rules) for name, least in rules.min.items()),
        *(_drop_check(name, most, side, other, rules, seed) for name, most in rules.max_drop.items()),
    ]
    return GateResult(
        head.run_id,
        None if base is None else base.run_id,
        suite.name,
        tuple(checks),
        tuple(_warnings(head, base)),
        rules.allow_inconclusive,
    )


def _side(run: Run, names: list[str], selection: Selection, today: date) -> _Side:
    import polars as pl

    traces = read_traces(run, names, selection)
    cases = traces.select(pl.coalesce("case_id", "trace_id"))["case_id"]
    return _Side(run, traces, cases, today)


def _fact(run: Run, column: str) -> Any:
    rows = run.read("runs", [column])[column].to_list()
    if not rows:
        raise StoreError("the table runs of the run is empty", where=str(run.folder), hint="score the input again")
    return rows[0]


def _warnings(head: Run, base: Run | None) -> Iterator[str]:
    if base is None:
        return
    if base.run_id == head.run_id:
        yield "the base run is the run itself"
    elif _fact(base, "suite_digest") != _fact(head, "suite_digest"):
        yield "the runs were scored with different suites: a change need not come from the agent"


def _check(name: str, failed: bool, message: str, **facts: Any) -> Check:
    return Check(name, "failed" if failed else "passed", message, facts)


def _suite_check(head: Run, suite: Suite) -> Check:
    """The run must be one of this suite: another one's numbers say nothing about it."""
    other = _fact(head, "suite_digest") != suite.digest
    message = "the run was scored with another suite, or this one has changed since; score or rescore it"
    return _check("suite", other, message if other else f"scored with this suite, {suite.name}")


def _cases_check(side: _Side, other: _Side | None, rules: GateRules, selection: Selection) -> Check:
    """Every case of the suite, and every case of the base, must have a trace."""
    present = set(side.cases.to_list())
    missing = dict.fromkeys(_fact(side.run, "missing_cases") if selection == EVERYTHING else ())
    if other is not None:
        missing |= dict.fromkeys(
            case for case in other.cases.unique(maintain_order=True).to_list() if case not in present
        )
    names = ", ".join(map(str, list(missing)[:_SHOWN])) + (", …" if len(missing) > _SHOWN else "")
    message = f"{counted(len(missing), 'case')} without a trace{': ' * bool(missing)}{names}"
    facts = {"n_missing": len(missing), "limit": rules.allow_missing, "cases": list(missing)[:100]}
    return _check("missing cases", len(missing) > rules.allow_missing, message, **facts)


def _scored_checks(side: _Side, rules: GateRules) -> Iterator[Check]:
    """Enough traces must have been scored, and none that should be left unscored."""
    unscored = int((side.traces["route"] == "unscored").sum())
    n_scored = side.traces.height - unscored
    message = f"{n_scored:,} scored, at least {rules.min_scored:,} needed"
    yield _check("scored traces", n_scored < rules.min_scored, message, n_scored=n_scored, limit=rules.min_scored)
    rejects = int(_fact(side.run, "n_rejects"))
    failed = unscored + rejects > rules.allow_unscored
    message = f"{counted(unscored, 'trace')} unscored and {counted(rejects, 'record')} unreadable"
    message += f", at most {rules.allow_unscored:,} allowed"
    facts = {"n_unscored": unscored, "n_rejects": rejects, "limit": rules.allow_unscored}
    yield _check("unscored traces", failed, message, **facts)


def _safety_checks(side: _Side, rules: GateRules) -> Iterator[Check]:
    """No safety hit, but for waived ones; and safety must have been looked at."""
    if not rules.no_safety_hits:
        return
    import polars as pl

    counts = (pl.col("waived_until") > side.today).fill_null(value=False)
    found = side.run.scan("findings").filter(
        pl.col("code").cast(pl.String).str.starts_with("safety."), pl.col("severity") == "error", ~counts
    )
    hits = found.select(pl.col("trace_id").cast(pl.String), "code").collect()
    hits = hits.filter(pl.col("trace_id").is_in(side.traces["trace_id"].to_list()))
    unseen = side.traces["safety_hits"].null_count()
    traces = hits["trace_id"].unique(maintain_order=True).to_list()
    message = f"{counted(hits.height, 'safety hit')} in {counted(len(traces), 'trace')}"
    if unseen:
        message += f"; {counted(unseen, 'trace')} not looked at"
    facts = {"n_hits": hits.height, "n_not_looked_at": unseen, "trace_ids": traces[:100]}
    yield _check("safety hits", bool(hits.height or unseen), message, **facts)


def _too_little(of: Metric, rules: GateRules) -> str:
    """Why a metric says nothing; empty if it does."""
    if not of.there:
        return f"{of.name} is absent from the run"
    if of.mean is None:
        return f"{of.name} is null in every trace"
    if of.n_scored < rules.min_scored:
        return f"{of.name} has {counted(of.n_scored, 'value')}, at least {rules.min_scored:,} needed"
    if of.n_unscored > rules.allow_unscored:
        few = f"{counted(of.n_unscored, 'trace')} that should have one"
        return f"{of.name} is null in {few}, at most {rules.allow_unscored:,} allowed"
    return ""


def _min_check(of: Metric, least: float, rules: GateRules) -> Check:
    """A mean must reach its limit."""
    facts = {"metric": of.name, "value": of.mean, "limit": least, "n_scored": of.n_scored, "n_unscored": of.n_unscored}
    why = _too_little(of, rules)
    if why or of.mean is None:
        return _check(f"min {of.name}", failed=True, message=why, **facts)
    failed = not of.mean >= least - _ROUNDING  # also where the limit is NaN
    message = f"{of.name} is {of.mean:.4f}, {'below' if failed else 'at least'} {least:g} ({of.n_scored:,} scored)"
    return _check(f"min {of.name}", failed, message, **facts)


def _drop_check(name: str, most: float, side: _Side, other: _Side | None, rules: GateRules, seed: int) -> Check:
    """A mean must not fall too far below that of the base, over the cases of both."""
    title, facts = f"max drop {name}", {"metric": name, "limit": most}
    if other is None:
        return _check(title, failed=True, message="there is no base run to hold it against: give --base", **facts)
    metrics = [("base", other.metric(name)), ("head", side.metric(name))]
    for where, of in metrics:
        why = _too_little(of, rules)
        if why:
            return _check(title, failed=True, message=f"{where}: {why}", **facts)
    paired = _paired(metrics[0][1].by_case(other.cases), metrics[1][1].by_case(side.cases))
    if paired.height < rules.min_scored:
        message = f"{counted(paired.height, 'case')} scored in both runs, at least {rules.min_scored:,} needed"
        return _check(title, failed=True, message=message, n_cases=paired.height, **facts)
    return _drop(title, paired, rules, seed, facts)


def _paired(base: pl.DataFrame, head: pl.DataFrame) -> pl.DataFrame:
    """Base and head value by case, sorted by case, so that no test depends on the order of traces."""
    return base.join(head, on="case", suffix="_head").sort("case")


def _drop(title: str, paired: pl.DataFrame, rules: GateRules, seed: int, facts: dict[str, Any]) -> Check:
    """Judge a drop, and whether it may be chance."""
    name, most = facts["metric"], facts["limit"]
    differences = (paired["value_head"] - paired["value"]).to_numpy()
    drop = -float(differences.mean())
    facts = facts | {"n_cases": paired.height, "base": paired["value"].mean(), "head": paired["value_head"].mean()}
    facts |= {
        "drop": drop,
        "n_better": int((differences > _ROUNDING).sum()),
        "n_worse": int((differences < -_ROUNDING).sum()),
    }
    beyond = not drop <= most + _ROUNDING  # also where the limit is NaN
    found = f"{name} {'fell' if drop > 0 else 'rose'} by {abs(drop):.4f} over {counted(paired.height, 'case')}"
    message = f"{found}, {'more than' if beyond else 'at most'} {most:g} allowed"
    if rules.confidence is None:
        return _check(title, beyond, message, **facts)
    if name == PASS_RATE:
        p_value, test = mcnemar(facts["n_better"], facts["n_worse"]), "exact McNemar test"
    else:
        p_value, test = permutation(differences, seed), "paired permutation test"
    detectable = smallest_drop(differences, rules.confidence)
    facts |= {"p_value": p_value, "test": test, "confidence": rules.confidence, "detectable_drop": detectable}
    message += f" ({test}: p = {p_value:.4g}; smallest detectable drop {detectable:.4f})"
    if beyond and p_value <= 1 - rules.confidence:
        return Check(title, "failed", message, facts)
    if detectable > most:
        return Check(title, "inconclusive", f"{message}: too few cases to tell", facts)
    return Check(title, "passed", message, facts)
