-- about: The versions and commits of each issue: the last good one, the affected one, the fixed one, and what changed.
-- parameter: tracker tracker = null  Only this tracker, named as in the table tracker.
-- parameter: class class = null  Only this bug class: soundness, invalid-model, crash.
-- parameter: affected text = null  Only issues of this version or commit (as the issue writes it).
-- needs: issue.affected  exhume mine --replay
-- example: exhume query versions affected=4.8.5
select
    tracker.name || '#' || issue.number as issue,
    bug_class,
    last_good,
    affected,
    affected_commit,
    fixed_in,
    introduced_by,
    fixed_by,
    title
from issue
join tracker on tracker.id = issue.tracker_id
where coalesce(last_good, affected, fixed_in, introduced_by) is not null
    and ($tracker::varchar is null or tracker.name = $tracker)
    and ($class::varchar is null or bug_class = $class)
    and ($affected::varchar is null or $affected in (affected, affected_commit))
order by (last_good is not null)::integer + (fixed_in is not null)::integer
    + (introduced_by is not null)::integer desc, issue.id;
