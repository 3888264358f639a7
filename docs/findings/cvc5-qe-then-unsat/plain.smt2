(set-logic LIA)
(declare-const a Int)
(assert (= a 0))
(check-sat)
