; Functions and sorts that are read, but never drawn: internal names, spellings and ranks that solvers accept.
; Functions of any number of indices or arguments are in smtlib/families.py.
(theory ReadOnly
 :about "Read, but never drawn"
 :extension :read-only
 :funs (
  (seq.nth_i String Int Unicode :only (z3))
  (par (A) (seq.nth_i (Seq A) Int A :only (z3)))
  (seq.nth_u String Int Unicode :only (z3))
  (par (A) (seq.nth_u (Seq A) Int A :only (z3)))
  (par (A) (is-nil (List A) Bool :only (z3)))
  (par (A) (is-insert (List A) Bool :only (z3)))
  (concat (_ BitVec m) (_ BitVec m) :only (z3) :note "one argument")
  (par (A) (bag.difference_subtract (Bag A) (Bag A) (Bag A) :left-assoc :only (cvc5)))
  (par (A) (bag.difference_remove (Bag A) (Bag A) (Bag A) :left-assoc :only (cvc5)))
 ))
