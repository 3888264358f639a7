(set-logic QF_LIRA)
(declare-const r Real)
(assert (! (= r 2.0) :named second))
(check-sat)
