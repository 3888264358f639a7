-- about: Issues per bug class, their formulas, and the days from report to closing.
-- parameter: tracker tracker = null  Only this tracker, named as in the table tracker.
-- needs: issue.id  exhume mine
-- example: exhume query bug-classes tracker=exhume/starter
with held as (
    select issue_id, count(*) as formulas from current_formula where issue_id is not null group by issue_id
)
select
    tracker.name as tracker,
    issue.bug_class,
    count(*) as issues,
    coalesce(sum(held.formulas), 0) as formulas,
    median(date_diff('day', issue.created_at, issue.closed_at)) as median_days_open
from issue
join tracker on tracker.id = issue.tracker_id
left join held on held.issue_id = issue.id
where $tracker::varchar is null or tracker.name = $tracker
group by all
order by tracker, issues desc, issue.bug_class;
