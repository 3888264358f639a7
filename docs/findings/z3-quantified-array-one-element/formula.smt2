(declare-sort U 0)
(declare-const f U)
(assert (forall ((x (Array U Bool)) (y (Array U Bool))) (= (store x f true) (store y f true))))
(check-sat)
