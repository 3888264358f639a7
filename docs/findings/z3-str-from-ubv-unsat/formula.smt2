(declare-const v (_ BitVec 3))
(assert (= (str.from_ubv v) "5"))
(check-sat)
