"""z3 5.4.0: the assertions of a solver, printed, are not read by z3."""

import z3

sets = z3.SetSort(z3.IntSort())
a, b, c = z3.Consts("a b c", sets)
solver = z3.SimpleSolver()
solver.add(z3.SetDifference(z3.SetDifference(a, b), c) == a)
text = solver.sexpr()
print(text)
try:
    z3.Solver().from_string(text)
except z3.Z3Exception as error:
    print(error.value.decode())
