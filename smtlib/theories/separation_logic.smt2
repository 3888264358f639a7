; Separation logic of cvc5; needs (declare-heap (LOCATION DATA)).
(theory SeparationLogic
 :about "Heaps"
 :weight 0.15 :extension :guarded
 :funs (
  (par (A) (sep.nil A :bare :only (cvc5)))
  (sep.emp Bool :only (cvc5))
  (par (A B) (pto A B Bool :only (cvc5)))
  (sep Bool Bool Bool :left-assoc :only (cvc5))
  (wand Bool Bool Bool :only (cvc5))
 ))
