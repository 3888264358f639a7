(set-logic ALL)
(declare-const b (_ FloatingPoint 2 3))
(assert (fp.gt (fp.add RTZ b b) (fp.sub RNE b b)))
(check-sat)
