"""bitwuzla 0.9.1: the value of an equality of arrays contradicts the values of both sides."""

from bitwuzla import Bitwuzla, Kind, Options, TermManager

manager = TermManager()
boolean = manager.mk_bool_sort()
true, false = manager.mk_true(), manager.mk_false()
sort = manager.mk_array_sort(boolean, boolean)
a = manager.mk_const(sort, "a")
options = Options()
options.set("produce-models", True)
solver = Bitwuzla(manager, options)
solver.assert_formula(manager.mk_term(Kind.ARRAY_SELECT, [a, false]))
print(solver.check_sat())
left = manager.mk_term(Kind.ARRAY_STORE, [a, true, true])
right = manager.mk_const_array(sort, true)
print(solver.get_value(left), solver.get_value(right))
print(solver.get_value(manager.mk_term(Kind.EQUAL, [left, right])))
