-- One row per run and case of which some trials passed and some failed, the most undecided first.
SELECT
    run_id,                            -- run_id: run the row belongs to
    case_id,                           -- case_id: the case
    n_trials,                          -- n_trials: its traces
    n_scored,                          -- n_scored: those that were scored
    n_passed,                          -- n_passed: those that passed
    pass_rate,                         -- pass_rate: n_passed over n_scored (0..1)
    tl_wilson_low(n_passed, n_scored) AS pass_rate_low,    -- pass_rate_low: lower end of its 95 % Wilson interval (0..1)
    tl_wilson_high(n_passed, n_scored) AS pass_rate_high,  -- pass_rate_high: upper end of its 95 % Wilson interval (0..1)
    example_trace_id                   -- example_trace_id: a trial that failed
FROM case_trials
WHERE n_passed > 0 AND n_passed < n_scored
ORDER BY run_id, abs(pass_rate - 0.5), n_scored DESC, case_id
