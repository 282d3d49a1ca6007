-- One row per run and session: the traces that share a session_id, rolled up. Traces without one are in no row.
SELECT
    run_id,                                                    -- run_id: run the row belongs to
    session_id,                                                -- session_id: the conversation
    count(*) AS n_traces,                                      -- n_traces: its traces
    min(started_at) AS started_at,                             -- started_at: when its first trace started (UTC); null: not captured
    max(started_at) AS last_started_at,                        -- last_started_at: when its last trace started (UTC); null: not captured
    list_sort(list(DISTINCT agent) FILTER (agent IS NOT NULL)) AS agents, -- agents: names of its agents; null: none given
    list_sort(list(DISTINCT case_id) FILTER (case_id IS NOT NULL)) AS cases, -- cases: its cases; null: none given
    count(*) FILTER (route = 'settled') AS n_settled,          -- n_settled: traces that passed and need no judge
    count(*) FILTER (route = 'judge') AS n_judge,              -- n_judge: traces that passed so far
    count(*) FILTER (route = 'triage') AS n_triage,            -- n_triage: traces with a defect
    count(*) FILTER (route = 'unscored') AS n_unscored,        -- n_unscored: traces that could not be scored
    CASE WHEN bool_or(NOT passed) THEN FALSE WHEN count(passed) = count(*) THEN TRUE END AS passed, -- passed: whether all its traces passed; null: none failed and some are unscored
    min(failed_rung) AS failed_rung,                           -- failed_rung: lowest rung that one of its traces failed (1 to 4); null: none failed
    tl_exact_mean(accuracy_optimal) AS mean_accuracy_optimal,           -- mean_accuracy_optimal: mean over the traces that have it (0..1); null: none has it
    count(accuracy_optimal) AS n_accuracy_optimal,             -- n_accuracy_optimal: traces that have it
    sum(n_calls_total)::BIGINT AS n_calls,                     -- n_calls: recorded calls at every depth; null: calls were not recorded
    sum(n_errors)::BIGINT AS n_errors,                         -- n_errors: calls that ended in an error; null: calls were not recorded
    sum(n_findings)::BIGINT AS n_findings,                     -- n_findings: findings of severity error
    sum(llm_calls)::HUGEINT AS llm_calls,                      -- llm_calls: calls of the language model; null: not captured
    sum(input_tokens)::HUGEINT AS input_tokens,                -- input_tokens: tokens read (tokens); null: not captured
    sum(output_tokens)::HUGEINT AS output_tokens,              -- output_tokens: tokens written (tokens); null: not captured
    tl_exact_sum(cost) AS cost,                                        -- cost: cost as recorded (currency of the source); null: not captured
    min(trace_id) AS example_trace_id                          -- example_trace_id: a trace to look at
FROM stored.traces
WHERE session_id IS NOT NULL
GROUP BY run_id, session_id
ORDER BY run_id, session_id
