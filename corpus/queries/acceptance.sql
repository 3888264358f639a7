-- about: How many formulas each solver accepts, per tracker and status.
-- needs: acceptance.outcome  exhume learn
-- example: exhume query acceptance
select
    solver.spec as solver,
    solver.version,
    tracker.name as tracker,
    formula.status,
    acceptance.form,
    count(*) as formulas,
    count(*) filter (where acceptance.accepted) as accepted,
    count(*) filter (where acceptance.outcome in ('crash', 'timeout')) as crashed_or_hung
from acceptance
join solver on solver.id = acceptance.solver_id
join current_formula as formula on formula.id = acceptance.formula_id
join tracker on tracker.id = formula.tracker_id
group by all
order by solver, solver.version, tracker, formula.status, acceptance.form;
