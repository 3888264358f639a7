"""bitwuzla 0.9.1: check_sat aborts where three uninterpreted elements are distinct."""

from bitwuzla import Bitwuzla, Kind, TermManager

manager = TermManager()
sort = manager.mk_uninterpreted_sort("U")
solver = Bitwuzla(manager)
solver.assert_formula(manager.mk_term(Kind.DISTINCT, [manager.mk_const(sort, name) for name in "xyz"]))
print(solver.check_sat())
