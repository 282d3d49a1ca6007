-- One row per case of two runs, named by their ids or how these begin: what its trials came to in the one and in the
-- other. A trace without a case is a case of its own.
CREATE OR REPLACE MACRO compare_cases(base, head) AS TABLE
WITH ids AS (
    SELECT
        (SELECT tl_only(list(run_id), base) FROM stored.runs WHERE starts_with(run_id, base)) AS base_id,
        (SELECT tl_only(list(run_id), head) FROM stored.runs WHERE starts_with(run_id, head)) AS head_id
),
sides AS (
    SELECT
        run_id,
        coalesce(case_id, trace_id) AS case_id,
        count(*) AS n_trials,
        count(*) FILTER (passed) / nullif(count(passed), 0) AS rate,
        tl_exact_mean(accuracy_optimal) AS accuracy,
        tl_exact_mean(f1) AS f1,
        tl_exact_mean(golden_score) AS golden,
        min(trace_id) FILTER (NOT passed) AS failed
    FROM stored.traces
    WHERE (starts_with(run_id, base) OR starts_with(run_id, head))
    GROUP BY ALL
),
paired AS (
    SELECT
        case_id,
        b.n_trials AS n_trials_base,
        h.n_trials AS n_trials_head,
        b.rate AS pass_rate_base,
        h.rate AS pass_rate_head,
        b.accuracy AS accuracy_optimal_base,
        h.accuracy AS accuracy_optimal_head,
        b.f1 AS f1_base,
        h.f1 AS f1_head,
        b.golden AS golden_score_base,
        h.golden AS golden_score_head,
        h.failed AS example_trace_id
    FROM (FROM sides WHERE run_id = (SELECT base_id FROM ids)) AS b
    FULL JOIN (FROM sides WHERE run_id = (SELECT head_id FROM ids)) AS h USING (case_id)
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
    accuracy_optimal_base,                            -- accuracy_optimal_base: mean over its traces in the first run that have it (0..1); null: none has it
    accuracy_optimal_head,                            -- accuracy_optimal_head: mean over its traces in the second run that have it (0..1); null: none has it
    f1_base,                                          -- f1_base: mean over its traces in the first run that have it (0..1); null: none has it
    f1_head,                                          -- f1_head: mean over its traces in the second run that have it (0..1); null: none has it
    golden_score_base,                                -- golden_score_base: mean over its traces in the first run that have it (0..100); null: none has it
    golden_score_head,                                -- golden_score_head: mean over its traces in the second run that have it (0..100); null: none has it
    example_trace_id                                  -- example_trace_id: a trace of the second run that failed; null: none did
FROM paired
ORDER BY difference NULLS LAST, case_id;
