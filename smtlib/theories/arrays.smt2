; Arrays of SMT-LIB 2.7, constant arrays, and what z3 adds. z3's (Set A) is an (Array A Bool).
(theory ArraysEx
 :about "Arrays with extensionality"
 :sorts ((Array 2))
 :funs (
  (par (A B) (select (Array A B) A B))
  (par (A B) (store (Array A B) A B (Array A B)))
  (par (A B) (const B (Array A B) :note "cvc5 wants a value"))
  (par (A B) (eqrange (Array A B) (Array A B) A A Bool :only (cvc5) :note "wants --arrays-exp"))
  (par (A B) (default (Array A B) B :only (z3)))
  (par (A B) (array-ext (Array A B) (Array A B) A :only (z3) :note "an index where they differ"))
  (par (A B) (select (-> A B) A B :only (z3)))
  (par (A B) (store (-> A B) A B (-> A B) :only (z3)))
  (par (A) (select (Set A) A Bool :only (z3)))
  (par (A) (store (Set A) A Bool (Set A) :only (z3)))
  (par (A) (const Bool (Set A) :only (z3)))
  (par (A) (union (Array A Bool) (Array A Bool) (Array A Bool) :left-assoc :only (z3)))
  (par (A) (intersection (Array A Bool) (Array A Bool) (Array A Bool) :left-assoc :only (z3)))
  (par (A) (setminus (Array A Bool) (Array A Bool) (Array A Bool) :only (z3)))
  (par (A) (complement (Array A Bool) (Array A Bool) :only (z3)))
  (par (A) (subset (Array A Bool) (Array A Bool) Bool :only (z3)))
 ))
