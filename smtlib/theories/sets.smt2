; Sets as cvc5 has them, with the names of CVC4 as old spellings. For z3 see arrays.smt2.
(theory Sets
 :about "Finite sets"
 :extension
 :sorts ((Set 1))
 :funs (
  (par (A) (set.empty (Set A) :bare :only (cvc5) :was (emptyset)))
  (par (A) (set.universe (Set A) :weight 0.3 :only (cvc5) :was (univset)))
  (par (A) (set.singleton A (Set A) :only (cvc5) :was (singleton)))
  (par (A) (set.insert A (Set A) (Set A) :only (cvc5) :was (insert)))
  (par (A) (set.insert A A (Set A) (Set A) :only (cvc5)))
  (par (A) (set.insert A A A (Set A) (Set A) :only (cvc5)))
  (par (A) (set.insert A A A A (Set A) (Set A) :only (cvc5)))
  (par (A) (set.union (Set A) (Set A) (Set A) :left-assoc :only (cvc5) :was (union)))
  (par (A) (set.inter (Set A) (Set A) (Set A) :left-assoc :only (cvc5) :was (intersection)))
  (par (A) (set.minus (Set A) (Set A) (Set A) :left-assoc :only (cvc5) :was (setminus)))
  (par (A) (set.complement (Set A) (Set A) :weight 0.3 :only (cvc5) :was (complement)))
  (par (A) (set.member A (Set A) Bool :only (cvc5) :was (member)))
  (par (A) (set.subset (Set A) (Set A) Bool :only (cvc5) :was (subset)))
  (par (A) (set.card (Set A) Int :only (cvc5) :was (card)))
  (par (A) (set.choose (Set A) A :open :only (cvc5) :was (choose)))
  (par (A) (set.is_empty (Set A) Bool :only (cvc5)))
  (par (A) (set.is_singleton (Set A) Bool :only (cvc5) :was (is_singleton)))
  (par (A B) (set.map (-> A B) (Set A) (Set B) :hard :only (cvc5)))
  (par (A) (set.filter (-> A Bool) (Set A) (Set A) :hard :only (cvc5)))
  (par (A) (set.all (-> A Bool) (Set A) Bool :only (cvc5)))
  (par (A) (set.some (-> A Bool) (Set A) Bool :only (cvc5)))
  (par (A B) (set.fold (-> A B B) B (Set A) B :hard :weight 0.3 :only (cvc5)))
 ))
