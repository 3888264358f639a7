; Finite sets as z3 5 has them. set.singleton is missing: its result, a Set or a FiniteSet, does not
; follow from its argument.
(theory FiniteSets
 :about "Finite sets of z3"
 :needs (Ints) :extension
 :sorts ((FiniteSet 1 :only (z3)))
 :funs (
  (par (A) (set.empty (FiniteSet A) :only (z3)))
  (set.range Int Int (FiniteSet Int) :only (z3))
  (par (A) (set.union (FiniteSet A) (FiniteSet A) (FiniteSet A) :left-assoc :only (z3)))
  (par (A) (set.intersect (FiniteSet A) (FiniteSet A) (FiniteSet A) :left-assoc :only (z3)))
  (par (A) (set.difference (FiniteSet A) (FiniteSet A) (FiniteSet A) :only (z3)))
  (par (A) (set.in A (FiniteSet A) Bool :only (z3)))
  (par (A) (set.subset (FiniteSet A) (FiniteSet A) Bool :only (z3)))
  (par (A) (set.size (FiniteSet A) Int :only (z3)))
  (par (A B) (set.map (-> A B) (FiniteSet A) (FiniteSet B) :hard :only (z3)))
  (par (A) (set.filter (-> A Bool) (FiniteSet A) (FiniteSet A) :hard :only (z3)))
 ))
