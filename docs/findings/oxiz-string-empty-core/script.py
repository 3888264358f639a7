"""oxiz 0.3.4: the unsat core is empty where strings make an assertion false."""

import oxiz

tm = oxiz.TermManager()
ends_in_a = tm.mk_str_suffixof(tm.mk_string_lit("a"), tm.mk_string_lit(""))
solver = oxiz.Solver()
solver.set_option("produce-unsat-cores", "true")
solver.assert_and_track(ends_in_a, "empty", tm)
print(solver.check_sat(tm), solver.get_unsat_core())
