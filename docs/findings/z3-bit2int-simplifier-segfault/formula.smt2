(set-simplifier bit2int)
(declare-const k (_ BitVec 8))
(assert (> 1 (+ (ubv_to_int k))))
(check-sat)
