"""cvc5 1.4.2: a check after one that the resource limit ended dies of a segmentation fault."""

import cvc5
from cvc5 import Kind

manager = cvc5.TermManager()
solver = cvc5.Solver(manager)
solver.setOption("rlimit-per", "5300")
solver.setOption("produce-models", "true")
solver.setOption("produce-unsat-assumptions", "true")
boolean, integer = manager.getBooleanSort(), manager.getIntegerSort()
array = manager.mkArraySort(integer, boolean)
true = manager.mkTrue()
c = manager.mkConst(integer, "c")
f = manager.mkConst(manager.mkFunctionSort([array, integer], integer), "f")
a = manager.mkConst(array, "a")
stored = manager.mkTerm(Kind.STORE, a, manager.mkInteger(2), true)
x = manager.mkTerm(Kind.APPLY_UF, f, stored, c)
b = manager.mkConst(array, "b")
total = manager.mkTerm(Kind.INTS_MODULUS_TOTAL, x, x)
p = manager.mkConst(boolean, "p")
y = manager.mkTerm(Kind.APPLY_UF, f, b, total)
again = manager.mkTerm(Kind.STORE, stored, c, p)
rest = manager.mkTerm(Kind.INTS_MODULUS, c, y)
z = manager.mkTerm(Kind.APPLY_UF, f, again, rest)
three = manager.mkInteger(3)
solver.assertFormula(manager.mkTerm(Kind.GEQ, z, c))
print(solver.checkSatAssuming(manager.mkTerm(Kind.GT, y, three)), flush=True)
print(solver.checkSat())
