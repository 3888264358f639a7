"""Terms of a corpus as ordinary calls."""

from __future__ import annotations

from apifuzz.actions import Action
from apifuzz.feeding.making import feed_term
from apifuzz.run import Run
from apifuzz.trace import TraceError


class FeedTerm(Action):
    """``feed-term`` is never written: it makes a term of the corpus by other calls, which are."""

    name = "feed-term"

    def is_possible(self, run: Run) -> bool:
        return run.settings.feed is not None

    def draw(self, run: Run) -> tuple[str, ...] | None:
        feed_term(run)
        return None

    def perform(self, run: Run, args: tuple[str, ...]) -> tuple[str, ...]:
        raise TraceError("written as the calls that make the term")


ACTIONS = (FeedTerm(),)
