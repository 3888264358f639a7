-- about: Days from report to fix per tracker, bug class and area.
-- parameter: tracker tracker = null  Only this tracker, named as in the table tracker.
-- parameter: class class = null  Only this bug class: soundness, invalid-model, crash.
-- needs: issue.id  exhume mine
-- example: exhume query time-to-fix class=soundness
-- Fixed is an issue that was closed, but not as a duplicate or as one that will not be fixed.
with report as (
    select
        tracker.name as tracker,
        issue.bug_class,
        issue.area,
        issue.state,
        if(
            issue.state = 'closed' and coalesce(issue.state_reason, '') not in ('not_planned', 'duplicate'),
            epoch(issue.closed_at - issue.created_at) / 86400,
            null
        ) as days
    from issue
    join tracker on tracker.id = issue.tracker_id
    where ($tracker::varchar is null or tracker.name = $tracker)
        and ($class::varchar is null or issue.bug_class = $class)
)
select
    tracker,
    bug_class,
    area,
    count(days) as fixed,
    count(*) filter (where state = 'open') as open,
    round(median(days), 1) as median_days,
    round(quantile_cont(days, 0.9), 1) as days_of_nine_in_ten,
    round(max(days), 1) as most_days
from report
group by all
order by tracker, fixed desc, bug_class, area;
