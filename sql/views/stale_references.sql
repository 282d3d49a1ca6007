-- One row per run, expected call and what the current schemas say against it first: nobody can make the call as expected
-- without an error finding, so the reference needs a correction, or the schema. Expected calls are checked when a run is
-- scored, whether or not an agent made them. (`tracelens lint` finds them in references of a suite without any trace.)
WITH refused AS (
    SELECT
        run_id,
        trace_id,
        reference_index,
        expected_index,
        tool,
        schema_code AS code,
        schema_path AS path,
        schema_message AS message
    FROM stored.expected
    WHERE schema_code IS NOT NULL
),
traces AS (SELECT run_id, trace_id, case_id FROM stored.traces)
SELECT
    r.run_id,                                            -- run_id: run the row belongs to
    t.case_id,                                           -- case_id: the case; null: the trace has none
    r.reference_index,                                   -- reference_index: which reference of the case (from 0)
    r.expected_index,                                    -- expected_index: position of the call in the reference (from 0)
    r.tool,                                              -- tool: tool of the call; null: the reference names none
    r.code,                                              -- code: what the schema says against it first, such as schema.required, or tool.unknown
    r.path,                                              -- path: place in the arguments; empty: the whole of them
    min(r.message) AS message,                           -- message: what is wrong, one sentence
    count(*) AS n_traces,                                -- n_traces: traces that were held against the reference
    min(r.trace_id) AS example_trace_id                  -- example_trace_id: a trace to look at
FROM refused AS r
JOIN traces AS t USING (run_id, trace_id)
GROUP BY ALL
ORDER BY r.run_id, n_traces DESC, t.case_id, r.reference_index, r.expected_index, r.code, r.path
