; Cardinality and pseudo-Boolean constraints, and special relations of z3.
; pble, pbge, pbeq: the bound, then one coefficient per argument; written out for up to six arguments.
(theory Z3Extras
 :about "Pseudo-Boolean constraints and special relations"
 :weight 0.5 :extension
 :funs (
  ((_ at-most k) Bool Bool Bool :left-assoc :min 1 :only (z3))
  ((_ at-least k) Bool Bool Bool :left-assoc :min 1 :only (z3))
  ((_ pble k a) Bool Bool :only (z3))
  ((_ pble k a b) Bool Bool Bool :only (z3))
  ((_ pble k a b c) Bool Bool Bool Bool :only (z3))
  ((_ pble k a b c d) Bool Bool Bool Bool Bool :only (z3))
  ((_ pble k a b c d e) Bool Bool Bool Bool Bool Bool :only (z3))
  ((_ pble k a b c d e f) Bool Bool Bool Bool Bool Bool Bool :only (z3))
  ((_ pbge k a) Bool Bool :only (z3))
  ((_ pbge k a b) Bool Bool Bool :only (z3))
  ((_ pbge k a b c) Bool Bool Bool Bool :only (z3))
  ((_ pbge k a b c d) Bool Bool Bool Bool Bool :only (z3))
  ((_ pbge k a b c d e) Bool Bool Bool Bool Bool Bool :only (z3))
  ((_ pbge k a b c d e f) Bool Bool Bool Bool Bool Bool Bool :only (z3))
  ((_ pbeq k a) Bool Bool :only (z3))
  ((_ pbeq k a b) Bool Bool Bool :only (z3))
  ((_ pbeq k a b c) Bool Bool Bool Bool :only (z3))
  ((_ pbeq k a b c d) Bool Bool Bool Bool Bool :only (z3))
  ((_ pbeq k a b c d e) Bool Bool Bool Bool Bool Bool :only (z3))
  ((_ pbeq k a b c d e f) Bool Bool Bool Bool Bool Bool Bool :only (z3))
  (par (A) ((_ linear-order i) A A Bool :open :only (z3)))
  (par (A) ((_ partial-order i) A A Bool :open :only (z3)))
  (par (A) ((_ tree-order i) A A Bool :open :only (z3)))
  (par (A) ((_ piecewise-linear-order i) A A Bool :open :only (z3)))
 ))
