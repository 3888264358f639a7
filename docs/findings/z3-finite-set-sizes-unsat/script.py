"""z3 5.4.0: a set of one element and an empty set are unsatisfiable."""

import z3

sets = z3.FiniteSetSort(z3.IntSort())
s, t = z3.Consts("s t", sets)
solver = z3.Solver()
solver.add(z3.FiniteSetMember(z3.IntVal(1), s), z3.FiniteSetSize(s) == 1)
print(solver.check())
solver.add(z3.FiniteSetSize(t) == 0)
print(solver.check())
