"""cvc5 1.4.2: the values of terms with seq.nth beyond the end contradict each other."""

import cvc5
from cvc5 import Kind

manager = cvc5.TermManager()
solver = cvc5.Solver(manager)
solver.setOption("produce-models", "true")
solver.setOption("produce-unsat-cores", "true")
s = manager.mkConst(manager.mkSequenceSort(manager.getIntegerSort()), "s")
zero, one = manager.mkInteger(0), manager.mkInteger(1)
nth = manager.mkTerm(Kind.SEQ_NTH, s, one)
is_zero, is_one = manager.mkTerm(Kind.EQUAL, nth, zero), manager.mkTerm(Kind.EQUAL, nth, one)
print(solver.checkSat())
print(*solver.getValue([nth, is_zero, is_one]))
