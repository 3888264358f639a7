"""z3 5.4.0: a solver behind the simplifier fold-unfold loses an assertion after a check."""

import z3

x = z3.Int("x")
solver = z3.Simplifier("fold-unfold").add(z3.SimpleSolver())
solver.add(x != 0)
print(solver.check())
solver.add(x == 0)
print(solver.check(), solver.model(), solver.assertions())
