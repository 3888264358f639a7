"""bitwuzla 0.9.1, Python: collecting a term in a reference cycle ends in a segmentation fault."""

import gc

from bitwuzla import TermManager

for _ in range(20):  # freed memory is not always noticed at once
    manager = TermManager()
    cycle: list[object] = [manager.mk_const(manager.mk_bv_sort(8), "x")]
    cycle.append(cycle)
    del manager, cycle
    gc.collect()
