-- One row per day and agent: how many traces were scored and passed.
select
    cast(timezone('UTC', started_at) as date) as day,
    agent,
    count(passed) as n_scored,
    count(*) filter (passed) as n_passed,
    n_passed / nullif(n_scored, 0) as pass_rate
from {{ source('tracelens', 'traces') }}
group by all
