"""z3 5.4.0: bit-vectors of fewer than four bits have no decimal representation of one digit."""

import z3

for width in range(1, 6):
    v = z3.BitVec("v", width)
    text = "(assert (= (str.len (str.from_ubv v)) 1))"
    solver = z3.Solver()
    solver.add(z3.parse_smt2_string(text, decls={"v": v}))
    print(width, solver.check())
