"""oxiz 0.3.4: the unsat core is empty where an assertion is false by itself."""

import oxiz

tm = oxiz.TermManager()
zero = tm.mk_int(0)
solver = oxiz.Solver()
solver.set_option("produce-unsat-cores", "true")
solver.assert_and_track(tm.mk_lt(zero, zero), "false", tm)
print(solver.check_sat(tm), solver.get_unsat_core())
