(set-logic ALL)
(assert (not (forall ((a Real)) (exists ((b Real)) (and (<= b 0.0) (<= (- a b) 0.0))))))
(check-sat)
