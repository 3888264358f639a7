"""oxiz 0.3.4: Optimizer.pop keeps the assertions of the level that it closes."""

import oxiz

tm = oxiz.TermManager()
x = tm.mk_var("x", "Int")
optimizer = oxiz.Optimizer()
optimizer.assert_term(tm.mk_ge(x, tm.mk_int(0)))
optimizer.push()
optimizer.assert_term(tm.mk_ge(x, tm.mk_int(5)))
optimizer.pop()
optimizer.minimize(x)
print(optimizer.optimize(tm), optimizer.get_model(tm)["x"])

optimizer = oxiz.Optimizer()
optimizer.push()
optimizer.assert_term(tm.mk_bool(False))
optimizer.pop()
optimizer.minimize(x)
print(optimizer.optimize(tm))
