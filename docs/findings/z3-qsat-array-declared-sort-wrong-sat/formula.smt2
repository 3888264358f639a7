(declare-sort S 0)
(assert (forall ((x (Array S Bool))) (exists ((y (Array Int S))) (select x (select y 0)))))
(check-sat-using qsat)
