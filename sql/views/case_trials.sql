-- One row per run and case: how many traces (trials) it has and how many of them passed.
SELECT
    run_id,                                                            -- run_id: run the row belongs to
    case_id,                                                           -- case_id: the case
    count(*) AS n_trials,                                              -- n_trials: its traces
    count(passed) AS n_scored,                                         -- n_scored: those that were scored
    count(*) FILTER (passed) AS n_passed,                              -- n_passed: those that passed
    n_passed / nullif(n_scored, 0) AS pass_rate,                       -- pass_rate: n_passed over n_scored (0..1); null: none was scored
    min(trace_id) FILTER (NOT passed) AS example_trace_id              -- example_trace_id: a trial that failed; null: none did
FROM stored.traces
WHERE case_id IS NOT NULL
GROUP BY run_id, case_id
