"""z3 5.4.0: solvers made for some logics do not know recursive functions, and do not say so."""

import z3

f = z3.RecFunction("f", z3.IntSort(), z3.BoolSort())
z3.RecAddDefinition(f, [z3.Int("x")], z3.BoolVal(False))
for logic in ("ALL", "UFLIA", "NIA", "QF_UFNIA", "UFNIA", "AUFLIA", "AUFLIRA", "QF_UFLIA", "QF_LIA"):
    solver = z3.SolverFor(logic)
    solver.add(f(z3.Int("c")))
    print(logic, solver.check())
