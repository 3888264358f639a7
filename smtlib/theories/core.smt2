; The core theory of SMT-LIB 2.7.
(theory Core
 :about "Booleans, equality, if-then-else"
 :sorts ((Bool 0))
 :funs (
  (true Bool)
  (false Bool)
  (not Bool Bool)
  (=> Bool Bool Bool :right-assoc :was (implies))
  (and Bool Bool Bool :left-assoc :min 1)
  (or Bool Bool Bool :left-assoc :min 1)
  (xor Bool Bool Bool :left-assoc)
  (xor Bool Bool :only (z3) :note "one argument")
  (and Bool :only (z3) :note "no argument: true")
  (or Bool :only (z3) :note "no argument: false")
  (xor Bool :only (z3) :note "no argument: false")
  (distinct Bool :only (z3) :note "no argument: true")
  (par (A) (= A A Bool :chainable :was (iff)))
  (par (A) (distinct A A Bool :pairwise))
  (par (A) (distinct A Bool :only (z3) :note "one argument"))
  (par (A) (ite Bool A A A :was (if)))
 ))
