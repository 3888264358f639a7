-- about: Fixing commits and pull requests: the issues that each fixes, what they were about, and the days it took.
-- parameter: tracker tracker = null  Only this tracker, named as in the table tracker.
-- parameter: class class = null  Only issues of this bug class: soundness, invalid-model, crash.
-- needs: issue_link.fixes  exhume mine
-- example: exhume query fixes
-- `crash_files` are those where the issues crashed; what fixes changed is in `fix-files`.
with fix as (
    select distinct issue_id, kind, target
    from issue_link
    where fixes
),
about as (
    select issue_id, list_distinct(flatten(list(theories))) as theories
    from current_formula
    where issue_id is not null
    group by issue_id
)
select
    fix.target as fix,
    any_value(fix.kind order by issue.id) as kind,
    count(distinct issue.id) as issues,
    list_sort(list(distinct issue.bug_class)) as classes,
    list_sort(list(distinct issue.area) filter (where issue.area is not null)) as areas,
    list_sort(list_filter(
        list_distinct(flatten(list(coalesce(about.theories, [])))), lambda theory: theory <> 'Core'
    )) as theories,
    list_sort(list(distinct issue.crash_file) filter (where issue.crash_file is not null)) as crash_files,
    round(median(epoch(issue.closed_at - issue.created_at) / 86400), 1) as median_days,
    min_by(tracker.name || '#' || issue.number, issue.id) as an_issue
from fix
join issue on issue.id = fix.issue_id
join tracker on tracker.id = issue.tracker_id
left join about on about.issue_id = issue.id
where ($tracker::varchar is null or tracker.name = $tracker)
    and ($class::varchar is null or issue.bug_class = $class)
group by fix.target
order by issues desc, fix;
