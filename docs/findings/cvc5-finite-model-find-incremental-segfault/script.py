import cvc5

tm = cvc5.TermManager()
solver = cvc5.Solver(tm)
solver.setOption("finite-model-find", "true")
sort = tm.mkTupleSort(tm.mkTupleSort(), tm.mkUninterpretedSort("U"), tm.mkSetSort(tm.getBooleanSort()))
f, k = tm.mkConst(tm.mkFunctionSort(sort, sort), "f"), tm.mkConst(tm.mkSetSort(sort), "k")
value = tm.mkTerm(cvc5.Kind.APPLY_UF, f, tm.mkConst(sort, "c"))
solver.assertFormula(tm.mkTerm(cvc5.Kind.SET_MEMBER, value, k))
solver.checkSat()
