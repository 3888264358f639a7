(assert (not (= (/ 0.0 0.0) 0.0)))
(assert (= (/ 1.0 0.0) 1.0))
(check-sat-using qfidl)
