"""cvc5 1.4.2: checkSynth fails with an internal error on a constraint with a constant of sort String."""

import cvc5

manager = cvc5.TermManager()
string = manager.getStringSort()
constant = manager.mkConst(string, "k")
solver = cvc5.Solver(manager)
solver.setOption("sygus", "true")
solver.setLogic("ALL")
function = solver.synthFun("f", [], string)
joined = manager.mkTerm(cvc5.Kind.STRING_CONCAT, function, manager.mkString("a"))
solver.addSygusConstraint(manager.mkTerm(cvc5.Kind.DISTINCT, constant, joined))
try:
    print(solver.checkSynth())
except RuntimeError as error:
    print("RuntimeError:", error)
