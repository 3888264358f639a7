(declare-const x Int)
(assert (= (str.to_int (str.from_code x)) 0))
(check-sat)
