"""cvc5 1.4.2: the proof of a formula with piand aborts the process."""

import cvc5
from cvc5 import Kind

manager = cvc5.TermManager()
solver = cvc5.Solver(manager)
solver.setOption("produce-proofs", "true")
solver.setLogic("QF_NIA")
zero, one = manager.mkInteger(0), manager.mkInteger(1)
conjunction = manager.mkTerm(Kind.PIAND, one, one, zero)
solver.assertFormula(manager.mkTerm(Kind.LT, zero, manager.mkTerm(Kind.NEG, conjunction)))
print(solver.checkSat(), flush=True)
print(solver.getProof())
