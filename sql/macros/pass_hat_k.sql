-- One row per run and case with a trial that was scored: the chance that all of k trials pass (pass^k), estimated
-- without bias. Its mean over the cases is the run's pass^k.
CREATE OR REPLACE MACRO pass_hat_k(k) AS TABLE
SELECT
    run_id,                                                     -- run_id: run the row belongs to
    case_id,                                                    -- case_id: the case
    n_scored,                                                   -- n_scored: its trials that were scored
    n_passed,                                                   -- n_passed: those that passed
    tl_pass_hat_k(n_scored, n_passed, k) AS pass_hat_k          -- pass_hat_k: C(n_passed, k) / C(n_scored, k) (0..1); null: fewer than k trials were scored
FROM case_trials
WHERE n_scored > 0
ORDER BY run_id, case_id;
