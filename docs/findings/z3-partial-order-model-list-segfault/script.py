"""z3 5.4.0: after the model of a partial order, a check with a list crashes."""

import z3

i = z3.Int("i")
head = z3.parse_smt2_string("(declare-const l (List Int)) (assert (= 0 (head l)))")
solver = z3.Solver()
solver.add(z3.PartialOrder(z3.IntSort(), 3)(i, i))
print(solver.check(), flush=True)
solver.model()
solver.add(head)
print(solver.check())
