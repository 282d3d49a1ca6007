-- One row per trace that passed every rung and has questions left for a judge. `tracelens queue` writes these with their
-- whole trajectories.
SELECT
    traces.run_id,            -- run_id: run the row belongs to
    traces.trace_id,          -- trace_id: trace the row belongs to
    traces.case_id,           -- case_id: task of the evaluation set; null: not given
    traces.session_id,        -- session_id: conversation the trace belongs to; null: not given
    traces.agent,             -- agent: name of the agent; null: not given
    runs.questions,           -- questions: what the judge is asked
    traces.n_calls_total,     -- n_calls_total: all recorded calls at every depth
    traces.final_answer       -- final_answer: the agent's final answer; null: none recorded
FROM stored.traces
JOIN stored.runs USING (run_id)
WHERE traces.route = 'judge'
