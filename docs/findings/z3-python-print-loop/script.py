"""z3 5.4.0: the Python interface does not print a loop whose bounds are arguments."""

import z3

text = "(declare-const r RegLan) (assert (= (re.loop r 1 3) r))"
formula = z3.parse_smt2_string(text)[0]
print(formula.sexpr())
try:
    print(formula)
except z3.Z3Exception as error:
    print(error)
