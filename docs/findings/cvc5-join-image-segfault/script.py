"""cvc5 1.4.2: simplify ends in a segmentation fault for rel.join_image with a bound that is no value."""

import cvc5
from cvc5 import Kind

manager = cvc5.TermManager()
integer = manager.getIntegerSort()
relation = manager.mkConst(manager.mkSetSort(manager.mkTupleSort(integer, integer)), "r")
bound = manager.mkTerm(Kind.ADD, manager.mkConst(integer, "n"), manager.mkInteger(1))
solver = cvc5.Solver(manager)
print(solver.simplify(manager.mkTerm(Kind.RELATION_JOIN_IMAGE, relation, bound)))
