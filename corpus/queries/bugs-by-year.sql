-- about: Bug reports per tracker, year and class.
-- parameter: tracker tracker = null  Only this tracker, named as in the table tracker.
-- needs: issue.id  exhume mine
-- example: exhume query bugs-by-year tracker=exhume/starter
select
    tracker.name as tracker,
    year(issue.created_at) as year,
    issue.bug_class,
    count(*) as issues,
    count(*) filter (where issue.state = 'closed') as closed
from issue
join tracker on tracker.id = issue.tracker_id
where $tracker::varchar is null or tracker.name = $tracker
group by all
order by tracker, year, issues desc, issue.bug_class;
