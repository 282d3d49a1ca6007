"""The page about one trace, rung by rung."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tracelens.errors import counted
from tracelens.results.page import WIDTH, Line, Style, safe, short
from tracelens.results.rows import Aligned, Row, TraceRows

_STATUS: dict[str, tuple[str, Style]] = {
    "exact": ("=", "good"),
    "partial": ("≈", "warn"),
    "name_only": ("~", "warn"),
    "wrong_name": ("≠", "bad"),
    "missing": ("-", "bad"),
    "extra": ("+", "bad"),
    "malformed": ("!", "bad"),
}
_DIFF: dict[str, tuple[str, Style]] = {
    "differs": ("≠", "bad"),
    "missing": ("-", "bad"),
    "unexpected": ("+", "bad"),
    "ignored": ("·", "dim"),
    "not_compared": ("?", "dim"),
}
_ROUTE: dict[str, Style] = {"triage": "bad", "unscored": "warn", "judge": "good", "settled": "good"}

_LESSON = {
    1: "Each call alone: is the tool known, do its arguments fit the tool's JSON Schema?",
    2: "Each call against the expected one: same tool, same arguments after normalisation?",
    3: "The sequence of names: were the expected steps taken, in order, and nothing else?",
    4: "Credit per pair, 1 for an exact call and 0.5 for the right tool, over the longer list.",
    5: "Where the trace goes: triage if anything failed, judge or settled if all passed.",
}
_NAME, _SIDE = 22, 30


def trace_page(of: TraceRows, *, lesson: bool = False) -> Iterator[Line]:
    """The lines of the page.

    Args:
        of: What is known about the trace.
        lesson: Whether each rung says in a sentence what it looks at.

    Yields:
        Lines of at most `WIDTH` columns (a tool's own name may make one longer).
    """
    yield from _head(of.trace)
    for number, title, body in (
        (1, "schema checks", _findings(of)),
        (2, "function calls", _alignment(of)),
        (3, "trajectory", _trajectory(of.trace)),
        (4, "accuracy", _accuracy(of)),
        (5, "route", _route(of.trace)),
    ):
        yield []
        yield [(f"Rung {number}  ", "dim"), (title, "title")]
        if lesson:
            yield [("  " + _LESSON[number], "dim")]
        yield from body


def _head(trace: Row) -> Iterator[Line]:
    """Who it is, where it came from and how it ended."""
    facts = [f"case {trace['case_id']}"] if trace["case_id"] is not None else []
    facts += [f"agent {trace['agent']}"] if trace["agent"] is not None else []
    if trace["reference_index"] is not None and (trace["n_references"] or 0) > 1:
        facts.append(f"reference #{trace['reference_index']} of {trace['n_references']}")
    if trace["complete"] is False:
        facts.append("incomplete")
    route = trace["route"]
    yield [
        ("Trace ", "dim"),
        (short(trace["trace_id"], 50), "strong"),
        ("  " + short("  ".join(facts), 30), ""),
        ("  → ", "dim"),
        (route, _ROUTE.get(route, "")),
    ]
    yield [(f"{safe(trace['source'])}:{trace['line']}", "dim")]


def _findings(of: TraceRows) -> Iterator[Line]:
    """Errors first, then notes. Missed thresholds stand among the reasons of the route, beside the scores they name."""
    found = [each for each in of.findings if not each["code"].startswith("threshold.")]
    if not found:
        yield [("  ✓ ", "good"), (f"nothing found in {counted(len(of.calls), 'call')}", "")]
    for row in sorted(found, key=lambda each: (each["severity"] != "error", each["rung"], _or(each["call_index"], -1))):
        error = row["severity"] == "error"
        place = "" if row["call_index"] is None else f"call {row['call_index']} "
        where = "".join((place, row["tool"] or "", f" {row['path']}" if row["path"] else ""))
        waived = f"  (waived until {row['waived_until']})" if row["waived_until"] else ""
        yield [
            ("  ✗ " if error else "  · ", "bad" if error else "dim"),
            (short(where, 32), "name"),
            ("  " + row["code"], "dim"),
            (waived, "warn"),
        ]
        yield from _wrapped(row["message"], "      ")


def _alignment(of: TraceRows) -> Iterator[Line]:
    """Calls against expected calls, with differing arguments below."""
    if not of.alignments:
        reason = of.trace["null_reason"] or "no rows kept"
        yield [("  not compared: ", "warn"), (str(reason), "")]
        for call in of.calls:
            yield [
                (f"  {call['call_index']:>3} ", "dim"),
                (short(_tool(call), _NAME), "name"),
                ("  " + _arguments(call, WIDTH - _NAME - 10), ""),
            ]
        return
    pairing, rows = next(iter(of.alignments.items()))
    yield [(f"  {pairing} pairing", "dim")]
    yield [(f"     {'called':<{_NAME + 6}}{'expected':<{_NAME + 6}}", "dim")]
    for row in rows:
        yield from _pair(row)
    for other, others in list(of.alignments.items())[1:]:
        yield [(f"  {other} pairing: ", "dim"), (", ".join(row.pair["status"] for row in others), "")]


def _pair(row: Aligned) -> Iterator[Line]:
    """One pair or leftover."""
    sign, style = _STATUS[row.pair["status"]]
    status = row.pair["status"]
    forgiven = status == "exact" and row.pair["exact_raw"] is False
    yield [
        (f"  {sign}  ", style),
        (_side(row.call, "call_index"), "" if row.call else "dim"),
        (_side(row.expected, "expected_index"), "" if row.expected else "dim"),
        (status, style),
        ("  after normalisation" if forgiven else "", "dim"),
    ]
    told = [each for each in row.diffs if each["status"] != "equal"]
    for diff in told:
        yield _difference(diff)
    same = [each["path"] for each in row.diffs if each["status"] == "equal"]
    if same:
        yield [("         = ", "dim"), (short(", ".join(same), WIDTH - 20), "dim"), (" equal", "dim")]
    if not row.diffs and (row.call or row.expected):
        yield [("           ", ""), (_arguments(row.call or row.expected or {}), "dim")]


def _difference(diff: Row) -> Line:
    """One argument that was not as expected."""
    sign, style = _DIFF[diff["status"]]
    actual = short(_or(diff["actual"], "not sent"), _SIDE)
    expected = short(_or(diff["expected"], "not expected"), _SIDE)
    return [
        (f"         {sign} ", style),
        (f"{short(diff['path'] or '(all)', _NAME):<{_NAME}} ", "name"),
        (actual, style),
        ("  expected " if diff["expected"] is not None else "  ", "dim"),
        (expected, "strong" if diff["expected"] is not None else "dim"),
    ]


def _trajectory(trace: Row) -> Iterator[Line]:
    """Scores from names, in the order of the definitions."""
    names = (
        "strict",
        "unordered",
        "subset",
        "superset",
        "subset_partial",
        "superset_partial",
        "exact_order",
        "in_order",
    )
    more = ("any_order", "precision", "recall", "f1", "lcs")
    yield from _scores(trace, (*names, *more))
    if trace["first_divergence"] is not None:
        yield [("  first divergence at call ", "dim"), (str(trace["first_divergence"]), "strong")]


def _accuracy(of: TraceRows) -> Iterator[Line]:
    """Credits, and what stands beside the rungs."""
    trace = of.trace
    yield from _scores(trace, ("accuracy_positional", "accuracy_best_unused", "accuracy_optimal", "accuracy_graded"))
    if trace["golden_score"] is not None:
        steps = ", ".join(f"{row['tool']} {row['status']}" for row in of.steps)
        golden = trace["golden_score"]
        yield [("  golden trace ", "dim"), (f"{golden:g} of 100", "good" if golden == 100 else "bad"), ("  ", "")]
        if steps:
            yield [("    " + short(steps, WIDTH - 4), "dim")]
    for label, value in _verdicts(trace):
        yield [(f"  {label} ", "dim"), ("passed" if value else "failed", "good" if value else "bad")]
    for row in of.states:
        word, style = _state(row["passed"])
        yield [
            ("  state: ", "dim"),
            (short(row["check"], 40), "name"),
            (f" {word}", style),
            ("  " + short(row["reason"] or "", 40), ""),
        ]


def _state(passed: bool | None) -> tuple[str, Style]:
    if passed is None:
        return "not evaluated", "warn"
    return ("passed", "good") if passed else ("failed", "bad")


def _verdicts(trace: Row) -> Iterator[tuple[str, bool]]:
    """The verdicts that were reached."""
    for name in ("milestones", "invariants", "safety", "answer", "state", "checks"):
        value = trace[f"{name}_ok"]
        if value is not None:
            met = f" {trace['milestones_met']}/{trace['milestones_total']}" if name == "milestones" else ""
            yield name + met, value


def _route(trace: Row) -> Iterator[Line]:
    """Route, the rung that failed and every reason."""
    route = trace["route"]
    why = f"  failed at rung {trace['failed_rung']}" if trace["failed_rung"] is not None else ""
    why = f"  {trace['unscored_reason']}" if trace["unscored_reason"] is not None else why
    waived = f"  waived until {trace['waived_until']}" if trace["waived_until"] else ""
    yield [("  " + route, _ROUTE.get(route, "")), (why, ""), (waived, "warn")]
    for reason in trace["reasons"]:
        yield from _wrapped(reason, "    ", "  • ")


def _scores(trace: Row, names: Sequence[str]) -> Iterator[Line]:
    """Scores in three columns; null stands as a dash, and a reason where all are null."""
    if all(trace[name] is None for name in names):
        yield [("  not evaluated: ", "warn"), (trace["null_reason"] or "no_reference", "")]
        return
    for start in range(0, len(names), 3):
        line: Line = [("  ", "")]
        for name in names[start : start + 3]:
            value = trace[name]
            text = "–" if value is None else f"{value:.2f}"
            line += [(f"{name.removeprefix('accuracy_'):<17}", "dim"), (f"{text:<6}", _grade(value))]
        yield line


def _grade(value: float | None) -> Style:
    if value is None:
        return "dim"
    return "good" if value == 1 else "bad" if value == 0 else "warn"


def _side(row: Row | None, index: str) -> str:
    """Number and tool of one side, padded."""
    text = "–" if row is None else f"{row[index]} {short(_tool(row), _NAME)}"
    return f"{text:<{_NAME + 6}}"


def _tool(row: Row) -> str:
    return str(row["tool"] or row["name"] or "(no name)")


def _arguments(row: Row, width: int = WIDTH - 12) -> str:
    """The arguments as text, or why there is none."""
    if row.get("arguments") is not None:
        return short(row["arguments"], width)
    return "any arguments" if row.get("arguments_state") == "any" else "no arguments"


def _wrapped(text: str, indent: str, first: str = "") -> Iterator[Line]:
    """A sentence over at most three lines."""
    import textwrap

    lines = textwrap.wrap(safe(text), WIDTH - len(indent), max_lines=3, placeholder=" …") or [""]
    for i, line in enumerate(lines):
        yield [((first if i == 0 and first else indent) + line, "")]


def _or(value: Any, other: Any) -> Any:
    return other if value is None else value
