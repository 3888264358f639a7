; Integers, with what both solvers accept beyond the standard.
(theory Ints
 :about "Integer arithmetic"
 :sorts ((Int 0))
 :funs (
  (- Int Int)
  (- Int Int Int :left-assoc)
  (+ Int Int Int :left-assoc :min 1)
  (* Int Int Int :left-assoc :min 1)
  (div Int Int Int :left-assoc)
  (mod Int Int Int)
  (abs Int Int)
  (<= Int Int Bool :chainable)
  (< Int Int Bool :chainable)
  (>= Int Int Bool :chainable)
  (> Int Int Bool :chainable)
  ((_ divisible n) Int Bool :where (> n 0))
 ))
