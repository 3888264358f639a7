"""oxiz 0.3.4: a real with the smallest denominator aborts the process."""

import oxiz

oxiz.TermManager().mk_real(1, -(2**63))
