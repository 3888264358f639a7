"""z3 5.4.0: check crashes on the size of a set in a clause."""

import z3

s = z3.Const("s", z3.FiniteSetSort(z3.IntSort()))
p = z3.Bool("p")
solver = z3.Solver()
solver.add(z3.Or(p, z3.FiniteSetSize(s) == 1))
print(solver.check())
