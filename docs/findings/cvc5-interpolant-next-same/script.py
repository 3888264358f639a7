"""cvc5 1.4.2: the next interpolant is the last one."""

import cvc5

manager = cvc5.TermManager()
solver = cvc5.Solver(manager)
solver.setOption("produce-interpolants", "true")
solver.setLogic("ALL")
x = manager.mkConst(manager.getBooleanSort(), "x")
solver.assertFormula(x)
solver.assertFormula(manager.mkFalse())
print(solver.getInterpolant(x), solver.getInterpolantNext())
