-- about: Bug reports per class, theory, year and solver, or per some of these.
-- parameter: by text = 'class,theory,year,solver'  What to count by, separated by commas.
-- parameter: tracker tracker = null  Only this tracker, named as in the table tracker.
-- parameter: class class = null  Only this bug class: soundness, invalid-model, crash.
-- needs: issue.id  exhume mine
-- example: exhume query bugs by=class,solver
-- A report whose formulas are of several theories (or solvers) counts for each of them.
-- Core counts only where it is the sole theory.
with used as (
    select
        issue_id,
        list(distinct solver) filter (where solver is not null) as solvers,
        list_distinct(flatten(list(theories))) as theories
    from current_formula
    where issue_id is not null
    group by issue_id
),
report as (
    select
        issue.id,
        issue.bug_class,
        year(issue.created_at) as year,
        case when len(used.theories) > 1
            then list_filter(used.theories, lambda t: t <> 'Core')
            else used.theories end as theories,
        coalesce(used.solvers, [tracker.solver]) as solvers
    from issue
    join tracker on tracker.id = issue.tracker_id
    left join used on used.issue_id = issue.id
    where ($tracker::varchar is null or tracker.name = $tracker)
        and ($class::varchar is null or issue.bug_class = $class)
),
wanted as (
    select list_transform(string_split($by, ','), lambda word: trim(word)) as words
),
checked as (
    select words
    from wanted
    where list_has_all(['class', 'theory', 'year', 'solver'], words)
        or error('by is made of class, theory, year, solver')::boolean
),
spread as (
    select
        report.id,
        if(list_contains(words, 'class'), bug_class, null) as class,
        unnest(if(list_contains(words, 'theory') and len(theories) > 0, theories, [null])) as theory,
        if(list_contains(words, 'year'), year, null) as year,
        if(list_contains(words, 'solver'), solvers, [null]) as solvers
    from report, checked
),
one as (
    select id, class, theory, year, unnest(solvers) as solver from spread
)
select class, theory, year, solver, count(distinct id) as issues
from one
group by all
order by issues desc, class, theory, year, solver;
