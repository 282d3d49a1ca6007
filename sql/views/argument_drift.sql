-- One row per run, pairing, tool and argument path (array positions written [*]) that was ever held against an expected
-- call and not found equal: which argument of which tool differs how often. A pair counts once per path and status.
WITH leaves AS (
    SELECT DISTINCT run_id, pairing, tool, trace_id, call_index, status, regexp_replace(path, '\[\d+\]', '[*]', 'g') AS path
    FROM stored.argument_diffs
    WHERE status IN ('differs', 'missing', 'unexpected')
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
        count(*) FILTER (status = 'differs') AS n_differs,
        count(*) FILTER (status = 'missing') AS n_missing,
        count(*) FILTER (status = 'unexpected') AS n_unexpected,
        count(DISTINCT (trace_id, call_index)) AS n_drifted,
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
