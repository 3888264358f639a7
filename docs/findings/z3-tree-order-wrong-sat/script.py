"""z3 5.4.0: check fails an assertion of its own on a tree order."""

import z3

order = z3.TreeOrder(z3.BoolSort(), 1)
p, q = z3.Bools("p q")
solver = z3.Solver()
solver.add(z3.Not(order(z3.BoolVal(True), q)), order(order(p, p), z3.Not(p)))
print(solver.check(), solver.reason_unknown())
