"""cvc5 1.4.2: after a check and a simplification, getValue ends in a segmentation fault."""

import cvc5
from cvc5 import Kind

manager = cvc5.TermManager()
solver = cvc5.Solver(manager)
solver.setOption("produce-models", "true")
solver.setLogic("QF_S")
x, y = (manager.mkConst(manager.getStringSort(), name) for name in "xy")
solver.assertFormula(manager.mkTerm(Kind.DISTINCT, x, y))
print(solver.checkSat(), flush=True)
print(solver.simplify(manager.mkTrue()), flush=True)
print(solver.getValue(x))
