-- One row per trace that has answers of a judge: the final verdict is that of the last usable answer. How far earlier
-- answers agree with it says how sure the judge is.
WITH usable AS (
    SELECT run_id, trace_id, arg_max(verdict, (batch, line)) AS final, arg_max_null(reason, (batch, line)) AS reason
    FROM stored.verdicts
    WHERE verdict IS NOT NULL
    GROUP BY run_id, trace_id
),
counted AS (
    SELECT
        run_id,
        trace_id,
        count(*) AS n_answers,
        count(verdict) AS n_usable,
        count(*) FILTER (verdict = 'pass') AS n_pass,
        count(*) FILTER (verdict = 'fail') AS n_fail,
        count(*) FILTER (verdict = usable.final) AS n_agree,
        arg_max_null(judge, (batch, line)) AS judge,
        sum(input_tokens)::BIGINT AS input_tokens,
        sum(output_tokens)::BIGINT AS output_tokens,
        tl_exact_sum(cost) AS cost
    FROM stored.verdicts
    LEFT JOIN usable USING (run_id, trace_id)
    GROUP BY run_id, trace_id
)
SELECT
    counted.run_id,                                              -- run_id: run the row belongs to
    counted.trace_id,                                            -- trace_id: trace the row belongs to
    traces.case_id,                                              -- case_id: task of the evaluation set; null: not given
    traces.agent,                                                -- agent: name of the agent; null: not given
    usable.final AS verdict,                                     -- verdict: pass, fail or unclear; null: no answer could be used
    n_answers,                                                   -- n_answers: answers that came in
    n_usable,                                                    -- n_usable: those that could be used
    n_pass,                                                      -- n_pass: those that say pass
    n_fail,                                                      -- n_fail: those that say fail
    CASE WHEN n_usable > 1 THEN (n_agree - 1) / (n_usable - 1) END AS agreement, -- agreement: share of the other usable answers that say the same (0..1); null: there is no other one
    counted.judge,                                               -- judge: who answered last; null: not told
    usable.reason,                                               -- reason: why, as the judge says; null: not told
    counted.input_tokens,                                        -- input_tokens: tokens that the judge read, over all answers (tokens); null: not told
    counted.output_tokens,                                       -- output_tokens: tokens that the judge wrote, over all answers (tokens); null: not told
    counted.cost                                                 -- cost: of all answers (currency of the suite); null: not told, and tokens or price are not known
FROM counted
LEFT JOIN usable USING (run_id, trace_id)
LEFT JOIN stored.traces USING (run_id, trace_id)
