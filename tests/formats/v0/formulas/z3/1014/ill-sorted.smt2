(declare-const x Int)
(assert (and x true))
(check-sat)
