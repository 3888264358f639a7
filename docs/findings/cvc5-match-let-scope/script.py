"""cvc5 1.4.2: a printed match uses a let variable that is bound only further inside."""

import cvc5
from cvc5 import Kind

manager = cvc5.TermManager()
boolean = manager.getBooleanSort()
declaration = manager.mkDatatypeDecl("D")
for name in ("a", "b"):
    declaration.addConstructor(manager.mkDatatypeConstructorDecl(name))
sort = manager.mkDatatypeSort(declaration)
d, p, q = manager.mkConst(sort, "d"), manager.mkConst(boolean, "p"), manager.mkConst(boolean, "q")
shared = p.andTerm(q)
x = manager.mkVar(sort, "x")
case = manager.mkTerm(Kind.MATCH_BIND_CASE, manager.mkTerm(Kind.VARIABLE_LIST, x), x, shared.notTerm())
match = manager.mkTerm(Kind.MATCH, d, case)
either = match.orTerm(match)
print(either.xorTerm(shared.notTerm().orTerm(shared)).andTerm(either))
