-- about: Why solvers refuse formulas: causes by frequency, with an example each.
-- parameter: solver solver = null  Only this solver: z3, cvc5.
-- needs: acceptance.outcome  exhume learn
-- example: exhume query refusals solver=cvc5
select
    solver.spec as solver,
    solver.version,
    acceptance.outcome,
    acceptance.cause,
    count(*) as formulas,
    min_by(formula.source, (formula.bytes, formula.source)) as example
from acceptance
join solver on solver.id = acceptance.solver_id
join current_formula as formula on formula.id = acceptance.formula_id
where not acceptance.accepted and ($solver::varchar is null or solver.spec = $solver)
group by all
order by solver, formulas desc, acceptance.cause, solver.version, acceptance.outcome;
