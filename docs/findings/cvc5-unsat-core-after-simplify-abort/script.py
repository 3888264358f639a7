"""cvc5 1.4.2: after a check under assumptions and a simplification, getUnsatCore aborts the process."""

import cvc5

manager = cvc5.TermManager()
solver = cvc5.Solver(manager)
solver.setOption("produce-unsat-cores", "true")
solver.setLogic("QF_UF")
print(solver.checkSatAssuming(manager.mkFalse()), flush=True)
print(solver.simplify(manager.mkTrue()), flush=True)
print(solver.getUnsatCore())
