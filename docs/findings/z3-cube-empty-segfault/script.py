"""z3 5.4.0: cube crashes on a solver that has no assertion."""

import z3

for cube in z3.Solver().cube():
    print(cube)
