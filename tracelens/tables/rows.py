"""The tables below `traces`: calls, expected calls, pairs, differences, steps, findings, state results and the rest."""

from __future__ import annotations

from tracelens.tables.model import Column, Table

_NOT_CAPTURED = "not captured by the source"
_NOT_CHECKED = "scored by a version that did not check it"
_FITS = "nothing is said against the expected call"

RUN_ID = Column("run_id", "str", "run the row belongs to", few=True)
TRACE_ID = Column("trace_id", "str", "trace the row belongs to")

CALLS = Table(
    "calls",
    "one row per recorded tool call, at every depth",
    ("run_id", "trace_id", "call_index"),
    (
        RUN_ID,
        TRACE_ID,
        Column("call_index", "i32", "position in the trace", unit="from 0"),
        Column(
            "tool",
            "str",
            "name of the tool after aliases, prefixes and wrappers",
            null="no usable name",
            few=True,
        ),
        Column("name", "str", "name as recorded", null="none recorded", few=True),
        Column("call_id", "str", "id of the call as recorded", null="none recorded"),
        Column(
            "turn",
            "i32",
            "step of the model that asked for the call; calls of one turn are parallel",
            null=_NOT_CAPTURED,
        ),
        Column("agent", "str", "agent that made the call", null=_NOT_CAPTURED, few=True),
        Column("depth", "i32", "0 at top level, 1 and more inside a sub-agent"),
        Column("kind", "str", "special kind of call, such as custom (free text)", null="an ordinary call", few=True),
        Column("status", "str", "ok, error or denied", null=_NOT_CAPTURED, few=True),
        Column("executed", "bool", "whether the call ran; an unknown status counts as executed"),
        Column("denied", "bool", "whether the call was refused"),
        Column("malformed", "bool", "whether the entry had no usable name"),
        Column("in_score", "bool", "whether the call enters the scores"),
        Column("output_tool", "bool", "whether the call is a declared output pseudo-tool"),
        Column("handoff", "bool", "whether the call hands over to another agent"),
        Column("wrapper", "str", "dispatcher the call was unwrapped from", null="not wrapped", few=True),
        Column("arguments", "str", "arguments as sent, JSON text (never typed)", null="none recorded"),
        Column(
            "arguments_form",
            "u8",
            "how the source held them: 0 absent, 1 null, 2 JSON, 3 JSON in a string, 4 free text, 5 truncated, 6 not captured, "
            "7 masked in the run they were taken from",
        ),
        Column(
            "arguments_state",
            "str",
            "object, empty, not_captured, truncated, invalid_json, not_object or text",
            few=True,
        ),
        Column("decoded_times", "u8", "how often a JSON string had to be decoded to find the object", unit="0..2"),
        Column("arguments_repair", "str", "repair that the source's declared rule made", null="none", few=True),
        Column(
            "schema_state",
            "str",
            "valid, invalid, unknown_tool, unusable, no_schema, not_captured or not_applicable",
            few=True,
        ),
        Column(
            "digest_hi",
            "u64",
            "upper half of the digest of the canonical arguments",
            null="arguments are no object and no text",
        ),
        Column(
            "digest_lo",
            "u64",
            "lower half of the digest of the canonical arguments",
            null="arguments are no object and no text",
        ),
        Column("result", "str", "what the tool returned, text or JSON text", null=_NOT_CAPTURED),
        Column("error", "str", "error of the call", null="no error, or not captured"),
        Column("started_at", "time", "when the call started", null=_NOT_CAPTURED, unit="UTC"),
        Column("duration_ms", "f64", "time the call took", null=_NOT_CAPTURED, unit="ms"),
    ),
)
"""One row per recorded call."""

EXPECTED = Table(
    "expected",
    "one row per expected call, of every reference of a trace",
    ("run_id", "trace_id", "reference_index", "expected_index"),
    (
        RUN_ID,
        TRACE_ID,
        Column("reference_index", "i32", "which reference of the trace", unit="from 0"),
        Column(
            "expected_index",
            "i32",
            "position in the reference; -1 stands alone for a reference without calls",
            unit="from 0",
        ),
        Column("reference_source", "str", "trace or suite", few=True),
        Column("chosen", "bool", "whether this reference counted for the trace"),
        Column(
            "tool",
            "str",
            "name of the tool after aliases and prefixes",
            null="the reference has no calls",
            few=True,
        ),
        Column("name", "str", "name as written", null="the reference has no calls", few=True),
        Column(
            "arguments",
            "str",
            "expected arguments as written, JSON text (may hold matchers)",
            null="any arguments are accepted",
        ),
        Column(
            "arguments_form", "u8", "0 or 1: any arguments are accepted; 2 or 3: a JSON object, or blank text for none"
        ),
        Column("arguments_state", "str", "any, object or empty", null="the reference has no calls", few=True),
        Column(
            "schema_state",
            "str",
            "whether a call as expected would pass rung one: valid, invalid, unknown_tool, unusable, no_schema,"
            " not_captured (a secret is masked) or not_applicable (any arguments are accepted, or no tools are known);"
            " what matchers leave open counts as valid",
            null=f"the reference has no calls, or {_NOT_CHECKED}",
            few=True,
        ),
        Column(
            "schema_code", "str", "what the schema says against it first, such as schema.required", null=_FITS, few=True
        ),
        Column("schema_path", "str", "place in the arguments; empty for the whole of them", null=_FITS, few=True),
        Column("schema_message", "str", "what is wrong, one sentence", null=_FITS, few=True),
    ),
)
"""One row per expected call; with it a run can be rescored without its source."""

_PAIRING = Column("pairing", "str", "positional, best_unused or optimal", few=True)

PAIRS = Table(
    "pairs",
    "one row per pair and per leftover, for the pairings that the suite asks for",
    (),
    (
        RUN_ID,
        TRACE_ID,
        _PAIRING,
        Column("call_index", "i32", "the actual call", null="the expected call was not made"),
        Column("expected_index", "i32", "the expected call", null="the call was not expected"),
        Column(
            "tool",
            "str",
            "tool of the actual call, of the expected one where it is missing",
            null="malformed entry",
            few=True,
        ),
        Column("expected_tool", "str", "tool of the expected call", null="the call was not expected", few=True),
        Column("status", "str", "exact, partial, name_only, wrong_name, missing, extra or malformed", few=True),
        Column(
            "exact_raw",
            "bool",
            "whether the arguments were equal as JSON before any normalisation",
            null="not a pair, or arguments not captured",
        ),
        Column(
            "agreement",
            "f64",
            "top-level arguments with equal canonical value over the union of their names",
            null="not a pair, or arguments not captured",
            unit="0..1",
        ),
    ),
)
"""Rung two: who was held against whom."""

ARGUMENT_DIFFS = Table(
    "argument_diffs",
    "one row per leaf path of every partial pair",
    (),
    (
        RUN_ID,
        TRACE_ID,
        _PAIRING,
        Column("call_index", "i32", "the actual call"),
        Column("expected_index", "i32", "the expected call"),
        Column("tool", "str", "tool of both calls", few=True),
        Column(
            "path",
            "str",
            "path of the leaf, such as `passengers[0].name`; empty for the whole arguments",
            few=True,
        ),
        Column("status", "str", "equal, differs, missing, unexpected, ignored or not_compared", few=True),
        Column("actual", "str", "canonical value that was sent, JSON text", null="missing"),
        Column("expected", "str", "canonical value that was expected, JSON text", null="unexpected"),
    ),
)
"""Rung two: which argument differs, and how."""

STEPS = Table(
    "steps",
    "one row per step of the alignment with the golden trace",
    ("run_id", "trace_id", "step_index"),
    (
        RUN_ID,
        TRACE_ID,
        Column("step_index", "i32", "position in the alignment", unit="from 0"),
        Column("call_index", "i32", "the actual call", null="the golden step is missing"),
        Column("expected_index", "i32", "the golden step", null="the call was unexpected"),
        Column("tool", "str", "tool of the step", null="malformed entry", few=True),
        Column("status", "str", "correct, unexpected or missing", few=True),
    ),
)
"""The golden trace, step by step."""

FINDINGS = Table(
    "findings",
    "one row per defect or note",
    (),
    (
        RUN_ID,
        Column(
            "trace_id",
            "str",
            "trace it was found in",
            null="concerns the whole run, such as an unusable schema",
        ),
        Column("call_index", "i32", "call it was found in", null="concerns the whole trace"),
        Column("rung", "i8", "rung that found it: 1 to 4"),
        Column("severity", "str", "error (blames the agent, sends the trace to triage) or note", few=True),
        Column("code", "str", "what kind, such as schema.required, safety.shell or threshold.f1", few=True),
        Column("tool", "str", "tool of the call", null="concerns no tool", few=True),
        Column(
            "path",
            "str",
            "place in the arguments; empty for the whole of them",
            null="concerns no argument",
            few=True,
        ),
        Column("message", "str", "what is wrong, one sentence"),
        Column("value", "str", "the value at fault, JSON text, shortened and masked", null="none"),
        Column("effect", "bool", "whether the call ran and may have done harm", null="not a safety finding"),
        Column("waived_until", "date", "first day on which it counts again", null="not waived"),
        Column("waive_reason", "str", "why it is waived", null="not waived", few=True),
    ),
)
"""Everything found, one row each."""

STATE_RESULTS = Table(
    "state_results",
    "one row per trace and state check that applies to it",
    ("run_id", "trace_id", "check"),
    (
        RUN_ID,
        TRACE_ID,
        Column("check", "str", "name of the state check", few=True),
        Column(
            "passed", "bool", "whether the database holds what was expected", null="vacuous: nothing to hold it against"
        ),
        Column("reason", "str", "why it failed or is vacuous", null="passed"),
        Column("observed", "str", "row that the query returned, JSON object as text", null="no row"),
        Column("expected", "str", "values expected, JSON object as text", null="no expectation"),
    ),
)
"""What the world looked like afterwards."""

REJECTS = Table(
    "rejects",
    "one row per record that could not be read",
    (),
    (
        RUN_ID,
        Column("source", "str", "file, relative to the input root", few=True),
        Column("line", "i64", "line of the file, from 1"),
        Column(
            "offset",
            "i64",
            "where in the (decompressed) file reading went wrong",
            null="read, but its id came before",
            unit="bytes",
        ),
        Column("reason", "str", "why it could not be read"),
        Column("text", "str", "its first 200 characters"),
    ),
)
"""What was left out, and why."""

RUNS = Table(
    "runs",
    "one row per run",
    ("run_id",),
    (
        RUN_ID,
        Column("suite", "str", "name of the suite", null="scored without a suite"),
        Column("suite_digest", "str", "SHA-256 of the suite and all it names", unit="hex"),
        Column("input_digest", "str", "digest of the input", unit="hex"),
        Column("version", "str", "version of the program"),
        Column("format", "str", "input format, as given or as found"),
        Column("sources", "texts", "input files, relative to the input root"),
        Column("selection", "str", "which traces were selected, JSON object as text", null="all of them"),
        Column(
            "n_records",
            "i64",
            "records in the input: those of traces (one each, where a record is a trace; else spans, runs or lines),"
            " merged duplicates, left out, blank and rejected ones",
        ),
        Column("n_traces", "i64", "traces scored"),
        Column("n_calls", "i64", "recorded calls"),
        Column("n_merged", "i64", "records equal to an earlier one of the same trace"),
        Column("n_left_out", "i64", "traces that were not selected"),
        Column("n_blank", "i64", "blank records"),
        Column("n_rejects", "i64", "records that could not be read"),
        Column("missing_cases", "texts", "cases of the suite without a trace"),
        Column("notes", "texts", "what the reader of this run should know"),
        Column("thresholds", "str", "thresholds that applied, JSON object as text"),
        Column(
            "tool_prices",
            "str",
            "price of one call by tool (currency of the suite), JSON object as text",
            null="scored by a version that did not keep it",
        ),
        Column("questions", "texts", "open questions for the judge"),
        Column(
            "judge_price_per_1k_tokens",
            "f64",
            "price of the judge",
            null="not given",
            unit="currency of the suite per 1000 tokens",
        ),
    ),
)
"""One row per run; the time of scoring stands only in run.json."""

SPANS = Table(
    "spans",
    "one row per recorded span, where the input has spans",
    ("run_id", "trace_id", "span_id"),
    (
        RUN_ID,
        TRACE_ID,
        Column("span_id", "str", "id of the span"),
        Column("parent_id", "str", "span it belongs to", null="a root"),
        Column("kind", "str", "llm, tool, agent, chain or other", few=True),
        Column("name", "str", "name of the span", null="none recorded", few=True),
        Column("agent", "str", "agent of the span", null=_NOT_CAPTURED, few=True),
        Column("model", "str", "language model", null="no model, or not captured", few=True),
        Column("call_index", "i32", "call that the span is", null="not a tool call"),
        Column("status", "str", "ok or error", null=_NOT_CAPTURED, few=True),
        Column("started_at", "time", "when it started", null=_NOT_CAPTURED, unit="UTC"),
        Column("duration_ms", "f64", "time it took", null=_NOT_CAPTURED, unit="ms"),
        Column("input_tokens", "i64", "tokens read", null=_NOT_CAPTURED, unit="tokens"),
        Column("output_tokens", "i64", "tokens written", null=_NOT_CAPTURED, unit="tokens"),
        Column("cost", "f64", "cost as recorded", null=_NOT_CAPTURED, unit="currency of the source"),
    ),
)
"""Timed steps."""

VERDICTS = Table(
    "verdicts",
    "one row per answer of a judge about a trace, as `tracelens verdicts` read them",
    ("run_id", "batch", "line"),
    (
        RUN_ID,
        TRACE_ID,
        Column("batch", "i32", "which reading of answers it came with", unit="from 1"),
        Column("line", "i64", "line of the file of answers", unit="from 1"),
        Column("judge", "str", "model or person that answered", null="not told", few=True),
        Column("verdict", "str", "pass, fail or unclear", null="no usable answer, see `problem`", few=True),
        Column("reason", "str", "why, as the judge says", null="not told"),
        Column("answers", "str", "answers to the single questions, JSON text", null="not told"),
        Column("problem", "str", "why the answer cannot be used", null="it can"),
        Column("input_tokens", "i64", "tokens that the judge read", null="not told", unit="tokens"),
        Column("output_tokens", "i64", "tokens that the judge wrote", null="not told", unit="tokens"),
        Column(
            "cost",
            "f64",
            "cost as told, or the tokens at the suite's price",
            null="not told, and tokens or price are not known",
            unit="currency of the suite",
        ),
    ),
    stored=False,
)
"""What judges said; it stands beside the runs, which never change."""

STORED = (CALLS, EXPECTED, PAIRS, ARGUMENT_DIFFS, STEPS, FINDINGS, STATE_RESULTS, REJECTS, RUNS, SPANS)
"""All of them, `traces` aside."""
