(declare-const s (FiniteSet Int))
(declare-const p Bool)
(assert (or p (= (set.size s) 1)))
(check-sat)
