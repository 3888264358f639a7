(set-logic ALL)
(declare-const x Int)
(get-qe (exists ((i Int)) (= "a" (str.at "a" (* x x)))))
