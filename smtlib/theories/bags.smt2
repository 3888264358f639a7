; Bags (multisets) of cvc5.
(theory Bags
 :about "Finite multisets"
 :needs (Ints) :extension
 :sorts ((Bag 1 :only (cvc5)))
 :funs (
  (par (A) (bag.empty (Bag A) :bare :only (cvc5) :was (emptybag)))
  (par (A) (bag A Int (Bag A) :only (cvc5)))
  (par (A) (bag.union_max (Bag A) (Bag A) (Bag A) :left-assoc :only (cvc5) :was (union_max)))
  (par (A) (bag.union_disjoint (Bag A) (Bag A) (Bag A) :left-assoc :only (cvc5) :was (union_disjoint)))
  (par (A) (bag.inter_min (Bag A) (Bag A) (Bag A) :left-assoc :only (cvc5) :was (intersection_min)))
  (par (A) (bag.difference_subtract (Bag A) (Bag A) (Bag A) :only (cvc5) :was (difference_subtract)))
  (par (A) (bag.difference_remove (Bag A) (Bag A) (Bag A) :only (cvc5) :was (difference_remove)))
  (par (A) (bag.subbag (Bag A) (Bag A) Bool :only (cvc5) :was (bag.is_included)))
  (par (A) (bag.count A (Bag A) Int :only (cvc5)))
  (par (A) (bag.member A (Bag A) Bool :only (cvc5)))
  (par (A) (bag.setof (Bag A) (Bag A) :only (cvc5) :was (bag.duplicate_removal)))
  (par (A) (bag.card (Bag A) Int :only (cvc5)))
  (par (A) (bag.choose (Bag A) A :open :only (cvc5)))
  (par (A B) (bag.map (-> A B) (Bag A) (Bag B) :hard :only (cvc5)))
  (par (A) (bag.filter (-> A Bool) (Bag A) (Bag A) :hard :only (cvc5)))
  (par (A) (bag.all (-> A Bool) (Bag A) Bool :only (cvc5)))
  (par (A) (bag.some (-> A Bool) (Bag A) Bool :only (cvc5)))
  (par (A B) (bag.fold (-> A B B) B (Bag A) B :hard :weight 0.3 :only (cvc5)))
  (par (A) (bag.partition (-> A A Bool) (Bag A) (Bag (Bag A)) :only (cvc5)))
 ))
