"""cvc5 1.4.2: an interpolant of a formula over strings and a product ends in a segmentation fault."""

import cvc5
from cvc5 import Kind

manager = cvc5.TermManager()
solver = cvc5.Solver(manager)
solver.setOption("produce-interpolants", "true")
solver.setLogic("ALL")
x = manager.mkConst(manager.getIntegerSort(), "x")
s = manager.mkConst(manager.getStringSort(), "s")
product = manager.mkTerm(Kind.MULT, x, x)
part = manager.mkTerm(Kind.STRING_SUBSTR, s, manager.mkInteger(0), product)
print(solver.getInterpolant(manager.mkTerm(Kind.EQUAL, s, part)))
