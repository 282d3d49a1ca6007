-- One row per run and set of kinds of error findings that occur together in a trace, the most frequent first. A kind is a
-- code with its tool and argument, positions in arrays written [*].
WITH errors AS (
    SELECT DISTINCT run_id, trace_id, code, tool, path
    FROM stored.findings
    WHERE severity = 'error' AND trace_id IS NOT NULL
),
kinds AS (
    SELECT code, tool, path, concat(
        code,
        CASE WHEN tool IS NULL THEN '' ELSE concat(' ', tool) END,
        CASE WHEN coalesce(path, '') = '' THEN '' ELSE concat('.', regexp_replace(path, '\[\d+\]', '[*]', 'g')) END
    ) AS kind
    FROM (SELECT DISTINCT code, tool, path FROM errors)
),
modes AS (
    SELECT run_id, trace_id, list_sort(list(DISTINCT kind)) AS kinds
    FROM errors
    JOIN kinds
        ON errors.code = kinds.code AND errors.tool IS NOT DISTINCT FROM kinds.tool
        AND errors.path IS NOT DISTINCT FROM kinds.path
    GROUP BY run_id, trace_id
)
SELECT
    run_id,                                                              -- run_id: run the row belongs to
    kinds,                                                               -- kinds: what was found together: code, tool and argument, sorted
    len(kinds) AS n_kinds,                                               -- n_kinds: number of kinds
    count(*) AS n_traces,                                                -- n_traces: traces with exactly these
    count(*) / sum(count(*)) OVER (PARTITION BY run_id) AS share,        -- share: n_traces over all traces with an error finding (0..1)
    min(trace_id) AS example_trace_id                                    -- example_trace_id: a trace to look at
FROM modes
GROUP BY run_id, kinds
ORDER BY run_id, n_traces DESC, kinds
