(set-logic HO_ALL)
(assert (= (bag.partition (lambda ((x Int) (y Int)) true) (bag 1 1)) (as bag.empty (Bag (Bag Int)))))
(check-sat)
