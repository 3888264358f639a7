"""z3 5.4.0: cores of a quantified formula are empty with the tactics default and qsat."""

import z3

x, y = z3.Reals("x y")
p = z3.Bool("p")
for name in ("smt", "default", "qsat"):
    solver = z3.Tactic(name).solver()
    solver.set("unsat_core", True)
    solver.add(z3.Implies(p, z3.Exists([x], z3.And(x > y, x < y))))
    print(name, solver.check(p), solver.unsat_core(), solver.check())
