"""cvc5 1.4.2: getTimeoutCoreAssuming answers sat though the assertions are contradictory."""

import cvc5

manager = cvc5.TermManager()
solver = cvc5.Solver(manager)
solver.setOption("produce-unsat-cores", "true")
solver.setLogic("QF_UF")
x = manager.mkConst(manager.getBooleanSort(), "x")
solver.assertFormula(x)
solver.assertFormula(x.notTerm())
print(*solver.getTimeoutCoreAssuming(manager.mkTrue()))
print(solver.checkSatAssuming(manager.mkTrue()))
