(set-logic ALL)
(declare-const b (_ FloatingPoint 2 3))
(assert (fp.gt (fp.roundToIntegral RTP b) b))
(check-sat)
