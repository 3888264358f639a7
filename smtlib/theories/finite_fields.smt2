; Finite fields of prime order; no SMT-LIB theory. Constants are written (as ff3 (_ FiniteField 5)) or #f3m5.
(theory FiniteFields
 :about "Prime fields"
 :extension
 :sorts (((_ FiniteField p) 0 :where (>= p 2)))
 :funs (
  (ff.add (_ FiniteField p) (_ FiniteField p) (_ FiniteField p) :left-assoc)
  (ff.mul (_ FiniteField p) (_ FiniteField p) (_ FiniteField p) :left-assoc)
  (ff.neg (_ FiniteField p) (_ FiniteField p))
  (ff.bitsum (_ FiniteField p) (_ FiniteField p) (_ FiniteField p) :left-assoc :weight 0.5 :note "x0 + 2 x1 + 4 x2 ...")
 ))
