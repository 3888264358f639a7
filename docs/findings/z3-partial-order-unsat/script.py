"""z3 5.4.0: with some random seeds a partial order is unsatisfiable, with others it is not."""

import z3

formula = z3.parse_smt2_string("""
(declare-const c Real)
(declare-const k Real)
(assert (not ((_ partial-order 4) (ite (> c 0.0) c (- c)) c)))
(assert (< k (/ k (ite (> (abs c) 0.0) (abs c) (- (abs c))))))
""")
answers = []
for seed in range(40):
    solver = z3.Solver()
    solver.set("random_seed", seed)
    solver.add(formula)
    answers.append(str(solver.check()))
print(sorted(set(answers)))
