"""z3 5.4.0: a character has a greater code point than the maximum."""

import z3

c = z3.Const("c", z3.CharSort())
optimize = z3.Optimize()
optimize.maximize(z3.CharToBv(c))
print(optimize.check(), optimize.model()[c])
solver = z3.Solver()
solver.add(z3.UGT(z3.CharToBv(c), 130044))
print(solver.check(), solver.model()[c])
