import bitwuzla

tm = bitwuzla.TermManager()
options = bitwuzla.Options()
options.set_args("--produce-interpolants", "--interpolants-simp")
index, p = tm.mk_bv_sort(4), tm.mk_const(tm.mk_bool_sort(), "p")
array = tm.mk_const_array(tm.mk_array_sort(index, tm.mk_bool_sort()), tm.mk_false())
e = tm.mk_term(bitwuzla.Kind.ARRAY_SELECT, [array, tm.mk_const(index, "k")])
g = tm.mk_term(bitwuzla.Kind.OR, [e, p])
solver = bitwuzla.Bitwuzla(tm, options)
solver.assert_formula(e, p, g)
print(solver.check_sat())
solver.get_interpolants([[g], [p]])
