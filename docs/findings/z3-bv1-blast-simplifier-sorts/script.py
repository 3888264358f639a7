"""z3 5.4.0: the simplifier bv1-blast compares bit-vectors with one of their bits."""

import z3

b = z3.BitVec("b", 4)
solver = z3.Simplifier("bv1-blast").add(z3.SimpleSolver())
solver.add(b + 1 == 0)
try:
    print(solver.check())
except z3.Z3Exception as error:
    print(error)
