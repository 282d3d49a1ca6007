-- One row per run and kind of reason for which traces went to triage, the most frequent first. A trace counts once per
-- kind, and under every kind it has. A kind is the reason without what differs from trace to trace: positions in
-- arrays are written [*], the value at fault and the score that was missed are written as an ellipsis or left out.
WITH kinds AS (
    SELECT
        run_id,
        trace_id,
        unnest(list_distinct(list_transform(reasons, lambda reason: CASE
            WHEN contains(reason, ', below ')
                THEN concat(split_part(reason, ' is ', 1), ' below ', split_part(reason, ', below ', 2))
            -- some messages begin with the name of an argument, which is what matters; the others with its value
            WHEN contains(reason, ' is a required property') OR contains(reason, ' is a dependency of ')
                OR NOT contains(reason, ': ')
                OR NOT contains('''"{[-0123456789', substr(split_part(reason, ': ', 2), 1, 1))
                THEN CASE WHEN contains(reason, '[') THEN regexp_replace(reason, '\[\d+\]', '[*]', 'g') ELSE reason END
            ELSE concat(
                regexp_replace(split_part(reason, ': ', 1), '\[\d+\]', '[*]', 'g'),
                regexp_replace(
                    substr(reason, strpos(reason, ': ')),
                    '^: (?:''[^'']*''|"[^"]*"|-?[0-9][-+.0-9eE]*|\{.*\}|\[.*\]) ',
                    ': … '
                )
            )
        END))) AS reason
    FROM stored.traces
    WHERE route = 'triage'
)
SELECT
    run_id,                                    -- run_id: run the row belongs to
    reason,                                    -- reason: the defect, without what differs from trace to trace
    count(*) AS n_traces,                      -- n_traces: traces with that kind of reason
    min(trace_id) AS example_trace_id          -- example_trace_id: a trace to look at
FROM kinds
GROUP BY run_id, reason
ORDER BY run_id, n_traces DESC, reason
