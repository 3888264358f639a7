"""Terms of a corpus, or of generated tests, as calls: bug history for API fuzzing.

A term is turned into the ordinary calls that make it (sorts, constants, values, terms, binders), so that a trace
stands alone. Where a constant of the term could as well be something that the run has, now and then it is.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import TYPE_CHECKING

from smtlib import Term

if TYPE_CHECKING:
    from apifuzz.run import Run


class Feed:
    """Terms to draw on."""

    def __init__(self, terms: Iterable[Term]) -> None:
        self.terms = tuple(terms)

    def draw(self, chance: random.Random) -> Term | None:
        """One of the terms; None where there are none."""
        return self.terms[int(chance.random() * len(self.terms))] if self.terms else None


def feed_term(run: Run) -> None:
    """Make a term of the run's feed."""
