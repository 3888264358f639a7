; Integers and reals together. Mixed arguments of + - * / < ... are marked :mixed in reals.smt2.
(theory Reals_Ints
 :about "Conversions between integers and reals"
 :funs (
  (to_real Int Real)
  (to_real Real Real :note "not in SMT-LIB: the identity")
  (to_int Real Int :mixed)
  (is_int Real Bool :mixed)
  (div Real Real Int :mixed :only (z3) :note "z3 rounds the arguments down first")
  (mod Real Real Int :mixed :only (z3))
  (rem Real Real Int :mixed :only (z3))
  (div0 Real Real Int :mixed :only (z3))
  (mod0 Real Real Int :mixed :only (z3))
 ))
