; Fusion functions. (fusion NAME (x SORT) (y SORT) (z SORT) ATTRIBUTE...) says that
; z = :of, and gives back :x, a term over y and z (and x itself, where a part of it is known) that
; then equals x, and :y likewise. One of the two may be missing: then that variable is not replaced.
; Each must hold for ALL values of x and y, with the standard's total functions only: (div (* x y) y) would
; not, since y may be 0. A test has a solver prove each for every constant and several widths.
;
; :constants ((c SORT VALUE...)...) are literals, of which one is drawn.
; Bit-vector widths are numerals m, n or index expressions over them, as in the theory files.

; Integers
(fusion int-add (x Int) (y Int) (z Int) :of (+ x y) :x (- z y) :y (- z x))
(fusion int-sub (x Int) (y Int) (z Int) :of (- x y) :x (+ z y) :y (- x z))
(fusion int-negate (x Int) (y Int) (z Int) :of (- (+ x y)) :x (- (+ z y)) :y (- (+ x z)))
(fusion int-shift (x Int) (y Int) (z Int) :constants ((c Int 1 (- 1) 2 17 (- 256) 1000003))
  :of (+ x c y) :x (- z y c) :y (- z c x))
(fusion int-scale (x Int) (y Int) (z Int) :constants ((c Int 2 (- 2) 3 (- 7) 10 64))
  :of (+ x (* c y)) :x (- z (* c y)) :y (div (- z x) c))
(fusion int-scale-left (x Int) (y Int) (z Int) :constants ((c Int (- 1) 2 (- 3) 5 (- 16) 255))
  :of (+ (* c x) y) :x (div (- z y) c) :y (- z (* c x)))
(fusion int-digits (x Int) (y Int) (z Int) :constants ((c Int 2 3 10 256))
  :of (+ (* c x) (mod y c)) :x (div z c))
(fusion int-turn (x Int) (y Int) (z Int)
  :of (ite (< y 0) (- x y) (+ x y)) :x (ite (< y 0) (+ z y) (- z y)))
(fusion int-distance (x Int) (y Int) (z Int) :of (+ x (abs y)) :x (- z (abs y)))
(fusion int-product (x Int) (y Int) (z Int) :of (+ (* y y) x) :x (- z (* y y)))

; Reals
(fusion real-add (x Real) (y Real) (z Real) :of (+ x y) :x (- z y) :y (- z x))
(fusion real-sub (x Real) (y Real) (z Real) :of (- x y) :x (+ z y) :y (- x z))
(fusion real-scale (x Real) (y Real) (z Real) :constants ((c Real 2.0 (- 3.0) 0.5 (- 0.25) 100.0))
  :of (+ x (* c y)) :x (- z (* c y)) :y (/ (- z x) c))
(fusion real-mean (x Real) (y Real) (z Real) :of (/ (+ x y) 2.0) :x (- (* 2.0 z) y) :y (- (* 2.0 z) x))
(fusion real-affine (x Real) (y Real) (z Real) :constants ((c Real 1.5 (- 4.0)) (d Real 0.125 (- 10.0)))
  :of (+ (* c x) (* d y) 1.0) :x (/ (- z (* d y) 1.0) c) :y (/ (- z (* c x) 1.0) d))
(fusion real-product (x Real) (y Real) (z Real)
  :of (ite (= y 0.0) x (* x y)) :x (ite (= y 0.0) z (/ z y)))
(fusion real-square (x Real) (y Real) (z Real) :of (- x (* y y)) :x (+ z (* y y)))

; Integers and reals
(fusion int-real (x Int) (y Real) (z Real) :of (+ (to_real x) y) :x (to_int (- z y)) :y (- z (to_real x)))
(fusion int-in-real (x Int) (y Int) (z Real)
  :of (- (to_real x) (to_real y)) :x (+ (to_int z) y) :y (- x (to_int z)))

; Strings
(fusion string-join (x String) (y String) (z String) :of (str.++ x y)
  :x (str.substr z 0 (- (str.len z) (str.len y))) :y (str.substr z (str.len x) (str.len z)))
(fusion string-join-replace (x String) (y String) (z String) :of (str.++ x y)
  :x (str.substr z 0 (str.len x)) :y (str.replace z x ""))
(fusion string-between (x String) (y String) (z String)
  :constants ((c String "" "a" "," " \u{0} " "00" "\u{10ffff}\u{20}"))
  :of (str.++ x c y)
  :x (str.substr z 0 (- (str.len z) (+ (str.len c) (str.len y))))
  :y (str.substr z (+ (str.len x) (str.len c)) (str.len z)))
(fusion string-sandwich (x String) (y String) (z String) :of (str.++ x y x)
  :y (str.substr z (str.len x) (- (str.len z) (* 2 (str.len x)))))
(fusion string-choice (x String) (y String) (z String)
  :of (ite (= y "") x (str.++ y x)) :x (str.substr z (str.len y) (str.len z)))

; Bit-vectors
(fusion bv-add (x (_ BitVec m)) (y (_ BitVec m)) (z (_ BitVec m)) :of (bvadd x y) :x (bvsub z y) :y (bvsub z x))
(fusion bv-sub (x (_ BitVec m)) (y (_ BitVec m)) (z (_ BitVec m)) :of (bvsub x y) :x (bvadd z y) :y (bvsub x z))
(fusion bv-xor (x (_ BitVec m)) (y (_ BitVec m)) (z (_ BitVec m)) :of (bvxor x y) :x (bvxor z y) :y (bvxor z x))
(fusion bv-xnor (x (_ BitVec m)) (y (_ BitVec m)) (z (_ BitVec m))
  :of (bvnot (bvxor x y)) :x (bvxor (bvnot z) y) :y (bvnot (bvxor z x)))
(fusion bv-add-not (x (_ BitVec m)) (y (_ BitVec m)) (z (_ BitVec m))
  :of (bvadd x (bvnot y)) :x (bvsub z (bvnot y)) :y (bvnot (bvsub z x)))
(fusion bv-negate (x (_ BitVec m)) (y (_ BitVec m)) (z (_ BitVec m))
  :of (bvneg (bvadd x y)) :x (bvsub (bvneg z) y) :y (bvsub (bvneg z) x))
(fusion bv-rotate (x (_ BitVec m)) (y (_ BitVec m)) (z (_ BitVec m))
  :of (bvxor ((_ rotate_left 1) x) y)
  :x ((_ rotate_right 1) (bvxor z y)) :y (bvxor ((_ rotate_left 1) x) z))
(fusion bv-concat (x (_ BitVec m)) (y (_ BitVec n)) (z (_ BitVec (+ m n)))
  :of (concat x y) :x ((_ extract (- (+ m n) 1) n) z) :y ((_ extract (- n 1) 0) z))
(fusion bv-extend (x (_ BitVec m)) (y (_ BitVec m)) (z (_ BitVec (+ m 1)))
  :of (bvadd ((_ zero_extend 1) x) ((_ sign_extend 1) y))
  :x ((_ extract (- m 1) 0) (bvsub z ((_ sign_extend 1) y)))
  :y ((_ extract (- m 1) 0) (bvsub z ((_ zero_extend 1) x))))
(fusion bv-int (x (_ BitVec m)) (y Int) (z Int)
  :of (+ (ubv_to_int x) y) :x ((_ int_to_bv m) (- z y)) :y (- z (ubv_to_int x)))

; Booleans
(fusion bool-xor (x Bool) (y Bool) (z Bool) :of (xor x y) :x (xor z y) :y (xor z x))
(fusion bool-equal (x Bool) (y Bool) (z Bool) :of (= x y) :x (= z y) :y (= x z))
