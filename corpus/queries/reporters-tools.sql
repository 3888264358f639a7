-- about: Tools that reporters name (fuzzers, reducers, verifiers), with the bugs reported with them.
-- parameter: tracker tracker = null  Only this tracker, named as in the table tracker.
-- needs: issue.tools  exhume mine --replay
-- example: exhume query reporters-tools
with named as (
    select issue.*, tracker.name as tracker, unnest(tools) as tool
    from issue
    join tracker on tracker.id = issue.tracker_id
    where $tracker::varchar is null or tracker.name = $tracker
)
select
    tool,
    count(*) as issues,
    count(*) filter (where bug_class = 'soundness') as soundness,
    count(*) filter (where bug_class = 'invalid-model') as invalid_model,
    count(*) filter (where bug_class = 'crash') as crash,
    count(*) filter (where bug_class = 'performance') as performance,
    min(created_at)::date as first_report,
    max(created_at)::date as last_report,
    min_by(tracker || '#' || number, id) as an_issue
from named
group by tool
order by issues desc, tool;
