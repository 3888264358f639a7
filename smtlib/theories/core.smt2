; The core theory of SMT-LIB 2.7.
(theory Core
 :about "Booleans, equality, if-then-else"
 :sorts ((Bool 0))
 :funs (
  (true Bool)
  (false Bool)
  (not Bool Bool)
  (=> Bool Bool Bool :right-assoc :min 1 :was (implies))
  (and Bool Bool Bool :left-assoc :min 0)
  (or Bool Bool Bool :left-assoc :min 0)
  (xor Bool Bool Bool :left-assoc :min 1)
  (par (A) (= A A Bool :chainable :was (iff)))
  (par (A) (distinct A A Bool :pairwise))
  (par (A) (ite Bool A A A :was (if)))
 ))
