-- about: What separates the failing runs of a formula from the good ones: options in their order, and tactics.
-- parameter: solver solver = null  Only formulas that failed in this solver: z3, cvc5.
-- parameter: class class = null  Only issues of this bug class: soundness, invalid-model, crash.
-- needs: formula_run.formula_id  exhume mine --replay
-- example: exhume query separating-options solver=z3
-- A formula is listed if it has both kinds of runs of one solver, or if its script checks the same assertions
-- with a tactic and without one. `only_failing` are the options of the first failing run that the first good
-- run lacks, in their order.
with side as (
    select
        formula_id,
        solver,
        min_by(options, position) filter (where failing) as bad,
        min_by(coalesce(symptom, array_to_string(answers, ' ')), position) filter (where failing) as bad_said,
        min_by(options, position) filter (where not failing) as good,
        min_by(array_to_string(answers, ' '), position) filter (where not failing) as good_said,
        min_by(solver_version, position) filter (where failing) as bad_version,
        min_by(solver_version, position) filter (where not failing) as good_version
    from formula_run
    where solver is not null and len(coalesce(answers, [])) + len(coalesce(symptom, '')) > 0
    group by formula_id, solver
    having count(*) filter (where failing) > 0 and count(*) filter (where not failing) > 0
),
checks as (
    select
        formula.id as formula_id,
        formula.solver,
        list_filter(
            regexp_extract_all(body, '\(check-sat-using\s+([^\n]*)\)', 1), lambda tactic: tactic <> ''
        ) as tactics,
        formula.actual
    from current_formula as formula
    join text on text.id = coalesce(formula.script_text_id, formula.text_id)
    where contains(body, '(check-sat-using')
        and list_has_all(string_split(coalesce(actual, ''), ' '), ['sat', 'unsat'])
),
found as (
    select
        formula_id,
        coalesce(solver, '') as solver,
        list_filter(bad, lambda option: not list_contains(good, option)) as only_failing,
        list_filter(good, lambda option: not list_contains(bad, option)) as only_good,
        []::varchar[] as tactics,
        bad_said,
        good_said,
        bad_version,
        good_version
    from side
    union all
    select formula_id, coalesce(solver, ''), [], [], tactics, actual, null, null, null
    from checks
)
select
    tracker.name || '#' || issue.number as issue,
    issue.bug_class,
    found.solver,
    only_failing,
    only_good,
    tactics,
    bad_said as failing,
    good_said as good,
    bad_version as failing_version,
    good_version,
    found.formula_id as formula
from found
join current_formula as formula on formula.id = found.formula_id
join issue on issue.id = formula.issue_id
join tracker on tracker.id = issue.tracker_id
where len(only_failing) + len(only_good) + len(tactics) > 0
    and ($solver::varchar is null or found.solver = $solver)
    and ($class::varchar is null or issue.bug_class = $class)
order by issue.id, formula, len(tactics), found.solver;
