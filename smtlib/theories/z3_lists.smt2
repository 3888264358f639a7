; The datatype of lists that z3 brings along. Its testers (_ is nil) and (_ is insert) are not here.
(theory Lists
 :about "Lists of z3"
 :weight 0.5 :extension
 :sorts ((List 1 :only (z3)))
 :funs (
  (par (A) (nil (List A) :only (z3)))
  (par (A) (insert A (List A) (List A) :only (z3)))
  (par (A) (head (List A) A :open :only (z3)))
  (par (A) (tail (List A) (List A) :open :only (z3)))
 ))
