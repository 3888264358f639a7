(set-logic ALL)
(declare-const b String)
(declare-const x Int)
(get-qe (exists ((i Int)) (= b (str.at "0" (* x x)))))
