"""z3 5.4.0: a subgoal's model, converted back as the documentation says, is no model of the goal."""

import z3

a, b = z3.Ints("a b")
goal = z3.Goal()
goal.add(a >= b)
(subgoal,) = z3.Tactic("elim-uncnstr")(goal)
solver = z3.Solver()
solver.add(subgoal.as_expr())
print(subgoal, solver.check(), solver.model())
model = subgoal.convert_model(solver.model())
print(model, model.eval(a >= b))
