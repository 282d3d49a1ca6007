-- One row: two runs, named by their ids or how these begin, paired case by case. Whether the change may be chance: an exact
-- McNemar test over the cases that got better or worse, and a bootstrap interval of the difference, drawn 1000 times over
-- at most 1000 random groups of cases; another `seed` draws others.
CREATE OR REPLACE MACRO compare(base, head, seed := 1) AS TABLE
WITH cases AS (SELECT case_id, difference, change, pass_rate_base, pass_rate_head FROM compare_cases(base, head)),
counted AS (
    SELECT
        count(difference) AS n_cases,
        count(*) FILTER (change = 'better') AS n_better,
        count(*) FILTER (change = 'worse') AS n_worse,
        count(*) FILTER (change = 'same') AS n_same,
        count(*) FILTER (change = 'unknown') AS n_unknown,
        count(*) FILTER (change = 'only_base') AS n_only_base,
        count(*) FILTER (change = 'only_head') AS n_only_head,
        tl_exact_mean(CASE WHEN difference IS NOT NULL THEN pass_rate_base END) AS pass_rate_base,
        tl_exact_mean(CASE WHEN difference IS NOT NULL THEN pass_rate_head END) AS pass_rate_head,
        tl_exact_mean(difference) AS difference
    FROM cases
),
numbered AS (
    SELECT difference, (row_number() OVER (ORDER BY md5_number_lower(case_id), case_id) - 1) % 1000 AS part
    FROM cases
    WHERE difference IS NOT NULL
),
parts AS (SELECT part, tl_exact_sum(difference) AS total, count(*) AS n FROM numbered GROUP BY part),
n_parts AS (SELECT count(*) AS n FROM parts),
drawn AS (
    SELECT repeat, CAST(floor(tl_random(seed * 7_919 + repeat * 1_000 + draw) * n) AS BIGINT) AS part
    FROM range(1_000) AS repeats(repeat), range(1_000) AS draws(draw), n_parts
    WHERE draw < n
),
means AS (SELECT repeat, tl_exact_sum(total) / sum(n) AS mean FROM drawn JOIN parts USING (part) GROUP BY repeat),
ends AS (SELECT quantile_cont(mean, [0.025, 0.975]) AS ends FROM means)
SELECT
    n_cases,                                          -- n_cases: cases scored in both runs
    n_better,                                         -- n_better: cases whose pass rate rose
    n_worse,                                          -- n_worse: cases whose pass rate fell
    n_same,                                           -- n_same: cases whose pass rate is the same
    n_unknown,                                        -- n_unknown: cases with traces in both runs of which one side was not scored
    n_only_base,                                      -- n_only_base: cases that only the first run has
    n_only_head,                                      -- n_only_head: cases that only the second run has
    pass_rate_base,                                   -- pass_rate_base: mean pass rate of the n_cases in the first run (0..1); null: there are none
    pass_rate_head,                                   -- pass_rate_head: mean pass rate of the n_cases in the second run (0..1); null: there are none
    difference,                                       -- difference: second minus first (-1..1); null: there are none
    ends[1] AS difference_low,   -- difference_low: lower end of its 95 % bootstrap interval (-1..1); null: there are none
    ends[2] AS difference_high,  -- difference_high: upper end of its 95 % bootstrap interval (-1..1); null: there are none
    tl_mcnemar(n_better, n_worse) AS p_value,         -- p_value: of the exact McNemar test, two-sided (0..1)
    (
        SELECT count(DISTINCT suite_digest) = 1
        FROM stored.runs
        WHERE starts_with(run_id, base) OR starts_with(run_id, head)
    ) AS same_suite                                   -- same_suite: whether both were scored with the same suite; if not, the change need not come from the agent
FROM counted, ends;
