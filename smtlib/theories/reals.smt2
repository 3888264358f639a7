; Reals. The entries marked :mixed take integers too and read them as reals.
(theory Reals
 :about "Real arithmetic"
 :sorts ((Real 0))
 :funs (
  (- Real Real)
  (- Real Real Real :left-assoc :mixed)
  (+ Real Real Real :left-assoc :mixed)
  (+ Real Real :only (z3) :note "one argument")
  (* Real Real Real :left-assoc :mixed)
  (* Real Real :only (z3) :note "one argument")
  (/ Real Real Real :left-assoc :mixed)
  (<= Real Real Bool :chainable :mixed)
  (< Real Real Bool :chainable :mixed)
  (>= Real Real Bool :chainable :mixed)
  (> Real Real Bool :chainable :mixed)
  (abs Real Real :note "not in SMT-LIB")
  (^ Real Real Real :note "not in SMT-LIB; cvc5 solves it for constant exponents only")
  (^ Real Real Real :mixed :only (z3))
  (/0 Real Real Real :mixed :only (z3) :note "what / is where the divisor is zero")
  (/_total Real Real Real :mixed :only (cvc5) :note "zero where the divisor is zero")
 ))
