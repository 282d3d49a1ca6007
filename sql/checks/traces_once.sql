-- A trace has one row in its run.
SELECT run_id, trace_id, count(*) AS n_rows
FROM stored.traces
GROUP BY run_id, trace_id
HAVING count(*) > 1
