-- One row per run and case of the suite's references for which the input had no trace.
SELECT
    run_id,                            -- run_id: run the row belongs to
    unnest(missing_cases) AS case_id   -- case_id: the case nobody ran
FROM stored.runs
