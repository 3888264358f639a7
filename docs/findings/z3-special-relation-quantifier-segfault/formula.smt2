(assert (forall ((p Bool)) (xor p ((_ tree-order 0) true p))))
(check-sat)
