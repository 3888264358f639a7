; Integers and reals together. Where a function takes reals and gets integers, the checker converts them.
(theory Reals_Ints
 :about "Conversions between integers and reals"
 :combines (Ints Reals) :needs (Ints Reals)
 :funs (
  (to_real Int Real)
  (to_real Real Real :note "not in SMT-LIB: the identity")
  (to_int Real Int)
  (is_int Real Bool)
 ))
