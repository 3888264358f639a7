(declare-const x Int)
(assert (str.in_re "a" (re.union (str.to_re "b") (str.to_re (str.at "a" x)))))
(check-sat)
