(assert (not (not true)))
(check-sat)
