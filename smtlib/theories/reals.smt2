; Reals.
(theory Reals
 :about "Real arithmetic"
 :sorts ((Real 0))
 :funs (
  (- Real Real)
  (- Real Real Real :left-assoc)
  (+ Real Real Real :left-assoc)
  (+ Real Real :only (z3) :note "one argument")
  (* Real Real Real :left-assoc)
  (* Real Real :only (z3) :note "one argument")
  (/ Real Real Real :left-assoc)
  (<= Real Real Bool :chainable)
  (< Real Real Bool :chainable)
  (>= Real Real Bool :chainable)
  (> Real Real Bool :chainable)
  (abs Real Real :note "not in SMT-LIB")
  (^ Real Real Real :note "not in SMT-LIB; cvc5 solves it for constant exponents only")
  (/0 Real Real Real :only (z3) :note "what / is where the divisor is zero")
  (/_total Real Real Real :only (cvc5) :note "zero where the divisor is zero")
 ))
