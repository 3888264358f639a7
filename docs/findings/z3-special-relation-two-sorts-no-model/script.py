"""z3 5.4.0: sat but no model, where one index of a tree order is used at two sorts."""

import z3

x, y = z3.Reals("x y")
u, v = z3.BitVecs("u v", 4)
solver = z3.Solver()
solver.add(z3.TreeOrder(z3.RealSort(), 3)(x, y), z3.TreeOrder(z3.BitVecSort(4), 3)(u, v))
print(solver.check())
try:
    print(solver.model())
except z3.Z3Exception as error:
    print(error)
