(set-simplifier bit2int)
(declare-const k (_ BitVec 8))
(assert (= (+ (ubv_to_int k) (ubv_to_int k) 1) 9))
(check-sat)
