"""z3 5.4.0: the second check of a solver behind the simplifier elim-predicates is wrong."""

import z3

p, q = z3.Bools("p q")
solver = z3.Simplifier("elim-predicates").add(z3.SimpleSolver())
solver.add(z3.Implies(p, q))
print(solver.check())
solver.add(p)
print(solver.check())
