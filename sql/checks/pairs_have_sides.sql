-- A pair has the sides that its status says, and equal names except where a position holds another tool.
SELECT run_id, trace_id, pairing, call_index, expected_index, status, tool, expected_tool
FROM stored.pairs
WHERE
    (call_index IS NULL) <> (status = 'missing')
    OR (expected_index IS NULL) <> (status IN ('extra', 'malformed'))
    OR (status IN ('exact', 'partial', 'name_only') AND tool IS DISTINCT FROM expected_tool)
    OR (status = 'wrong_name' AND (pairing <> 'positional' OR tool = expected_tool))
