(declare-const v (_ BitVec 3))
(assert (= (str.len (str.from_ubv v)) 1))
(check-sat)
