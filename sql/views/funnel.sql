-- One row per run and step, in order: how many traces came in, could be scored, passed each rung, and where they went.
-- A trace passes rung k if no rung up to k failed. Unscored traces leave at the second step. A rung that has nothing to hold
-- a trace against does not stop it; `n_unchecked` counts those.
WITH unchecked AS (
    SELECT run_id, trace_id, count(*) AS n
    FROM stored.calls
    WHERE schema_state NOT IN ('valid', 'invalid', 'unknown_tool')
    GROUP BY run_id, trace_id
),
marked AS (
    SELECT
        t.run_id,
        t.route,
        CASE WHEN t.route = 'unscored' THEN 0 ELSE coalesce(t.failed_rung, 9) END AS reached,
        coalesce(t.n_calls_total > 0 AND t.n_calls_total = u.n, false) AS open_1,
        t.reference_index IS NULL AS open_2,
        t.reference_index IS NULL AND t.milestones_ok IS NULL AS open_3,
        t.reference_index IS NULL AND t.state_ok IS NULL AS open_4
    FROM stored.traces AS t
    LEFT JOIN unchecked AS u USING (run_id, trace_id)
),
counted AS (
    SELECT
        run_id,
        count(*) AS traces,
        count(*) FILTER (route <> 'unscored') AS scored,
        count(*) FILTER (reached > 1) AS passed_rung_1,
        count(*) FILTER (reached > 2) AS passed_rung_2,
        count(*) FILTER (reached > 3) AS passed_rung_3,
        count(*) FILTER (reached > 4) AS passed_rung_4,
        count(*) FILTER (reached > 1 AND open_1) AS open_1,
        count(*) FILTER (reached > 2 AND open_2) AS open_2,
        count(*) FILTER (reached > 3 AND open_3) AS open_3,
        count(*) FILTER (reached > 4 AND open_4) AS open_4,
        count(*) FILTER (route = 'settled') AS settled,
        count(*) FILTER (route = 'judge') AS judge,
        count(*) FILTER (route = 'triage') AS triage,
        count(*) FILTER (route = 'unscored') AS unscored
    FROM marked
    GROUP BY run_id
),
steps AS (
    SELECT run_id, traces, unnest([
        {step: 'traces', n_traces: traces, n_unchecked: NULL},
        {step: 'scored', n_traces: scored, n_unchecked: NULL},
        {step: 'passed_rung_1', n_traces: passed_rung_1, n_unchecked: open_1},
        {step: 'passed_rung_2', n_traces: passed_rung_2, n_unchecked: open_2},
        {step: 'passed_rung_3', n_traces: passed_rung_3, n_unchecked: open_3},
        {step: 'passed_rung_4', n_traces: passed_rung_4, n_unchecked: open_4},
        {step: 'settled', n_traces: settled, n_unchecked: NULL},
        {step: 'judge', n_traces: judge, n_unchecked: NULL},
        {step: 'triage', n_traces: triage, n_unchecked: NULL},
        {step: 'unscored', n_traces: unscored, n_unchecked: NULL}
    ]) AS item, unnest(range(1, 11)) AS step_index
    FROM counted
)
SELECT
    run_id,                          -- run_id: run the row belongs to
    step_index,                      -- step_index: order of the steps (from 1)
    item.step AS step,               -- step: traces, scored, passed_rung_1 to passed_rung_4, then the routes settled, judge, triage, unscored
    item.n_traces AS n_traces,       -- n_traces: traces that reached the step
    item.n_unchecked AS n_unchecked, -- n_unchecked: those of them for which the rung had nothing: in rung 1 a schema for any of their calls, in rungs 2 to 4 a reference (nor milestones in 3, a state check in 4); null: the step is no rung
    item.n_traces / nullif(traces, 0) AS share -- share: n_traces over all traces of the run (0..1); null: a run without traces
FROM steps
ORDER BY run_id, step_index
