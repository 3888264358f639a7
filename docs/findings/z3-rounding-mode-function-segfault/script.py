"""z3 5.4.0: check crashes on a function over rounding modes whose value is compared."""

import z3

r = z3.Const("r", z3.RNE().sort())
f = z3.Function("f", r.sort(), z3.BitVecSort(16), z3.Float32())
value = f(r, z3.BitVec("b", 16))
solver = z3.SimpleSolver()
solver.add(z3.fpGEQ(value, value))
print(solver.check())
