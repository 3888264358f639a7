"""z3 5.4.0: Datalog answers unsat instead of sat where a bit-vector relation is represented by intervals."""

import z3

bits, truth = z3.BitVecSort(3), z3.BoolSort()
p, q = z3.Function("p", bits, truth), z3.Function("q", bits, truth)
x = z3.BitVec("x", 3)
for represented in (False, True):
    engine = z3.Fixedpoint()
    engine.set("engine", "datalog")
    engine.register_relation(p, q)
    if represented:
        engine.set_predicate_representation(p, "interval_relation", "bound_relation")
    engine.declare_var(x)
    engine.fact(p(z3.BitVecVal(0, 3)))
    engine.rule(p(x), q(x))
    engine.rule(q(x + 1), p(x))
    engine.rule(q(x + 1), p(x))
    print(engine.query(q(z3.BitVecVal(0, 3))))
