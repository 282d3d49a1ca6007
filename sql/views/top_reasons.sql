-- One row per run and kind of reason for which traces went to triage, the most frequent first. A trace counts once per
-- kind, and under every kind it has. A kind is the reason without what differs from trace to trace: positions in
-- arrays are written [*], the value at fault and the score that was missed are written as an ellipsis.
WITH every AS (
    SELECT run_id, trace_id, unnest(reasons) AS reason
    FROM stored.traces
    WHERE route = 'triage'
),
kinds AS (
    SELECT
        run_id,
        trace_id,
        CASE
            -- these messages begin with the name of an argument, which is what matters
            WHEN reason LIKE '% is a required property' OR reason LIKE '% is a dependency of %' THEN reason
            WHEN contains(reason, ' below ') THEN regexp_replace(reason, ' is [-+.0-9e]+, below ', ' below ')
            ELSE regexp_replace(reason, ': (''[^'']*''|"[^"]*"|-?[0-9][-+.0-9eE]*|\{.*\}|\[.*\]) ', ': … ')
        END AS kind
    FROM every
),
counted AS (
    SELECT DISTINCT
        run_id,
        trace_id,
        CASE WHEN contains(kind, '[') THEN regexp_replace(kind, '\[\d+\]', '[*]', 'g') ELSE kind END AS reason
    FROM kinds
)
SELECT
    run_id,                                    -- run_id: run the row belongs to
    reason,                                    -- reason: the defect, without what differs from trace to trace
    count(*) AS n_traces,                      -- n_traces: traces with that kind of reason
    min(trace_id) AS example_trace_id          -- example_trace_id: a trace to look at
FROM counted
GROUP BY run_id, reason
ORDER BY run_id, n_traces DESC, reason
