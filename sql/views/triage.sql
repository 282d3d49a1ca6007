-- One row per trace that failed, what is most urgent first: dangerous calls, then the lowest rung that failed, then the
-- number of defects.
SELECT
    run_id,                                            -- run_id: run the row belongs to
    trace_id,                                          -- trace_id: trace the row belongs to
    case_id,                                           -- case_id: task of the evaluation set; null: not given
    agent,                                             -- agent: name of the agent; null: not given
    failed_rung,                                       -- failed_rung: lowest rung that failed: 1 to 4
    coalesce(safety_hits, 0) AS safety_hits,           -- safety_hits: safety patterns that hit
    len(reasons) AS n_reasons,                         -- n_reasons: number of defects
    reasons[1] AS first_reason,                        -- first_reason: the first defect
    waived_until,                                      -- waived_until: first day on which a defect counts again; null: not waived
    started_at,                                        -- started_at: when the trace started (UTC); null: not captured
    source,                                            -- source: file the trace came from
    line                                               -- line: line of that file, from 1
FROM stored.traces
WHERE route = 'triage'
ORDER BY run_id, waived_until IS NOT NULL, coalesce(safety_hits, 0) DESC, failed_rung, len(reasons) DESC, trace_id
