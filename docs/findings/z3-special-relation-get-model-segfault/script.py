"""z3 5.4.0: a model after a check that no longer assumes a special relation ends in a segmentation fault."""

import z3

c, k = z3.Int("c"), z3.Bool("k")
order = z3.PiecewiseLinearOrder(z3.IntSort(), 2)
solver = z3.Solver()
print(solver.check(order(c, c)), solver.check(k), flush=True)
print(solver.model())
