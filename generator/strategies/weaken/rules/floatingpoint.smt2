; Floating-point numbers with e bits of exponent and s of significand.
(rules FloatingPoint
 (rule fp-relax (=> (R x y) (S x y)) :about "replaces an operator"
  :for (((R S) (fp.lt fp.leq) (fp.gt fp.geq) (fp.eq fp.leq) (fp.eq fp.geq) (fp.lt distinct) (fp.gt distinct)))
  :vars ((x (_ FloatingPoint e s)) (y (_ FloatingPoint e s))))
 (rule fp-turn (<=> (R x y) (S y x)) :for (((R S) (fp.lt fp.gt) (fp.leq fp.geq))) :vars ((x (_ FloatingPoint e s)) (y (_ FloatingPoint e s))))
 (rule fp-not-larger (=> (R x y) (not (S x y))) :for (((R S) (fp.lt fp.geq) (fp.lt fp.gt) (fp.lt fp.eq) (fp.leq fp.gt) (fp.gt fp.leq) (fp.geq fp.lt))) :vars ((x (_ FloatingPoint e s)) (y (_ FloatingPoint e s))))
 (rule fp-at-most-cases (<=> (fp.leq x y) (or (fp.lt x y) (fp.eq x y))) :vars ((x (_ FloatingPoint e s)) (y (_ FloatingPoint e s))))
 (rule fp-eq-both (<=> (fp.eq x y) (and (fp.leq x y) (fp.geq x y))) :vars ((x (_ FloatingPoint e s)) (y (_ FloatingPoint e s))))
 (rule fp-eq-cases (=> (fp.eq x y) (or (= x y) (and (fp.isZero x) (fp.isZero y)))) :vars ((x (_ FloatingPoint e s)) (y (_ FloatingPoint e s))))
 (rule fp-same (=> (= x y) (or (fp.eq x y) (fp.isNaN x))) :vars ((x (_ FloatingPoint e s)) (y (_ FloatingPoint e s))))
 (rule fp-number (=> (R x y) (and (not (fp.isNaN x)) (not (fp.isNaN y)))) :for ((R fp.lt fp.leq fp.eq fp.gt fp.geq)) :vars ((x (_ FloatingPoint e s)) (y (_ FloatingPoint e s))))
 (rule fp-unequal (=> (not (fp.eq x y)) (or (distinct x y) (fp.isNaN x))) :vars ((x (_ FloatingPoint e s)) (y (_ FloatingPoint e s))))
 (rule fp-nan (<=> (fp.isNaN x) (not (fp.eq x x))) :vars ((x (_ FloatingPoint e s))))
 (rule fp-nan-constant (<=> (fp.isNaN x) (= x (_ NaN e s))) :use -> :vars ((x (_ FloatingPoint e s))))
 (rule fp-zero-compare (<=> (fp.isZero x) (fp.eq x (_ +zero e s))) :use -> :vars ((x (_ FloatingPoint e s))))
 (rule fp-infinite-compare (<=> (fp.isInfinite x) (fp.eq (fp.abs x) (_ +oo e s))) :use -> :vars ((x (_ FloatingPoint e s))))
 (rule fp-class (=> (P x) (not (Q x))) :for (((P Q) (fp.isNormal fp.isSubnormal) (fp.isNormal fp.isZero) (fp.isNormal fp.isInfinite) (fp.isSubnormal fp.isZero) (fp.isZero fp.isNaN) (fp.isInfinite fp.isNaN) (fp.isNegative fp.isPositive) (fp.isNegative fp.isNaN) (fp.isPositive fp.isNaN)))
  :vars ((x (_ FloatingPoint e s))))
 (rule fp-signed (=> (P x) (or (fp.isNegative x) (fp.isPositive x))) :for ((P fp.isNormal fp.isSubnormal fp.isZero fp.isInfinite)) :vars ((x (_ FloatingPoint e s))))
 (rule fp-sign-zero (=> (fp.lt x (_ +zero e s)) (fp.isNegative x)) :vars ((x (_ FloatingPoint e s))))
 (rule fp-negative-at-most (=> (fp.isNegative x) (fp.leq x (_ +zero e s))) :use -> :vars ((x (_ FloatingPoint e s))))
 (rule fp-negate-both (<=> (R x y) (S (fp.neg x) (fp.neg y))) :for (((R S) (fp.lt fp.gt) (fp.leq fp.geq) (fp.eq fp.eq) (= =))) :vars ((x (_ FloatingPoint e s)) (y (_ FloatingPoint e s))))
 (rule fp-absolute (=> (R x y) (R (fp.abs x) (fp.abs y))) :for ((R = fp.eq)) :vars ((x (_ FloatingPoint e s)) (y (_ FloatingPoint e s))))
 (rule fp-absolute-bound (=> (R (fp.abs x) y) (R x y)) :for ((R fp.lt fp.leq)) :vars ((x (_ FloatingPoint e s)) (y (_ FloatingPoint e s))))
 (rule fp-apply-both (=> (= x y) (= (F m x z) (F m y z))) :about "a homomorphism of equality" :for ((F fp.add fp.sub fp.mul fp.div)) :use ->
  :vars ((x (_ FloatingPoint e s)) (y (_ FloatingPoint e s)) (z (_ FloatingPoint e s)) (m RoundingMode)) :prove (((e s) (2 3))))
 (rule fp-add-monotone (=> (fp.leq x y) (or (fp.isNaN z) (fp.isInfinite z) (fp.isInfinite x) (fp.isInfinite y) (fp.leq (fp.add m x z) (fp.add m y z)))) :use ->
  :vars ((x (_ FloatingPoint e s)) (y (_ FloatingPoint e s)) (z (_ FloatingPoint e s)) (m RoundingMode)) :prove (((e s) (2 3))))
 (rule fp-round-monotone (=> (fp.leq x y) (fp.leq (fp.roundToIntegral m x) (fp.roundToIntegral m y))) :use ->
  :vars ((x (_ FloatingPoint e s)) (y (_ FloatingPoint e s)) (m RoundingMode)))
 (rule fp-root-monotone (=> (fp.leq x y) (or (fp.lt x (_ +zero e s)) (fp.leq (fp.sqrt m x) (fp.sqrt m y)))) :use ->
  :vars ((x (_ FloatingPoint e s)) (y (_ FloatingPoint e s)) (m RoundingMode)) :prove (((e s) (2 3) (3 4))))
 (rule fp-transitive (=> (and (R x y) (R y z)) (R x z)) :for ((R fp.lt fp.leq fp.eq)) :vars ((x (_ FloatingPoint e s)) (y (_ FloatingPoint e s)) (z (_ FloatingPoint e s))))
 (rule fp-widen (<=> (R x y) (R ((_ to_fp 11 53) m x) ((_ to_fp 11 53) m y))) :for ((R fp.lt fp.eq)) :use ->
  :about "from 32 bits to 64, which both solvers support" :vars ((x (_ FloatingPoint 8 24)) (y (_ FloatingPoint 8 24)) (m RoundingMode)))
 (rule fp-to-real (=> (fp.lt x y) (or (fp.isInfinite x) (fp.isInfinite y) (< (fp.to_real x) (fp.to_real y)))) :use ->
  :vars ((x (_ FloatingPoint e s)) (y (_ FloatingPoint e s))) :prove (((e s) (2 3))))
 (rule fp-double-neg (<=> x (fp.neg (fp.neg x))) :vars ((x (_ FloatingPoint e s))))
 (rule fp-swap (<=> (F m x y) (F m y x)) :for ((F fp.add fp.mul)) :use -> :vars ((x (_ FloatingPoint e s)) (y (_ FloatingPoint e s)) (m RoundingMode)))
 (rule fp-sub-add (<=> (fp.sub m x y) (fp.add m x (fp.neg y))) :vars ((x (_ FloatingPoint e s)) (y (_ FloatingPoint e s)) (m RoundingMode)))
 (rule fp-times-one (<=> x (fp.mul m x ((_ to_fp e s) m 1.0))) :use -> :vars ((x (_ FloatingPoint e s)) (m RoundingMode const)) :prove (((e s) (2 3) (3 5))) :bounded ((m RNE RTZ)))
 (rule fp-abs-cases (<=> (fp.abs x) (ite (fp.isNegative x) (fp.neg x) x)) :vars ((x (_ FloatingPoint e s))))
)
