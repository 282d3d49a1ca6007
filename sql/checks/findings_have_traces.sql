-- A finding belongs to a trace of its run, or to the whole run.
SELECT findings.run_id, findings.trace_id, findings.code
FROM stored.findings
ANTI JOIN stored.traces USING (run_id, trace_id)
WHERE findings.trace_id IS NOT NULL
