(declare-const c Unicode)
(maximize (char.to_bv c))
(check-sat)
(get-objectives)
