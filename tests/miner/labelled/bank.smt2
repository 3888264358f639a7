; Formulas the templates draw on, written for this set. Separated by lines of dashes: declarations, then the rest.
(set-logic QF_LIA)
(declare-const width Int)
(declare-const height Int)
;;
(assert (= (+ (* 3 width) height) 41))
(assert (distinct width (- height 2)))
(check-sat)
;;;;
(declare-fun price () Real)
(declare-fun rate () Real)
;;
(assert (and (> (* price rate) 12.5) (< price 3.0)))
(assert (or (= rate (/ price 4.0)) (>= rate 100.0)))
(check-sat)
;;;;
(set-logic QF_BV)
(declare-const reg_a (_ BitVec 16))
(declare-const reg_b (_ BitVec 16))
;;
(assert (bvult (bvmul reg_a #x00ff) (bvadd reg_b (_ bv7 16))))
(assert (= ((_ extract 7 0) reg_a) ((_ rotate_left 3) ((_ extract 15 8) reg_b))))
(check-sat)
;;;;
(set-logic QF_S)
(declare-fun host () String)
(declare-fun path () String)
;;
(assert (str.prefixof "http:" (str.++ host path)))
(assert (= (str.indexof host "say ""hi"";(" 0) (str.len path)))
(assert (str.in_re path (re.+ (re.range "a" "f"))))
(check-sat)
;;;;
(declare-sort Node 0)
(declare-fun next (Node) Node)
(declare-fun root () Node)
;;
(assert (forall ((n Node)) (! (distinct (next n) n) :pattern ((next n)))))
(assert (exists ((m Node)) (= (next m) root)))
(check-sat)
;;;;
(declare-datatypes ((Tree 0)) (((leaf) (fork (left Tree) (value Int) (right Tree)))))
(declare-const tree Tree)
;;
(assert ((_ is fork) tree))
(assert (> (value tree) (value (left tree))))
(check-sat)
;;;;
(set-logic QF_FP)
(declare-const |some value| (_ FloatingPoint 8 24))
(declare-const mode RoundingMode)
;;
(assert (fp.lt (fp.add mode |some value| |some value|) (fp #b0 #x7f #b00000000000000000000000)))
(assert (not (fp.isNaN (fp.rem |some value| (fp.neg |some value|)))))
(check-sat)
;;;;
(set-logic QF_AUFLIA)
(declare-const table (Array Int Int))
(declare-const slot Int)
;;
(assert (= (select (store table slot 9) (+ slot 1)) 8))
(assert (let ((probe (select table slot))) (> (* 2 probe) probe)))
(check-sat)
;;;;
(declare-const go Bool)
(declare-const turns Int)
(define-fun twice ((n Int)) Int (* 2 n))
;;
(push 1)
(assert (=> go (> (twice turns) 10)))
(check-sat)
(pop 1)
(assert (and (not go) (< (mod turns 7) 3)))
(check-sat)
;;;;
(set-logic QF_NRA)
(declare-fun arc () Real)
(declare-fun sag () Real)
;;
(assert (= (* arc arc sag) (- (* sag sag) 2.0)))
(assert (xor (> arc 1.0) (> (/ sag arc) 0.0)))
(check-sat)
