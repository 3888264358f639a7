"""z3 5.4.0: of two objectives that are the same term, the first is 0, the second 3."""

import z3

c, d = z3.BitVecs("c d", 2)
f = z3.Function("f", c.sort(), c.sort())
array = z3.AsArray(f)
optimize = z3.Optimize()
optimize.add(c != array[c])
objectives = [optimize.maximize(z3.Store(array, c, d)[d]) for _ in range(2)]
print(optimize.check(), [objective.value() for objective in objectives])
