"""z3 5.4.0: with an objective over the size of a set, satisfiable assertions are unsatisfiable."""

import z3

bools = z3.FiniteSetSort(z3.BoolSort())
a = z3.Const("a", bools)
b = z3.Const("b", z3.FiniteSetSort(bools))
for objectives in (False, True):
    optimize = z3.Optimize()
    optimize.add(z3.FiniteSetMember(a, b))
    if objectives:
        optimize.maximize(z3.FiniteSetSize(a))
        optimize.minimize(z3.FiniteSetSize(b))
    print(optimize.check())
