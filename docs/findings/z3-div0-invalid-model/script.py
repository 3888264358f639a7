"""z3 5.4.0: models give div0 the same value for different arguments, whatever is asserted of it."""

import z3

x, y = z3.Ints("x y")
formula = z3.parse_smt2_string("(assert (< (div0 x x) (div0 y x)))", decls={"x": x, "y": y})[0]
solver = z3.Solver()
solver.add(formula)
print(solver.check())
model = solver.model()
print(model[x], model[y], model.eval(formula))
