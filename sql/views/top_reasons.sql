-- One row per run and kind of reason for which traces went to triage, the most frequent first. A trace counts once per
-- kind, and under every kind it has. Positions in arrays are written [*].
WITH kinds AS (
    SELECT
        run_id,
        trace_id,
        unnest(list_distinct(list_transform(
            list_transform(reasons, lambda reason: reason_kind(reason)),
            lambda kind: CASE WHEN contains(kind, '[') THEN regexp_replace(kind, '\[\d+\]', '[*]', 'g') ELSE kind END
        ))) AS reason
    FROM stored.traces
    WHERE route = 'triage'
)
SELECT
    run_id,                                    -- run_id: run the row belongs to
    reason,                                    -- reason: the defect, without what differs from trace to trace
    count(*) AS n_traces,                      -- n_traces: traces with that kind of reason
    min(trace_id) AS example_trace_id          -- example_trace_id: a trace to look at
FROM kinds
GROUP BY run_id, reason
ORDER BY run_id, n_traces DESC, reason
