(set-logic ALL)
(define-const b (_ FloatingPoint 2 3) (fp #b0 #b00 #b01))
(assert (fp.gt (fp.add RTZ b b) (fp.sub RNE b b)))
(check-sat)
