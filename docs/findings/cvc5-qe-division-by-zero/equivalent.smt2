(set-logic ALL)
(assert (distinct (forall ((x Int)) (= (div 1 0) 0)) false))
(check-sat)
