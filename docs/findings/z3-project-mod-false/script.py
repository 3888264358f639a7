"""z3 5.4.0: project says that a formula that is true in the model is false."""

import z3

k, j = z3.Ints("k j")
formula = z3.And(k > 0, j >= k % k)
solver = z3.Solver()
solver.add(formula)
print(solver.check())
model = solver.model()
print(model.eval(formula), model.project([k], formula))
