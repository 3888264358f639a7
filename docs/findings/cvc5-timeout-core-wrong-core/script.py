"""cvc5 1.4.2: after a check, getTimeoutCore gives a core that is satisfiable."""

import cvc5
from cvc5 import Kind

manager = cvc5.TermManager()
solver = cvc5.Solver(manager)
solver.setOption("produce-unsat-cores", "true")
solver.setLogic("QF_UFLIA")
x, y = (manager.mkConst(manager.getIntegerSort(), name) for name in "xy")
solver.assertFormula(manager.mkTerm(Kind.LT, x, y))
print(solver.checkSat())
solver.assertFormula(manager.mkTerm(Kind.LT, x, x))
print(*solver.getTimeoutCore())
