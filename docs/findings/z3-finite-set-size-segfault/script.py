"""z3 5.4.0: check crashes on the size of a set that is an element of a set."""

import z3

elements = z3.FiniteSetSort(z3.BoolSort())
a = z3.Const("a", elements)
b = z3.Const("b", z3.FiniteSetSort(elements))
solver = z3.Solver()
solver.add(z3.FiniteSetMember(a, b), z3.FiniteSetSize(a) == 0)
print(solver.check())
