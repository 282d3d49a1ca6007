-- One row per run, dimension and value. Of `tool`: the share of schema-checked calls without an error finding. Of `all`,
-- `agent`, `day` and each tag (`tag:version`): the share of scored traces that passed. Days are in UTC, or in the zone of
-- the variable `tz`; traces without a time, agent or tag have a row of their own, whose value is null.
WITH groups AS (
    -- counted once by everything that traces are told apart by, so that no dimension reads them again
    SELECT
        run_id,
        agent,
        tags,
        tl_day(started_at) AS day,
        count(*) AS n,
        count(passed) AS scored,
        count(*) FILTER (passed) AS passed
    FROM stored.traces
    GROUP BY run_id, agent, tags, tl_day(started_at)
),
tag_texts AS (SELECT DISTINCT tags FROM groups WHERE tags IS NOT NULL),
tag_values AS (
    SELECT tags, unnest(json_keys(tags)) AS tag, unnest(list_transform(json_keys(tags), lambda key:
        json_extract_string(tags, concat('$."', replace(replace(key, '\', '\\'), '"', '\"'), '"')))) AS raw
    FROM tag_texts
    WHERE json_valid(tags) AND json_type(tags) = 'OBJECT'
),
tag_names AS (SELECT DISTINCT run_id, tag FROM groups JOIN tag_values USING (tags)),
tagged AS (
    SELECT g.run_id, n.tag, v.raw, g.n, g.scored, g.passed
    FROM groups AS g
    JOIN tag_names AS n USING (run_id)
    LEFT JOIN tag_values AS v ON v.tags = g.tags AND v.tag = n.tag
),
errors AS (
    SELECT DISTINCT run_id, trace_id, call_index
    FROM stored.findings
    WHERE severity = 'error' AND call_index IS NOT NULL
),
checked AS (
    SELECT run_id, tool, count(*) AS n, count(*) FILTER (schema_state IN ('valid', 'invalid', 'unknown_tool')) AS scored
    FROM stored.calls
    WHERE tool IS NOT NULL
    GROUP BY run_id, tool
),
failed AS (
    SELECT calls.run_id, calls.tool, count(*) AS failed
    FROM stored.calls
    SEMI JOIN errors USING (run_id, trace_id, call_index)
    WHERE schema_state IN ('valid', 'invalid', 'unknown_tool') AND tool IS NOT NULL
    GROUP BY calls.run_id, calls.tool
),
counted AS (
    SELECT run_id, 'all' AS dimension, NULL AS value, sum(n) AS n, sum(scored) AS scored, sum(passed) AS passed
    FROM groups GROUP BY run_id
    UNION ALL
    SELECT run_id, 'agent', agent, sum(n), sum(scored), sum(passed) FROM groups GROUP BY run_id, agent
    UNION ALL
    SELECT run_id, 'day', CAST(day AS VARCHAR), sum(n), sum(scored), sum(passed) FROM groups GROUP BY run_id, day
    UNION ALL
    SELECT run_id, concat('tag:', tag), raw, sum(n), sum(scored), sum(passed) FROM tagged GROUP BY run_id, tag, raw
    UNION ALL
    SELECT run_id, 'tool', tool, n, scored, scored - coalesce(failed, 0)
    FROM checked LEFT JOIN failed USING (run_id, tool)
)
SELECT
    run_id,                                             -- run_id: run the row belongs to
    dimension,                                          -- dimension: all, tool, agent, day, or tag: and the name of a tag
    value,                                              -- value: the tool, agent, day (YYYY-MM-DD) or value of the tag; null: traces that have none, and the row of all
    CAST(n AS BIGINT) AS n,                             -- n: traces; calls for a tool
    CAST(scored AS BIGINT) AS n_scored,                 -- n_scored: traces that were scored; schema-checked calls for a tool
    CAST(passed AS BIGINT) AS n_passed,                 -- n_passed: those that passed; calls without an error finding for a tool
    CAST(n - scored AS BIGINT) AS n_unscored,           -- n_unscored: the others; they enter no rate
    passed / nullif(scored, 0) AS pass_rate,            -- pass_rate: n_passed over n_scored (0..1); null: none was scored
    tl_wilson_low(passed, scored) AS pass_rate_low,     -- pass_rate_low: lower end of its 95 % Wilson interval (0..1); null: none was scored
    tl_wilson_high(passed, scored) AS pass_rate_high    -- pass_rate_high: upper end of its 95 % Wilson interval (0..1); null: none was scored
FROM counted
ORDER BY run_id, dimension, value NULLS LAST
