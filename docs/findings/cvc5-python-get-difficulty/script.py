"""cvc5 1.4.2: getDifficulty raises a TypeError."""

import cvc5
from cvc5 import Kind

manager = cvc5.TermManager()
solver = cvc5.Solver(manager)
solver.setOption("produce-difficulty", "true")
integer = manager.getIntegerSort()
x, y = manager.mkConst(integer, "x"), manager.mkConst(integer, "y")
solver.assertFormula(manager.mkTerm(Kind.LT, x, y))
solver.assertFormula(manager.mkTerm(Kind.LT, y, x))
print(solver.checkSat())
try:
    print(solver.getDifficulty())
except TypeError as error:
    print("TypeError:", error)
