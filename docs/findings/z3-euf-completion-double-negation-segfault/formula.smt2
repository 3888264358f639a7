(assert (not (not true)))
(check-sat-using (then euf-completion smt))
