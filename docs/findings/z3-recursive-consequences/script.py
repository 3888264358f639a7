"""z3 5.4.0: c follows, says z3, and is satisfiable negated."""

import z3

b, c = z3.Bools("b c")
f = z3.RecFunction("f", z3.BoolSort(), z3.IntSort())
z3.RecAddDefinition(f, [b], z3.If(b, 1, f(b)))
solver = z3.Solver()
solver.add(f(c) >= 0)
print(solver.consequences([], [c]), solver.check(z3.Not(c)))
