"""cvc5 1.4.2: debug-check-models aborts on a formula with piand whose model is right."""

import cvc5
from cvc5 import Kind

for checked in ("false", "true"):
    manager = cvc5.TermManager()
    solver = cvc5.Solver(manager)
    solver.setOption("produce-models", "true")
    solver.setOption("debug-check-models", checked)
    integer, boolean = manager.getIntegerSort(), manager.getBooleanSort()
    f = manager.mkConst(manager.mkFunctionSort([boolean], integer), "f")
    of_true = manager.mkTerm(Kind.APPLY_UF, f, manager.mkTrue())
    of_sign = manager.mkTerm(Kind.APPLY_UF, f, manager.mkTerm(Kind.GT, manager.mkInteger(0), of_true))
    anded = manager.mkTerm(Kind.PIAND, manager.mkInteger(1), of_sign, manager.mkConst(integer, "c"))
    formula = manager.mkTerm(Kind.EQUAL, of_true, anded)
    solver.assertFormula(formula)
    print(solver.checkSat(), solver.getValue(formula), flush=True)
