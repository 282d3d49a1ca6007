-- One row per run: how many judge calls the rungs saved, and about how many tokens and how much money. A judge call reads
-- the questions, all calls with their results, and the answer; four bytes count as a token.
WITH texts AS (
    SELECT run_id, sum(
        coalesce(strlen(name), 0) + coalesce(strlen(arguments), 0) + coalesce(strlen(result), 0) + coalesce(strlen(error), 0)
    ) AS bytes
    FROM stored.calls
    GROUP BY run_id
),
answers AS (
    SELECT
        run_id,
        count(*) AS n_traces,
        count(*) FILTER (route = 'judge') AS n_judge,
        sum(coalesce(strlen(final_answer), 0)) AS bytes
    FROM stored.traces
    GROUP BY run_id
),
said AS (
    SELECT
        run_id,
        count(DISTINCT trace_id) FILTER (verdict IS NOT NULL) AS n_answered,
        count(*) AS n_answers,
        sum(coalesce(input_tokens, 0) + coalesce(output_tokens, 0)) AS tokens,
        tl_exact_sum(cost) AS cost
    FROM stored.verdicts
    GROUP BY run_id
),
sized AS (
    SELECT
        run_id,
        coalesce(answers.n_traces, 0) AS n_traces,
        coalesce(n_judge, 0) AS n_judge,
        coalesce(len(questions), 0) AS n_questions,
        judge_price_per_1k_tokens AS price,
        coalesce(said.n_answered, 0) AS n_answered,
        coalesce(said.n_answers, 0) AS n_answers,
        CAST(coalesce(said.tokens, 0) AS BIGINT) AS tokens_spent,
        said.cost AS cost_spent,
        (coalesce(texts.bytes, 0) + answers.bytes) / nullif(answers.n_traces, 0) + coalesce(list_sum(list_transform(questions, lambda q: strlen(q))), 0) AS bytes
    FROM stored.runs
    LEFT JOIN answers USING (run_id)
    LEFT JOIN texts USING (run_id)
    LEFT JOIN said USING (run_id)
)
SELECT
    run_id,                                                               -- run_id: run the row belongs to
    n_traces,                                                             -- n_traces: traces, each of which would be a judge call without the rungs
    n_judge,                                                              -- n_judge: traces that need the judge
    n_questions,                                                          -- n_questions: questions that the suite asks a judge
    CASE WHEN n_questions > 0 THEN n_traces - n_judge END AS n_avoided,   -- n_avoided: judge calls saved; null: the suite asks a judge nothing, so there is nothing to save
    n_avoided / nullif(n_traces, 0) AS share_avoided,                     -- share_avoided: n_avoided over n_traces (0..1); null: a run without traces, or the suite asks nothing
    tl_tokens(bytes) AS tokens_per_call,                                  -- tokens_per_call: mean size of a judge call, estimated (tokens); null: a run without traces
    n_judge * tokens_per_call AS tokens_needed,                           -- tokens_needed: of the calls that are needed, estimated (tokens); null: a run without traces
    n_avoided * tokens_per_call AS tokens_avoided,                        -- tokens_avoided: of the calls saved, estimated (tokens); null: a run without traces, or the suite asks nothing
    tokens_needed / 1000.0 * price AS cost_needed,                        -- cost_needed: price of the calls that are needed, estimated (currency of the suite); null: the suite gives no price
    tokens_avoided / 1000.0 * price AS cost_avoided,                      -- cost_avoided: price of the calls saved, estimated (currency of the suite); null: the suite gives no price, or asks nothing
    n_answered,                                                           -- n_answered: traces with a usable answer of the judge
    n_judge - n_answered AS n_pending,                                    -- n_pending: traces that still need one
    n_answers,                                                            -- n_answers: answers that came in, unusable and repeated ones too
    tokens_spent,                                                         -- tokens_spent: tokens of those answers, as told (tokens)
    cost_spent                                                            -- cost_spent: what they cost (currency of the suite); null: not told, and tokens or price are not known
FROM sized
ORDER BY run_id
