"""cvc5 1.4.2: getValue of bag.partition aborts the process."""

import cvc5
from cvc5 import Kind

manager = cvc5.TermManager()
solver = cvc5.Solver(manager)
solver.setOption("produce-models", "true")
solver.setLogic("HO_ALL")
boolean = manager.getBooleanSort()
relation = manager.mkConst(manager.mkFunctionSort([boolean, boolean], boolean), "r")
bag = manager.mkConst(manager.mkBagSort(boolean), "b")
print(solver.checkSat(), flush=True)
print(solver.getValue(manager.mkTerm(Kind.BAG_PARTITION, relation, bag)))
