(set-logic ALL)
(declare-const x Int)
(assert (= (piand (int.pow2 x) x x) 316))
(check-sat)
