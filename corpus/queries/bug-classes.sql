-- about: Issues per bug class, with the days from report to closing.
-- parameter: tracker text = null  Only this tracker, named as in the table tracker.
-- example: exhume query bug-classes tracker=z3
select
    tracker.name as tracker,
    issue.bug_class,
    count(*) as issues,
    count(distinct formula.id) as formulas,
    median(date_diff('day', issue.created_at, issue.closed_at)) as median_days_open
from issue
join tracker on tracker.id = issue.tracker_id
left join current_formula as formula on formula.issue_id = issue.id
where $tracker::varchar is null or tracker.name = $tracker
group by all
order by tracker, issues desc, issue.bug_class;
