"""cvc5 1.4.2: a model with total division does not satisfy the assertion."""

import cvc5
from cvc5 import Kind

manager = cvc5.TermManager()
solver = cvc5.Solver(manager)
solver.setOption("produce-models", "true")
solver.setLogic("ALL")
x = manager.mkConst(manager.getRealSort(), "x")
quotient = manager.mkTerm(Kind.DIVISION_TOTAL, x, x)
formula = manager.mkTerm(Kind.DISTINCT, x, quotient)
solver.assertFormula(formula)
print(solver.checkSat())
print(*solver.getValue([x, quotient, formula]))
