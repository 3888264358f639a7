(set-logic ALL)
(define-const b (_ FloatingPoint 2 3) (fp #b1 #b00 #b00))
(assert (fp.gt (fp.add RTZ b b) (fp.sub RNE b b)))
(check-sat)
