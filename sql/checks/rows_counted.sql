-- The table of runs counts the rows that are there: traces, calls, rejects; and traces count their calls and findings.
WITH traces AS (
    SELECT
        run_id,
        count(*) AS n_traces,
        sum(coalesce(n_calls_total, 0)) AS n_calls,
        sum(n_findings) AS n_errors,
        sum(n_notes) AS n_notes
    FROM stored.traces
    GROUP BY run_id
),
calls AS (SELECT run_id, count(*) AS n_calls FROM stored.calls GROUP BY run_id),
rejects AS (SELECT run_id, count(*) AS n_rejects FROM stored.rejects GROUP BY run_id),
findings AS (
    SELECT
        run_id,
        count(*) FILTER (severity = 'error') AS n_errors,
        count(*) FILTER (severity = 'note') AS n_notes
    FROM stored.findings
    WHERE trace_id IS NOT NULL
    GROUP BY run_id
),
counted AS (
    SELECT runs.run_id, unnest([
        {what: 'traces', said: runs.n_traces, found: traces.n_traces},
        {what: 'calls', said: runs.n_calls, found: calls.n_calls},
        {what: 'rejects', said: runs.n_rejects, found: rejects.n_rejects},
        {what: 'calls of traces', said: traces.n_calls, found: calls.n_calls},
        {what: 'errors of traces', said: traces.n_errors, found: findings.n_errors},
        {what: 'notes of traces', said: traces.n_notes, found: findings.n_notes}
    ]) AS item
    FROM stored.runs
    LEFT JOIN traces USING (run_id)
    LEFT JOIN calls USING (run_id)
    LEFT JOIN rejects USING (run_id)
    LEFT JOIN findings USING (run_id)
)
SELECT run_id, item.what, coalesce(item.said, 0) AS said, coalesce(item.found, 0) AS found
FROM counted
WHERE coalesce(item.said, 0) <> coalesce(item.found, 0)
