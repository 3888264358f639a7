"""z3 5.4.0: the simplifier bit2int crashes on a sum of one argument."""

import z3

formula = z3.parse_smt2_string("(declare-const k (_ BitVec 8)) (assert (> 1 (+ (ubv_to_int k))))")
solver = z3.Simplifier("bit2int").add(z3.SimpleSolver())
solver.add(formula)
print(solver.check())
