(set-logic SLIA)
(assert (forall ((w String)) (distinct (str.++ w w) (str.substr "a" 0 (str.len w)))))
(check-sat)
