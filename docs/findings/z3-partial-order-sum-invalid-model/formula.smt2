(declare-const a Real)
(assert ((_ partial-order 1) 0.0 (+ 1.0 a)))
(check-sat)
(get-value (a ((_ partial-order 1) 0.0 (+ 1.0 a))))
