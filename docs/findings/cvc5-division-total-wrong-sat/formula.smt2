(set-logic ALL)
(declare-const x Int)
(assert (= 7 (div_total 0 x)))
(check-sat)
