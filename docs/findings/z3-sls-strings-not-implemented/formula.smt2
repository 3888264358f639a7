(declare-const a String)
(assert (distinct a "" "1"))
(check-sat)
