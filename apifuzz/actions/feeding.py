"""Terms of a corpus as ordinary calls."""

from __future__ import annotations

from typing import Self

from apifuzz.actions import Action
from apifuzz.feeding.making import feed_term
from apifuzz.run import Run
from apifuzz.trace import TraceError


class FeedTerm(Action[None]):
    """``feed-term`` is never written: it makes a term of the corpus by other calls, which are."""

    @classmethod
    def is_possible(cls, run: Run) -> bool:
        return run.settings.feed is not None

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        feed_term(run)
        return None

    def require(self, run: Run) -> None:
        raise TraceError("written as the calls that make the term")


ACTIONS = (FeedTerm,)
