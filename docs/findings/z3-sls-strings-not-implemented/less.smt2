(declare-fun e () String)
(assert (str.< e " "))
(check-sat)
