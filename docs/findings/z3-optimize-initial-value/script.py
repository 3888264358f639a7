"""z3 5.4.0: maximise finds a value that the constraint excludes, where the search has an initial value."""

import z3

c = z3.Int("c")
optimize = z3.Optimize()
optimize.add(c < 5)
optimize.maximize(c)
optimize.set_initial_value(c, 1)
print(optimize.check(), optimize.model(), optimize.model().eval(c < 5))
