"""z3 5.4.0: a function of the empty set is false, that of an intersection that is empty is true."""

import z3

sets = z3.FiniteSetSort(z3.IntSort())
f = z3.Function("f", sets, z3.BoolSort())
empty = z3.FiniteSetEmpty(sets)
both = z3.FiniteSetIntersect(z3.Singleton(z3.IntVal(1)), z3.Singleton(z3.IntVal(2)))
solver = z3.Solver()
solver.add(z3.Not(f(empty)), f(both))
print(solver.check(), solver.model().eval(f(both)), z3.Solver().check(empty != both))
