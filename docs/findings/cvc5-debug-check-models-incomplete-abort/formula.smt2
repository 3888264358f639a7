(set-logic ALL)
(declare-const c Real)
(assert (=> (= 0.0 (* c c)) (= c 0.0)))
(check-sat)
