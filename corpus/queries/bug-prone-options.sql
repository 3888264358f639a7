-- about: The solver options that most bug reports were made with, from command lines and set-option.
-- parameter: solver solver = null  Only command lines of this solver: z3, cvc5.
-- parameter: class class = null  Only issues of this bug class: soundness, invalid-model, crash.
-- parameter: theory theory = null  Only issues with a formula of this theory, as in 'exhume query theories': UnicodeStrings.
-- needs: issue.id  exhume mine
-- example: exhume query bug-prone-options solver=z3
with option as (
    select issue_id, run.solver, unnest(options) as word
    from formula_run as run join current_formula as formula on formula.id = formula_id
    where issue_id is not null
    union all
    select
        text_of.issue_id,
        null,
        unnest(regexp_extract_all(text.body, '\(set-option\s+(:[^\s()]+\s+[^\s()]+)\s*\)', 1))
    from (
        select issue_id, text_id from block
        union
        select issue_id, text_id from current_formula where issue_id is not null
    ) as text_of
    join text on text.id = text_of.text_id
),
named as (
    select
        issue_id,
        solver,
        regexp_extract(word, '^(:?[^=:\s]+)', 1) as option,
        nullif(regexp_extract(word, '^:?[^=:\s]+[=:\s]+(.*)$', 1), '') as value
    from option
)
select
    option,
    list_sort(list(distinct solver) filter (where solver is not null)) as solvers,
    count(distinct issue_id) as issues,
    count(distinct issue_id) filter (where bug_class = 'soundness') as soundness,
    count(distinct issue_id) filter (where bug_class = 'invalid-model') as invalid_model,
    count(distinct issue_id) filter (where bug_class = 'crash') as crash,
    list_sort(list(distinct value) filter (where value is not null))[1:5] as values
from named
join issue on issue.id = issue_id
where ($solver::varchar is null or solver = $solver) and ($class::varchar is null or bug_class = $class)
    and (
        $theory::varchar is null
        or issue_id in (select issue_id from current_formula where list_contains(theories, $theory))
    )
group by option
order by issues desc, option;
