"""cvc5 1.4.2: with mbqi-enum a quantifier over sequences ends in a segmentation fault."""

import cvc5
from cvc5 import Kind

manager = cvc5.TermManager()
solver = cvc5.Solver(manager)
solver.setOption("mbqi-enum", "true")
solver.setLogic("ALL")
sequence = manager.mkSequenceSort(manager.getIntegerSort())
p = manager.mkConst(manager.mkFunctionSort([sequence], manager.getBooleanSort()), "p")
s = manager.mkVar(sequence, "s")
variables = manager.mkTerm(Kind.VARIABLE_LIST, s)
solver.assertFormula(manager.mkTerm(Kind.FORALL, variables, manager.mkTerm(Kind.APPLY_UF, p, s)))
print(solver.checkSat())
