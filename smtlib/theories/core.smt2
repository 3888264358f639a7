; The core theory of SMT-LIB 2.7.
(theory Core
 :about "Booleans, equality, if-then-else"
 :sorts ((Bool 0))
 :funs (
  (true Bool :neutral)
  (false Bool :neutral)
  (not Bool Bool :neutral)
  (=> Bool Bool Bool :right-assoc :neutral :was (implies))
  (and Bool Bool Bool :left-assoc :min 1 :neutral :identity :was (&&))
  (or Bool Bool Bool :left-assoc :min 1 :neutral :identity)
  (xor Bool Bool Bool :left-assoc :neutral)
  (xor Bool Bool :only (z3) :note "one argument")
  (and Bool :only (z3) :note "no argument: true")
  (or Bool :only (z3) :note "no argument: false")
  (xor Bool :only (z3) :note "no argument: false")
  (distinct Bool :only (z3) :note "no argument: true")
  (par (A) (= A A Bool :chainable :neutral :was (iff)))
  (par (A) (distinct A A Bool :pairwise :neutral))
  (par (A) (distinct A Bool :only (z3) :note "one argument"))
  (par (A) (ite Bool A A A :neutral :was (if)))
 ))
