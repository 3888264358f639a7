-- about: Options of runs that show a bug, which the good runs on the same formula do not have.
-- parameter: solver solver = null  Only runs of this solver: z3, cvc5.
-- parameter: class class = null  Only issues of this bug class: soundness, invalid-model, crash.
-- needs: formula_run.formula_id  exhume mine --replay
-- example: exhume query failing-options solver=z3
with shown as (
    select run.formula_id, issue_id, run.solver, failing, unnest(options) as word
    from formula_run as run
    join current_formula as formula on formula.id = run.formula_id
    where issue_id is not null
),
named as (
    select distinct
        formula_id, issue_id, solver, failing,
        regexp_extract(word, '^(-?-?[^=:\s]+)', 1) as option,
        nullif(regexp_extract(word, '[=:](.*)$', 1), '') as value
    from shown
),
-- With a good run beside it, an option is telling only if that run lacks it (or has another value).
separating as (
    select * from named as bad
    where failing and not exists (
        select 1 from named as good
        where not good.failing and good.formula_id = bad.formula_id and good.option = bad.option
            and good.value is not distinct from bad.value
    )
)
select
    option,
    list_sort(list(distinct separating.solver) filter (where separating.solver is not null)) as solvers,
    count(distinct separating.issue_id) as issues,
    count(distinct separating.issue_id) filter (
        where exists (
            select 1 from formula_run as other
            where other.formula_id = separating.formula_id and not other.failing
        )
    ) as beside_good_runs,
    list_sort(list(distinct value) filter (where value is not null))[1:5] as values,
    min_by(tracker.name || '#' || issue.number, issue.id) as an_issue
from separating
join issue on issue.id = separating.issue_id
join tracker on tracker.id = issue.tracker_id
where ($solver::varchar is null or separating.solver = $solver)
    and ($class::varchar is null or issue.bug_class = $class)
group by option
order by beside_good_runs desc, issues desc, option;
