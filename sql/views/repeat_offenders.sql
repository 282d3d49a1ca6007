-- One row per run, tool, code and argument at which errors were found in more than one trace, the most frequent first: the
-- same mistake again and again. Positions in arrays are written [*].
WITH found AS (
    SELECT
        run_id,
        tool,
        code,
        path,
        trace_id,
        count(*) AS n
    FROM stored.findings
    WHERE severity = 'error' AND trace_id IS NOT NULL
    GROUP BY run_id, tool, code, path, trace_id
),
placed AS (
    SELECT
        run_id,
        tool,
        code,
        CASE WHEN contains(path, '[') THEN regexp_replace(path, '\[\d+\]', '[*]', 'g') ELSE path END AS place,
        trace_id,
        sum(n) AS n
    FROM found
    GROUP BY run_id, tool, code, place, trace_id
),
repeated AS (
    SELECT
        run_id,
        tool,
        code,
        place,
        sum(n) AS n_findings,
        count(*) AS n_traces,
        min(trace_id) AS example_trace_id
    FROM placed
    GROUP BY run_id, tool, code, place
),
runs_of AS (SELECT tool, code, place, count(*) AS n_runs FROM repeated GROUP BY tool, code, place)
SELECT
    r.run_id,                                     -- run_id: run the row belongs to
    r.tool,                                       -- tool: the tool; null: concerns no tool
    r.code,                                       -- code: what kind, such as schema.required
    r.place AS path,                              -- path: place in the arguments; empty: the whole of them; null: concerns no argument
    CAST(r.n_findings AS BIGINT) AS n_findings,   -- n_findings: findings of severity error
    r.n_traces,                                   -- n_traces: traces that have one, at least 2
    o.n_runs,                                     -- n_runs: runs of the folder in which it was found
    r.example_trace_id                            -- example_trace_id: a trace to look at
FROM repeated AS r
JOIN runs_of AS o
    ON r.code = o.code AND r.tool IS NOT DISTINCT FROM o.tool AND r.place IS NOT DISTINCT FROM o.place
WHERE r.n_traces > 1
ORDER BY r.run_id, r.n_traces DESC, r.tool, r.code, r.place
