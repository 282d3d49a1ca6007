-- One row per run and tool that was called: what its calls cost, in money at the suite's prices and in time. A refused call
-- costs nothing.
WITH prices AS (
    SELECT run_id, unnest(json_keys(tool_prices)) AS tool, unnest(list_transform(json_keys(tool_prices), lambda key:
        CAST(json_extract_string(tool_prices, concat('$."', replace(replace(key, '\', '\\'), '"', '\"'), '"')) AS DOUBLE))) AS price
    FROM stored.runs
),
called AS (
    SELECT
        run_id,
        tool,
        count(*) AS n_calls,
        count(*) FILTER (executed) AS n_executed,
        count(*) FILTER (status = 'error') AS n_errors,
        count(duration_ms) AS n_timed,
        tl_exact_sum(duration_ms) AS total_ms,
        tl_exact_mean(duration_ms) AS mean_ms,
        quantile_disc(duration_ms, 0.95) AS p95_ms
    FROM stored.calls
    WHERE tool IS NOT NULL
    GROUP BY run_id, tool
)
SELECT
    run_id,                                   -- run_id: run the row belongs to
    tool,                                     -- tool: name of the tool after aliases and prefixes
    n_calls,                                  -- n_calls: recorded calls at every depth
    n_executed,                               -- n_executed: calls that ran
    n_errors,                                 -- n_errors: calls that ended in an error
    price,                                    -- price: price of a call (currency of the suite); null: the suite gives none
    price * n_executed AS cost,               -- cost: price of the calls that ran (currency of the suite); null: the suite gives no price
    price * n_errors AS cost_of_errors,       -- cost_of_errors: the part of it that went into errors (currency of the suite); null: the suite gives no price
    n_timed,                                  -- n_timed: calls whose time was captured
    total_ms,                                 -- total_ms: time of all calls (ms); null: not captured
    mean_ms,                                  -- mean_ms: mean time of a call (ms); null: not captured
    p95_ms                                    -- p95_ms: time that 95 % of the calls do not exceed (ms); null: not captured
FROM called
LEFT JOIN prices USING (run_id, tool)
ORDER BY run_id, cost DESC NULLS LAST, total_ms DESC NULLS LAST, tool
