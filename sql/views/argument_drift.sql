-- One row per run, pairing, tool and argument path (array positions written [*]) that was ever held against an expected
-- call and not found equal: which argument of which tool differs how often. A pair counts once per path and status.
WITH leaves AS (
    SELECT run_id, pairing, tool, path, trace_id, status = 'differs' AS d, status = 'missing' AS m, status = 'unexpected' AS u
    FROM stored.argument_diffs
    WHERE status IN ('differs', 'missing', 'unexpected') AND NOT contains(path, '[')
    UNION ALL -- elements of arrays are counted once per pair, so only these need a second grouping
    SELECT
        run_id,
        pairing,
        tool,
        regexp_replace(path, '\[\d+\]', '[*]', 'g') AS path,
        trace_id,
        bool_or(status = 'differs'),
        bool_or(status = 'missing'),
        bool_or(status = 'unexpected')
    FROM stored.argument_diffs
    WHERE status IN ('differs', 'missing', 'unexpected') AND contains(path, '[')
    GROUP BY run_id, pairing, tool, regexp_replace(path, '\[\d+\]', '[*]', 'g'), trace_id, call_index
),
held AS (
    SELECT run_id, pairing, tool, count(*) AS n_pairs
    FROM stored.pairs
    WHERE status IN ('exact', 'partial')
    GROUP BY run_id, pairing, tool
),
drifted AS (
    SELECT
        run_id,
        pairing,
        tool,
        path,
        count(*) FILTER (d) AS n_differs,
        count(*) FILTER (m) AS n_missing,
        count(*) FILTER (u) AS n_unexpected,
        count(*) AS n_drifted,
        min(trace_id) AS example_trace_id
    FROM leaves
    GROUP BY run_id, pairing, tool, path
)
SELECT
    run_id,                            -- run_id: run the row belongs to
    pairing,                           -- pairing: positional, best_unused or optimal
    tool,                              -- tool: tool of both calls
    path,                              -- path: path of the leaf, array positions as [*]
    n_pairs,                           -- n_pairs: pairs of the tool whose arguments could be compared
    n_drifted,                         -- n_drifted: pairs in which this argument was not as expected
    n_drifted / n_pairs AS share,      -- share: n_drifted over n_pairs (0..1)
    n_differs,                         -- n_differs: pairs in which the value differs
    n_missing,                         -- n_missing: pairs in which the argument was expected and not sent
    n_unexpected,                      -- n_unexpected: pairs in which the argument was sent and not expected
    example_trace_id                   -- example_trace_id: a trace to look at
FROM drifted
JOIN held USING (run_id, pairing, tool)
ORDER BY run_id, n_drifted DESC, tool, path, pairing
