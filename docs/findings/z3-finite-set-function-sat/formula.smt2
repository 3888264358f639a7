(declare-fun f ((FiniteSet Int)) Bool)
(assert (not (f (as set.empty (FiniteSet Int)))))
(assert (f (set.intersect (set.singleton 1) (set.singleton 2))))
(check-sat)
