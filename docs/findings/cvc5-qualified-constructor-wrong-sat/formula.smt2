(set-logic ALL)
(declare-datatypes ((Box 1)) ((par (X) ((box (content X))))))
(assert (distinct (box 1) ((as box (Box Int)) 1)))
(check-sat)
