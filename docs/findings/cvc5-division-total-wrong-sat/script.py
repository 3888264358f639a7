"""cvc5 1.4.2: total division by zero may be anything, and what is asserted of it sat."""

import cvc5
from cvc5 import Kind

manager = cvc5.TermManager()
solver = cvc5.Solver(manager)
solver.setOption("produce-models", "true")
x = manager.mkConst(manager.getIntegerSort(), "x")
quotient = manager.mkTerm(Kind.INTS_DIVISION_TOTAL, manager.mkInteger(0), x)
solver.assertFormula(manager.mkTerm(Kind.EQUAL, manager.mkInteger(7), quotient))
print(solver.checkSat())
print(*solver.getValue([x, quotient]))
solver = cvc5.Solver(manager)
solver.assertFormula(manager.mkTerm(Kind.EQUAL, x, manager.mkInteger(0)))
solver.assertFormula(manager.mkTerm(Kind.EQUAL, manager.mkInteger(7), quotient))
print(solver.checkSat())
