(set-logic ALL)
(declare-const x Int)
(assert (= (+ x 4 (int.pow2 (^ x 4))) (piand 3 (int.pow2 (^ x 4)) x)))
(check-sat)
