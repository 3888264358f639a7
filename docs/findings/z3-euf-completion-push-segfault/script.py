"""z3 5.4.0: check ends in a segmentation fault after push, with the simplifier euf-completion."""

import z3

x = z3.Int("x")
solver = z3.Simplifier("euf-completion").add(z3.SimpleSolver())
solver.add(x > 0)
solver.push()
solver.add(x < 0)
print(solver.check())
