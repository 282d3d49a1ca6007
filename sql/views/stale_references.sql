-- One row per run, expected call and schema error: calls that were made exactly as expected and that the current schemas
-- refuse all the same, so the reference needs a correction, or the schema. (`tracelens lint` finds them in references of a
-- suite without any trace.)
WITH refused AS (
    SELECT run_id, trace_id, call_index, tool, code, path, message
    FROM stored.findings
    WHERE severity = 'error' AND call_index IS NOT NULL AND (starts_with(code, 'schema.') OR code = 'tool.unknown')
),
expected AS (
    SELECT DISTINCT r.run_id, r.trace_id, p.expected_index, r.tool, r.code, r.path, r.message
    FROM stored.pairs AS p
    JOIN refused AS r USING (run_id, trace_id, call_index)
    WHERE p.status = 'exact'
)
SELECT
    e.run_id,                                            -- run_id: run the row belongs to
    t.case_id,                                           -- case_id: the case; null: the trace has none
    t.reference_index,                                   -- reference_index: which reference of the case (from 0)
    e.expected_index,                                    -- expected_index: position of the call in the reference (from 0)
    e.tool,                                              -- tool: tool of the call
    e.code,                                              -- code: what the schema says against it, such as schema.required, or tool.unknown
    e.path,                                              -- path: place in the arguments; empty: the whole of them; null: concerns no argument
    min(e.message) AS message,                           -- message: what is wrong, one sentence
    count(*) AS n_traces,                                -- n_traces: traces in which it was seen
    min(e.trace_id) AS example_trace_id                  -- example_trace_id: a trace to look at
FROM expected AS e
JOIN stored.traces AS t USING (run_id, trace_id)
GROUP BY ALL
ORDER BY e.run_id, n_traces DESC, t.case_id, e.expected_index, e.code, e.path
