(declare-const a Real)
(assert (= a 1.0))
(check-sat)
