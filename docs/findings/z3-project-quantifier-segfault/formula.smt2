(declare-const q Bool)
(assert q)
(check-sat)
(mbp (forall ((x Bool)) (or x q)) (q))
