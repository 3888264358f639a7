(set-logic BV)
(declare-const x Bool)
(assert (or (forall ((q (_ BitVec 8)) (q3 (_ BitVec 10))) (distinct q (_ bv0 8))) (not (forall ((q (_ BitVec 8))) (or x (distinct q (_ bv0 8)))))))
(check-sat)
