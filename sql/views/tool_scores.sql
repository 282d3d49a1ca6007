-- One row per run and tool that was called or expected. Counts of pairs come from the optimal pairing where the suite
-- kept it, else from the one it kept; they are null where no trace with that tool was held against a reference.
WITH counted AS (
    SELECT
        run_id,
        pairing,
        tool,
        coalesce(sum(n) FILTER (status = 'exact'), 0)::BIGINT AS n_exact,
        coalesce(sum(n) FILTER (status = 'partial'), 0)::BIGINT AS n_partial,
        coalesce(sum(n) FILTER (status = 'name_only'), 0)::BIGINT AS n_name_only,
        coalesce(sum(n) FILTER (status = 'wrong_name'), 0)::BIGINT AS n_wrong_name,
        coalesce(sum(n) FILTER (status = 'missing'), 0)::BIGINT AS n_missing,
        coalesce(sum(n) FILTER (status = 'extra'), 0)::BIGINT AS n_extra
    FROM (SELECT run_id, pairing, tool, status, count(*) AS n FROM stored.pairs GROUP BY ALL)
    GROUP BY run_id, pairing, tool
),
paired AS (
    SELECT * EXCLUDE (pairing)
    FROM counted
    WHERE tool IS NOT NULL
    QUALIFY pairing = max_by(pairing, CASE pairing WHEN 'optimal' THEN 3 WHEN 'best_unused' THEN 2 ELSE 1 END) OVER (PARTITION BY run_id)
),
called AS (
    SELECT
        run_id,
        tool,
        count(*) AS n_calls,
        count(*) FILTER (schema_state = 'valid') AS n_valid,
        count(*) FILTER (schema_state IN ('invalid', 'unknown_tool')) AS n_invalid,
        count(*) FILTER (schema_state NOT IN ('valid', 'invalid', 'unknown_tool')) AS n_unchecked,
        count(*) FILTER (status = 'error') AS n_errors,
        count(*) FILTER (denied) AS n_denied,
        tl_exact_mean(duration_ms) AS mean_duration_ms
    FROM stored.calls
    WHERE tool IS NOT NULL
    GROUP BY run_id, tool
)
SELECT
    run_id,                             -- run_id: run the row belongs to
    tool,                               -- tool: name of the tool after aliases and prefixes
    coalesce(n_calls, 0) AS n_calls,    -- n_calls: recorded calls at every depth
    coalesce(n_valid, 0) AS n_valid,    -- n_valid: calls that passed the schema check
    coalesce(n_invalid, 0) AS n_invalid, -- n_invalid: calls that failed it, calls of unknown tools included
    coalesce(n_unchecked, 0) AS n_unchecked, -- n_unchecked: calls that could not be checked; they enter no share
    n_valid / nullif(n_valid + n_invalid, 0) AS valid_share, -- valid_share: n_valid over checked calls (0..1); null: no call was checked
    n_exact,                            -- n_exact: pairs with equal arguments; null: never held against a reference
    n_partial,                          -- n_partial: pairs whose arguments differ; null: never held against a reference
    n_name_only,                        -- n_name_only: pairs whose arguments were not captured; null: never held against a reference
    n_wrong_name,                       -- n_wrong_name: positions where another tool was expected; null: never held against a reference
    n_missing,                          -- n_missing: expected calls that were not made; null: never held against a reference
    n_extra,                            -- n_extra: calls that were not expected; null: never held against a reference
    n_exact / nullif(n_exact + n_partial + n_missing + n_extra + n_wrong_name, 0) AS exact_share, -- exact_share: n_exact over all rows of the tool but name_only (0..1); null: never held against a reference
    coalesce(n_errors, 0) AS n_errors,  -- n_errors: calls that ended in an error
    coalesce(n_denied, 0) AS n_denied,  -- n_denied: calls that were refused
    mean_duration_ms                    -- mean_duration_ms: mean time of a call (ms); null: not captured
FROM called
FULL JOIN paired USING (run_id, tool)
