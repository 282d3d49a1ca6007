-- One row per case of two runs, named by their ids or how these begin: what its trials came to in the one and in the
-- other. A trace without a case is a case of its own.
CREATE OR REPLACE MACRO compare_cases(base, head) AS TABLE
WITH sides AS (
    SELECT
        coalesce(case_id, trace_id) AS case_id,
        run_id = (SELECT run_id FROM stored.runs WHERE starts_with(run_id, head)) AS is_head,
        count(*) AS n_trials,
        favg(CAST(passed AS DOUBLE)) AS rate,
        min(trace_id) FILTER (NOT passed) AS failed
    FROM stored.traces
    WHERE (starts_with(run_id, base) OR starts_with(run_id, head)) AND run_id IN (
        (SELECT run_id FROM stored.runs WHERE starts_with(run_id, base)),
        (SELECT run_id FROM stored.runs WHERE starts_with(run_id, head))
    )
    GROUP BY ALL
),
paired AS (
    SELECT
        case_id,
        max(n_trials) FILTER (NOT is_head) AS n_trials_base,
        max(n_trials) FILTER (is_head) AS n_trials_head,
        max(rate) FILTER (NOT is_head) AS pass_rate_base,
        max(rate) FILTER (is_head) AS pass_rate_head,
        max(failed) FILTER (is_head) AS example_trace_id
    FROM sides
    GROUP BY case_id
)
SELECT
    case_id,                                          -- case_id: the case, or the trace where it has none
    n_trials_base,                                    -- n_trials_base: its traces in the first run; null: it has none there
    n_trials_head,                                    -- n_trials_head: its traces in the second run; null: it has none there
    pass_rate_base,                                   -- pass_rate_base: share of its scored traces that passed in the first run (0..1); null: none was scored
    pass_rate_head,                                   -- pass_rate_head: share of its scored traces that passed in the second run (0..1); null: none was scored
    pass_rate_head - pass_rate_base AS difference,    -- difference: second minus first (-1..1); null: not scored on both sides
    CASE
        WHEN n_trials_head IS NULL THEN 'only_base'
        WHEN n_trials_base IS NULL THEN 'only_head'
        WHEN difference IS NULL THEN 'unknown'
        WHEN difference > 0 THEN 'better'
        WHEN difference < 0 THEN 'worse'
        ELSE 'same'
    END AS change,                                    -- change: better, worse, same, unknown (a side was not scored), only_base or only_head
    example_trace_id                                  -- example_trace_id: a trace of the second run that failed; null: none did
FROM paired
ORDER BY difference NULLS LAST, case_id;
