(set-logic ALL)
(get-qe (forall ((x Int)) (= (div 1 0) 0)))
