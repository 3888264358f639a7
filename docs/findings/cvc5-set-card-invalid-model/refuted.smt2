(set-logic ALL)
(define-const s (Set Real) (set.singleton (/ 1 2)))
(assert (set.member 1.0 s))
(check-sat)
