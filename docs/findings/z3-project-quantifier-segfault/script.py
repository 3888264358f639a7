"""z3 5.4.0: projecting a constant out of a formula crashes where it occurs under a quantifier."""

import z3

q, x = z3.Bools("q x")
formula = z3.ForAll([x], z3.Or(x, q))
solver = z3.Solver()
solver.add(formula)
print(solver.check(), flush=True)
print(solver.model().project([q], formula))
