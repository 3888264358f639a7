(set-logic ALL)
(assert (>= 5.0 (seq.nth (seq.update (seq.unit real.pi) 1 (seq.unit 1.0)) 0)))
(check-sat)
