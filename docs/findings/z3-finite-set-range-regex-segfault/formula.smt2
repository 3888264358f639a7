(declare-fun f ((FiniteSet Int)) String)
(assert (str.in_re "a" (re.* (str.to_re (f (set.range 3 3))))))
(check-sat)
