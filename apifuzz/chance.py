"""The source of randomness that calls and their arguments are drawn from."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Chance(random.Random):
    """A seeded source with a few methods for drawing; each uses one random number."""

    def happens(self, share: float) -> bool:
        """True in ``share`` of the cases (0 to 1)."""
        return self.random() < share

    def below(self, count: float) -> int:
        """A number from 0 to ``count`` - 1; below 2.5, 2 comes half as often as 0 and 1."""
        return int(self.random() * count)

    def up_to(self, most: float) -> int:
        """A number from 1 to ``most``."""
        return 1 + int(self.random() * most)

    def pick(self, options: Sequence[T]) -> T:
        """One of the options, of which there is at least one."""
        return options[int(self.random() * len(options))]

    def pick_if_any(self, options: Sequence[T]) -> T | None:
        """One of the options; None where there are none."""
        return self.pick(options) if options else None
