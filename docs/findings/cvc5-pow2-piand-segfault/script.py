"""cvc5 1.4.2: a check of a formula with int.pow2 and piand ends in a segmentation fault."""

import cvc5
from cvc5 import Kind

manager = cvc5.TermManager()
solver = cvc5.Solver(manager)
solver.setLogic("ALL")
x = manager.mkConst(manager.getIntegerSort(), "x")
three, four = manager.mkInteger(3), manager.mkInteger(4)
power = manager.mkTerm(Kind.POW2, manager.mkTerm(Kind.POW, x, four))
conjunction = manager.mkTerm(Kind.PIAND, three, power, x)
solver.assertFormula(manager.mkTerm(Kind.EQUAL, manager.mkTerm(Kind.ADD, x, four, power), conjunction))
print(solver.checkSat())
