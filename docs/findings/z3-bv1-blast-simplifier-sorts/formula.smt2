(declare-const b (_ BitVec 4))
(assert (= (bvadd b #x1) #x0))
(apply bv1-blast)
