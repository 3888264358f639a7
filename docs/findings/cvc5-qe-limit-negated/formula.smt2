(set-option :rlimit-per 20000)
(set-logic ALL)
(declare-fun f (Int Int) Bool)
(get-qe (exists ((x Int)) (forall ((y Int)) (f x y))))
