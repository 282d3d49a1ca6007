-- A route follows from what was found: passed, failed rung, reasons and the reason of an unscored trace agree with it.
SELECT run_id, trace_id, route, passed, failed_rung, len(reasons) AS n_reasons, unscored_reason
FROM stored.traces
WHERE
    route NOT IN ('triage', 'unscored', 'judge', 'settled')
    OR passed IS DISTINCT FROM (CASE WHEN route <> 'unscored' THEN route IN ('judge', 'settled') END)
    OR (failed_rung IS NOT NULL) <> (route = 'triage')
    OR (unscored_reason IS NOT NULL) <> (route = 'unscored')
    OR (route = 'triage' AND len(reasons) = 0)
