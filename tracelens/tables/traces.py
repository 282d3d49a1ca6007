"""The table `traces`: one row per trace, with every score, count, verdict and diagnostic."""

from __future__ import annotations

from tracelens.tables.model import Column, Table

PAIRINGS = ("positional", "best_unused", "optimal")
"""The ways of pairing actual with expected calls; counts and scores of all three stand on `traces`."""

_NO_REFERENCE = "no reference, or `null_reason` says why it was not evaluated"
_NO_ARGUMENTS = "as for the scores from names, or arguments of a call that matters were not captured"
_NOT_CAPTURED = "not captured by the source"
_NO_CALLS = "calls were not recorded"
_UNCOMPARED = "calls were not recorded, or arguments were masked before they could be compared"

IDENTITY = (
    Column("run_id", "str", "run that scored this trace", few=True),
    Column("trace_id", "str", "id of the trace; `<file>:<line>` where the input has none"),
    Column("session_id", "str", "conversation the trace belongs to", null="not given"),
    Column(
        "case_id", "str", "task of the evaluation set; traces with the same case are trials of it", null="not given"
    ),
    Column("reference_index", "i32", "index of the reference that counted for this trace", null="no reference"),
    Column("agent", "str", "name of the agent", null="not given", few=True),
    Column("tags", "str", "the trace's own tags, a JSON object as text", null="none given"),
    Column("started_at", "time", "when the trace started", null=_NOT_CAPTURED, unit="UTC"),
    Column("complete", "bool", "whether the source says that the trace is complete", null="the source does not say"),
    Column("has_calls", "bool", "whether tool calls were recorded at all (an empty list counts as recorded)"),
    Column("source", "str", "file the trace came from, relative to the input root", few=True),
    Column("line", "i64", "line of that file, from 1 (row number for tables)"),
    Column("id_given", "bool", "whether the input gave the trace_id"),
    Column("tools", "str", "tool definitions recorded in the trace, JSON text", null="none recorded", few=True),
    Column("final_answer", "str", "the agent's final answer", null="none recorded"),
    Column("llm_calls", "i64", "calls of the language model", null=_NOT_CAPTURED),
    Column("input_tokens", "i64", "tokens read by the language model", null=_NOT_CAPTURED, unit="tokens"),
    Column("output_tokens", "i64", "tokens written by the language model", null=_NOT_CAPTURED, unit="tokens"),
    Column("cost", "f64", "cost of the trace as recorded", null=_NOT_CAPTURED, unit="currency of the source"),
    Column(
        "duration_ms",
        "f64",
        "time of the trace, or the sum over its calls where only they have one",
        null=_NOT_CAPTURED,
        unit="ms",
    ),
)
"""Who, where and when."""

COUNTS = (
    Column(
        "n_calls",
        "i32",
        "calls that enter the scores: requested, top level, no hand-offs or output tools",
        null=_NO_CALLS,
    ),
    Column("n_calls_total", "i32", "all recorded calls at every depth", null=_NO_CALLS),
    Column("n_expected", "i32", "calls of the reference that counted", null="no reference"),
    Column("n_references", "i32", "references of the trace's case, or of the trace itself", null="no reference"),
    Column("reference_source", "str", "where the reference came from: trace or suite", null="no reference", few=True),
    Column("n_malformed", "i32", "entries among the scored calls without a usable name", null=_NO_CALLS),
)
"""How many."""


def _pair_counts(pairing: str) -> tuple[Column, ...]:
    """Row counts of one pairing."""
    exact = "pairs with equal name and equal canonical arguments"
    partial = "pairs with equal name whose arguments differ"
    name_only = "pairs with equal name whose arguments were not captured or truncated"
    columns = (
        Column(f"n_exact_{pairing}", "i32", f"{pairing} pairing: {exact}", null=_NO_ARGUMENTS),
        Column(f"n_partial_{pairing}", "i32", f"{pairing} pairing: {partial}", null=_NO_ARGUMENTS),
        Column(f"n_name_only_{pairing}", "i32", f"{pairing} pairing: {name_only}", null=_NO_REFERENCE),
        Column(
            f"n_missing_{pairing}", "i32", f"{pairing} pairing: expected calls that were not made", null=_NO_REFERENCE
        ),
        Column(
            f"n_extra_{pairing}",
            "i32",
            f"{pairing} pairing: calls that were not expected, malformed ones aside",
            null=_NO_REFERENCE,
        ),
    )
    if pairing != "positional":
        return columns
    wrong = Column(
        "n_wrong_name_positional",
        "i32",
        "positions where both sides have a call, of different names",
        null=_NO_REFERENCE,
    )
    return (*columns, wrong)


def _score(name: str, meaning: str, null: str = _NO_REFERENCE, unit: str = "0..1") -> Column:
    return Column(name, "f64", meaning, null=null, unit=unit)


TRAJECTORY = (
    _score("strict", "length of the common prefix of the two lists of names, over the longer list"),
    _score("unordered", "distinct names in both, over distinct names in either"),
    _score("subset", "1 if every expected name was called, else 0 (also shown as covers_expected)"),
    _score("superset", "1 if every called name was expected, else 0 (also shown as only_expected)"),
    _score("subset_partial", "share of the distinct expected names that were called; 1 where nothing was expected"),
    _score("superset_partial", "share of the distinct called names that were expected; 1 where nothing was called"),
    _score("exact_order", "1 if the two lists of names are equal, else 0"),
    _score("in_order", "1 if the expected names are a subsequence of the called ones, else 0"),
    _score("any_order", "1 if the expected names are a sub-multiset of the called ones, else 0"),
    _score("precision", "multiset overlap of names over the number of calls; 1 where nothing was called"),
    _score("recall", "multiset overlap of names over the number of expected calls; 1 where nothing was expected"),
    _score("f1", "twice the multiset overlap of names, over calls plus expected calls"),
    _score("lcs", "longest common subsequence of names, over the longer list"),
    Column(
        "first_divergence",
        "i32",
        "first position where the names differ",
        null="the lists are equal, or no reference",
        unit="position from 0",
    ),
)
"""Rung three, from names alone."""

ACCURACY = (
    _score("accuracy_positional", "credit of the positional pairs over the longer list", _NO_ARGUMENTS),
    _score(
        "accuracy_best_unused",
        "credit where each call takes its best unused expected call, over the longer list",
        _NO_ARGUMENTS,
    ),
    _score("accuracy_optimal", "largest possible credit over the longer list", _NO_ARGUMENTS),
    _score(
        "accuracy_graded",
        "as accuracy_optimal, partial pairs earning credit for the arguments that agree",
        _NO_ARGUMENTS,
    ),
)
"""Rung four: 1 for an exact pair, 0.5 for an equal name, unless the suite sets other credits."""

BESIDE = (
    _score("golden_score", "longest common subsequence with the golden steps, over their number", unit="0..100"),
    Column("milestones_met", "i32", "milestones reached", null="no milestones, or not evaluated"),
    Column("milestones_total", "i32", "milestones asked for", null="no milestones"),
    Column("milestones_ok", "bool", "whether all milestones were reached", null="no milestones, or not evaluated"),
    Column(
        "invariants_ok",
        "bool",
        "whether no invariant was broken",
        null="no invariants, or the trace is incomplete and none was seen broken",
    ),
    Column("n_findings", "i32", "findings of severity error"),
    Column("n_notes", "i32", "findings of severity note"),
    Column("safety_hits", "i32", "safety patterns that hit", null="no safety patterns in the suite"),
    Column(
        "safety_ok",
        "bool",
        "whether no safety pattern hit",
        null="no patterns, or the trace is incomplete and none hit",
    ),
    Column(
        "answer_ok",
        "bool",
        "whether the final answer passed its checks",
        null="no answer checks, or no answer recorded",
    ),
    Column("state_ok", "bool", "whether all state checks passed", null="no state check applied, or all were vacuous"),
    Column("checks_ok", "bool", "whether the suite's own checks found nothing", null="no own checks"),
)
"""Golden trace, milestones, invariants, safety, state and own checks."""

DIAGNOSTICS = (
    Column("n_errors", "i32", "calls that ended in an error", null=_NO_CALLS),
    Column("n_denied", "i32", "calls that were refused", null=_NO_CALLS),
    Column("n_unknown_status", "i32", "calls without a status, counted as executed", null=_NO_CALLS),
    Column(
        "n_repeated_errors", "i32", "errors that repeat one with the same tool, arguments and message", null=_UNCOMPARED
    ),
    Column("n_recovered_errors", "i32", "errors after which the same tool succeeded", null=_NO_CALLS),
    Column(
        "n_identical_repeats",
        "i32",
        "calls that repeat an earlier one with the same tool and arguments",
        null=_UNCOMPARED,
    ),
    Column("longest_loop", "i32", "longest run of one identical call", null=_UNCOMPARED),
    Column("oscillation", "i32", "longest run that alternates between two calls", null=_UNCOMPARED),
    Column("n_needless", "i32", "extra calls under the optimal pairing", null=_NO_REFERENCE),
    Column(
        "tool_cost",
        "f64",
        "cost of the calls at the suite's prices",
        null="no price for any tool called, or a sum beyond any number",
        unit="currency of the suite",
    ),
)
"""What went on, whether or not it was expected."""

ROUTING = (
    Column("route", "str", "triage, unscored, judge or settled", few=True),
    Column("passed", "bool", "whether the route is judge or settled", null="unscored"),
    Column("failed_rung", "i8", "lowest rung that failed: 1 to 4", null="none failed"),
    Column("reasons", "texts", "every defect, as sentences"),
    Column("unscored_reason", "str", "what was needed and not evaluated", null="the trace was scored", few=True),
    Column(
        "null_reason",
        "str",
        "why scores are null: no_reference, incomplete, calls_not_recorded, arguments_not_captured",
        null="all were evaluated",
        few=True,
    ),
    Column(
        "waived_until",
        "date",
        "first day on which a defect counts again; all defects are waived until then",
        null="not waived",
    ),
)
"""Rung five."""

TRACES = Table(
    "traces",
    "one row per trace",
    ("run_id", "trace_id"),
    (
        *IDENTITY,
        *COUNTS,
        *(column for pairing in PAIRINGS for column in _pair_counts(pairing)),
        *TRAJECTORY,
        *ACCURACY,
        *BESIDE,
        *DIAGNOSTICS,
        *ROUTING,
    ),
)
"""One row per trace."""

SCORES: tuple[str, ...] = tuple(c.name for c in (*TRAJECTORY, *ACCURACY, BESIDE[0]) if c.dtype == "f64")
"""Names of all columns of `traces` that are scores, higher is better: thresholds and comparisons take these."""
