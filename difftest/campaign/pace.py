"""How long a test's first run may take: long enough for most of what is decided at all, and no longer.

A fixed limit is right for one machine and one kind of tests. This one follows the tests that were decided
within it: twice what half of them took, and never more than at first. Runs that were cut off are not among
them, so the median alone would shrink from step to step; twice the median settles where a longer limit
would decide few more tests. It does not grow beyond what it was at first: on a busy machine, where a run
waits more than it works, a longer limit was measured to decide fewer tests a second.
"""

from __future__ import annotations

from collections import deque
from statistics import median

_FACTOR = 2.0
_SHORTEST = 0.05
# It follows the latest 300 decided tests, and is computed again after every 20.
_KEPT = 300
_STEP = 20


class Pace:
    """The first time limit of a hunt's tests, in seconds: ``limit``, at most what it was at first."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self._longest = limit
        self._took: deque[float] = deque(maxlen=_KEPT)
        self._new = 0

    def decided(self, seconds: float) -> None:
        """A test was decided within the limit by all solvers, the slowest of which took ``seconds``."""
        self._took.append(seconds)
        self._new += 1
        if self._new == _STEP:
            self._new = 0
            self.limit = min(self._longest, max(_SHORTEST, _FACTOR * median(self._took)))
