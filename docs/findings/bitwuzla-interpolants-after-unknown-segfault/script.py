import bitwuzla

tm = bitwuzla.TermManager()
options = bitwuzla.Options()
options.set_args("--produce-interpolants")
sort = tm.mk_array_sort(tm.mk_bool_sort(), tm.mk_bool_sort())
no, a = tm.mk_false(), tm.mk_const(sort, "a")
e = tm.mk_term(bitwuzla.Kind.ARRAY_SELECT, [a, no])
f = tm.mk_term(bitwuzla.Kind.EQUAL, [a, tm.mk_const_array(sort, no)])
solver = bitwuzla.Bitwuzla(tm, options)
solver.assert_formula(e, f)
print(solver.check_sat(tm.mk_true()))
print(solver.check_sat())
solver.get_interpolants([[e]])
