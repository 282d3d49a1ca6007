"""The questions behind a report. Numbers come from the views and macros of sql/, by part instead of by run."""

from __future__ import annotations

LIMIT = 50
"""Rows that a table of a report has at most; how many there are beyond it is told."""

TOTALS = """
    SELECT
        t.run_id AS part, n_traces, n_triage, n_judge, n_settled, n_unscored, n_calls, n_errors, n_safety_traces,
        round(CAST(cost AS DOUBLE), 6) AS cost, round(CAST(tool_cost AS DOUBLE), 6) AS tool_cost, input_tokens, output_tokens,
        coalesce(n_rejects, 0) AS n_rejects, coalesce(n_missing_cases, 0) AS n_missing_cases, first_day, last_day, n_untimed
    FROM (
        SELECT
            run_id,
            count(*) AS n_traces,
            count(*) FILTER (route = 'triage') AS n_triage,
            count(*) FILTER (route = 'judge') AS n_judge,
            count(*) FILTER (route = 'settled') AS n_settled,
            count(*) FILTER (route = 'unscored') AS n_unscored,
            CAST(sum(n_calls_total) AS BIGINT) AS n_calls,
            CAST(sum(n_errors) AS BIGINT) AS n_errors,
            count(*) FILTER (safety_hits > 0) AS n_safety_traces,
            sum(TRY_CAST(cost AS DECIMAL(38, 9))) AS cost,
            sum(TRY_CAST(tool_cost AS DECIMAL(38, 9))) AS tool_cost,
            CAST(sum(input_tokens) AS BIGINT) AS input_tokens,
            CAST(sum(output_tokens) AS BIGINT) AS output_tokens,
            CAST(tl_day(min(started_at)) AS VARCHAR) AS first_day,
            CAST(tl_day(max(started_at)) AS VARCHAR) AS last_day,
            count(*) FILTER (started_at IS NULL) AS n_untimed
        FROM stored.traces WHERE run_id IN ('head', 'base') GROUP BY run_id
    ) AS t
    LEFT JOIN (SELECT run_id, count(*) AS n_rejects FROM stored.rejects GROUP BY run_id) USING (run_id)
    LEFT JOIN (SELECT run_id, count(*) AS n_missing_cases FROM missing_cases GROUP BY run_id) USING (run_id)
    ORDER BY part DESC
"""

RATES = """
    SELECT
        run_id AS part, dimension, CASE WHEN starts_with(dimension, 'tag:') AND json_valid(value)
            THEN coalesce(json_extract_string(value, '$'), value) ELSE value END AS value,
        n, n_scored, n_passed, n_unscored, pass_rate, pass_rate_low, pass_rate_high
    FROM pass_rate WHERE run_id IN ('head', 'base') AND (dimension = 'all' OR list_contains($dimensions, dimension))
    ORDER BY part DESC, dimension, n DESC, value NULLS LAST
"""

DAY_RATES = """
    SELECT value, n, n_scored, n_passed, pass_rate, pass_rate_low, pass_rate_high FROM pass_rate
    WHERE run_id = $trend AND dimension = 'day' AND value IS NOT NULL ORDER BY value
"""

DAY_FACTS = """
    SELECT CAST(tl_day(started_at) AS VARCHAR) AS day, round(CAST(sum(TRY_CAST(cost AS DECIMAL(38, 9))) AS DOUBLE), 6) AS cost,
        count(*) FILTER (safety_hits > 0) AS n_safety_traces
    FROM stored.traces WHERE run_id = $trend AND started_at IS NOT NULL GROUP BY day ORDER BY day
"""

FUNNEL = "SELECT step, n_traces, n_unchecked, share FROM funnel WHERE run_id = 'head' ORDER BY step_index"

TOOLS = """
    SELECT s.tool, s.n_calls, s.n_invalid, s.valid_share, s.n_exact, s.n_partial, s.n_missing, s.n_extra, s.n_errors,
        round(c.cost, 6) AS cost, round(c.mean_ms, 3) AS mean_ms
    FROM tool_scores AS s LEFT JOIN tool_costs AS c USING (run_id, tool)
    WHERE s.run_id = 'head' ORDER BY s.n_calls DESC, s.tool
"""

ARGUMENTS = """
    SELECT a.tool, a.path, a.n_pairs, a.n_drifted, a.share, a.n_differs, a.n_missing, a.n_unexpected,
        b.share AS share_before, a.example_trace_id
    FROM argument_drift AS a
    LEFT JOIN argument_drift AS b
        ON b.run_id = 'base' AND b.pairing = a.pairing AND b.tool = a.tool AND b.path = a.path
    WHERE a.run_id = 'head' AND a.pairing = (
        SELECT max_by(pairing, CASE pairing WHEN 'optimal' THEN 3 WHEN 'best_unused' THEN 2 ELSE 1 END)
        FROM stored.pairs WHERE run_id = 'head'
    )
    ORDER BY a.n_drifted DESC, a.tool, a.path
"""

MODES = """
    SELECT array_to_string(kinds, '; ') AS kinds, n_kinds, n_traces, share, example_trace_id FROM failure_modes
    WHERE run_id = 'head' ORDER BY n_traces DESC, kinds
"""

MISTAKES = """
    SELECT h.tool, h.code, h.path, h.n_findings, h.n_traces, coalesce(b.n_traces, 0) AS n_traces_before, h.example_trace_id
    FROM repeat_offenders AS h
    LEFT JOIN repeat_offenders AS b
        ON b.run_id = 'base' AND b.code = h.code AND b.tool IS NOT DISTINCT FROM h.tool AND b.path IS NOT DISTINCT FROM h.path
    WHERE h.run_id = 'head' ORDER BY h.n_traces DESC, h.tool, h.code, h.path
"""

REASONS = (
    "SELECT reason, n_traces, example_trace_id FROM top_reasons WHERE run_id = 'head' ORDER BY n_traces DESC, reason"
)

UNSCORED = """
    SELECT unscored_reason AS reason, count(*) AS n_traces, min(trace_id) AS example_trace_id FROM stored.traces
    WHERE run_id = 'head' AND route = 'unscored' GROUP BY ALL ORDER BY n_traces DESC, reason
"""

SAFETY = """
    SELECT code, tool, count(*) AS n_hits, count(DISTINCT trace_id) AS n_traces, count(DISTINCT trace_id) FILTER (effect) AS n_traces_with_effect,
        min(message) AS example_message, list_sort(list(DISTINCT trace_id)) AS trace_ids
    FROM stored.findings WHERE run_id = 'head' AND starts_with(code, 'safety.') AND severity = 'error' AND trace_id IS NOT NULL
    GROUP BY code, tool ORDER BY n_traces_with_effect DESC, n_traces DESC, code, tool
"""

JUDGE = "SELECT * REPLACE (round(cost_needed, 6) AS cost_needed, round(cost_avoided, 6) AS cost_avoided) FROM judge_savings WHERE run_id = 'head' AND n_questions > 0"

VERDICTS = """
    SELECT verdict, count(*) AS n_traces, CAST(sum(n_answers) AS BIGINT) AS n_answers, tl_exact_mean(agreement) AS agreement,
        round(tl_exact_sum(cost), 6) AS cost
    FROM final_verdicts WHERE run_id = 'head' GROUP BY verdict ORDER BY n_traces DESC, verdict
"""

PARTS = "SELECT run_id FROM stored.runs"
"""The parts that have any trace, of whatever day."""

PAIRED = "SELECT * FROM compare('base', 'head')"

WORSE = """
    SELECT case_id, n_trials_base, n_trials_head, pass_rate_base, pass_rate_head, difference, example_trace_id
    FROM compare_cases('base', 'head') WHERE change = 'worse' ORDER BY difference, case_id LIMIT 50
"""
