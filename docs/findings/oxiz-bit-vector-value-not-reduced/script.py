"""oxiz 0.3.4: mk_bv keeps numbers that do not fit their width."""

import oxiz

tm = oxiz.TermManager()
x = tm.mk_var("x", "BitVec[4]")


def check(*formulas):
    solver = oxiz.Solver()
    for formula in formulas:
        solver.assert_term(formula, tm)
    return str(solver.check_sat(tm)), solver.model()


print("-8 = 8:", *check(tm.mk_eq(tm.mk_bv(-8, 4), tm.mk_bv(8, 4))))
print("x = 300:", *check(tm.mk_eq(x, tm.mk_bv(300, 4))))
