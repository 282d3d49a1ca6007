-- One row per run and step, in order: how many traces came in, could be scored, passed each rung, and where they went.
-- A trace passes rung k if no rung up to k failed. Unscored traces leave at the second step.
WITH counted AS (
    SELECT
        run_id,
        count(*) AS traces,
        count(*) FILTER (route <> 'unscored') AS scored,
        count(*) FILTER (route <> 'unscored' AND coalesce(failed_rung, 9) > 1) AS passed_rung_1,
        count(*) FILTER (route <> 'unscored' AND coalesce(failed_rung, 9) > 2) AS passed_rung_2,
        count(*) FILTER (route <> 'unscored' AND coalesce(failed_rung, 9) > 3) AS passed_rung_3,
        count(*) FILTER (route <> 'unscored' AND coalesce(failed_rung, 9) > 4) AS passed_rung_4,
        count(*) FILTER (route = 'settled') AS settled,
        count(*) FILTER (route = 'judge') AS judge,
        count(*) FILTER (route = 'triage') AS triage,
        count(*) FILTER (route = 'unscored') AS unscored
    FROM stored.traces
    GROUP BY run_id
),
steps AS (
    SELECT run_id, traces, unnest([
        {step: 'traces', n_traces: traces},
        {step: 'scored', n_traces: scored},
        {step: 'passed_rung_1', n_traces: passed_rung_1},
        {step: 'passed_rung_2', n_traces: passed_rung_2},
        {step: 'passed_rung_3', n_traces: passed_rung_3},
        {step: 'passed_rung_4', n_traces: passed_rung_4},
        {step: 'settled', n_traces: settled},
        {step: 'judge', n_traces: judge},
        {step: 'triage', n_traces: triage},
        {step: 'unscored', n_traces: unscored}
    ]) AS item, unnest(range(1, 11)) AS step_index
    FROM counted
)
SELECT
    run_id,                          -- run_id: run the row belongs to
    step_index,                      -- step_index: order of the steps (from 1)
    item.step AS step,               -- step: traces, scored, passed_rung_1 to passed_rung_4, then the routes settled, judge, triage, unscored
    item.n_traces AS n_traces,       -- n_traces: traces that reached the step
    item.n_traces / nullif(traces, 0) AS share -- share: n_traces over all traces of the run (0..1); null: a run without traces
FROM steps
ORDER BY run_id, step_index
