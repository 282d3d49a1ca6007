-- One row per run and reason for which traces went to triage, the most frequent first. A trace counts once per reason,
-- and under every reason it has.
WITH given AS (
    SELECT DISTINCT run_id, trace_id, unnest(reasons) AS reason
    FROM stored.traces
    WHERE route = 'triage'
)
SELECT
    run_id,                                    -- run_id: run the row belongs to
    reason,                                    -- reason: the defect, as on traces
    count(*) AS n_traces,                      -- n_traces: traces with that reason
    min(trace_id) AS example_trace_id          -- example_trace_id: a trace to look at
FROM given
GROUP BY run_id, reason
ORDER BY run_id, n_traces DESC, reason
