"""z3 5.4.0: the second model of a solver behind the simplifier bit-blast is wrong."""

import z3

x = z3.BitVec("x", 3)
solver = z3.Simplifier("bit-blast").add(z3.SimpleSolver())
solver.add(z3.ULT(x, 5))
print(solver.check())
solver.push()
solver.add(x == 4)
print(solver.check(), solver.model())
