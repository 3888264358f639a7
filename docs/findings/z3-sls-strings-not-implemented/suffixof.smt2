(declare-const a (Seq Int))
(assert (seq.suffixof a (seq.unit 0)))
(check-sat)
