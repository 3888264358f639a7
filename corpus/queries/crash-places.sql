-- about: Places in solvers' source code where they crashed, by the number of issues.
-- parameter: solver solver = null  Only crashes of this solver: z3, cvc5.
-- parameter: like text = '%'  Only files like this SQL pattern.
-- parameter: by text = 'line'  line, or file to count all lines of a file together.
-- needs: issue.crash_message  exhume mine --replay
-- example: exhume query crash-places by=file
-- Where an issue names no place, only the message is known.
with crash as (
    select
        issue.id,
        issue.number,
        tracker.name as tracker,
        coalesce(
            (
                select min_by(formula.solver, formula.id)
                from current_formula as formula
                where formula.issue_id = issue.id and formula.solver is not null
            ),
            tracker.solver
        ) as solver,
        crash_file,
        if($by = 'file', null, crash_line) as crash_line,
        crash_function,
        crash_message,
        created_at,
        fixed_by
    from issue
    join tracker on tracker.id = issue.tracker_id
    where coalesce(crash_file, crash_message) is not null
        and ($by in ('line', 'file') or error('by is line or file')::boolean)
        and coalesce(crash_file, '') like $like
)
select
    crash_file as file,
    crash_line as line,
    solver,
    count(*) as issues,
    any_value(crash_function order by id) as function,
    any_value(crash_message order by id) as message,
    count(fixed_by) as with_known_fix,
    min(created_at)::date as first_report,
    max(created_at)::date as last_report,
    min_by(tracker || '#' || number, id) as an_issue
from crash
where $solver::varchar is null or solver = $solver
group by crash_file, crash_line, if(crash_file is null, crash_message, null), solver
order by issues desc, file nulls last, line, an_issue;
