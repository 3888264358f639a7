(define-const a (Array Int Int) (store (store ((as const (Array Int Int)) 0) 1 1) 2 2))
(define-const b (Array Int Int) (store (store ((as const (Array Int Int)) 0) 2 2) 1 1))
(assert (not (seq.contains (seq.++ (seq.unit a) (seq.unit a)) (seq.unit b))))
(check-sat)
