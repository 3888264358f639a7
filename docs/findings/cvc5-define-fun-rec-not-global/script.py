"""cvc5 1.4.2, Python interface only: the fourth argument of defineFunRec is lost for a declared function."""

import cvc5
from cvc5 import Kind

for by_name in (False, True):
    manager = cvc5.TermManager()
    solver = cvc5.Solver(manager)
    integer = manager.getIntegerSort()
    x, zero = manager.mkVar(integer, "x"), manager.mkInteger(0)
    f = solver.declareFun("f", [integer], integer)
    if by_name:
        solver.defineFunRec(f, [x], zero, glbl=True)
    else:
        solver.defineFunRec(f, [x], zero, True)
    solver.resetAssertions()
    solver.assertFormula(manager.mkTerm(Kind.DISTINCT, manager.mkTerm(Kind.APPLY_UF, f, zero), zero))
    print(solver.checkSat())
