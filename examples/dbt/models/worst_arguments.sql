-- One row per tool and argument with an error finding, the most frequent first.
select
    tool,
    path,
    code,
    count(distinct trace_id) as n_traces
from {{ source('tracelens', 'findings') }}
where severity = 'error'
group by all
order by n_traces desc
