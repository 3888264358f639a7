"""z3 5.4.0: a minimised core is empty when it is requested again."""

import z3

p = z3.Bool("p")
solver = z3.Solver()
solver.set("core.minimize", True)
solver.assert_and_track(p, "a")
solver.assert_and_track(z3.Not(p), "b")
print(solver.check(), len(solver.unsat_core()), len(solver.unsat_core()))
