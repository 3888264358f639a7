"""The calls that runs make: when each makes sense, how its arguments are drawn, what becomes of it."""

from __future__ import annotations

from typing import ClassVar, Self

from apifuzz.call import Call, ResultT
from apifuzz.interface import Answer, ApiSort, ApiTerm, Feature
from apifuzz.run import Run

Made = tuple[ApiSort | ApiTerm, ...]
"""The sorts or terms that a call has made."""


class Action(Call[ResultT]):
    """A call that runs make."""

    feature: ClassVar[Feature | None] = None
    """What the solver must have."""

    after: ClassVar[tuple[Answer, ...]] = ()
    """The answers of the last check after which it may come; empty: any time."""

    @classmethod
    def is_possible(cls, run: Run) -> bool:
        """Whether the call makes sense now; cheap, for it is asked at every choice."""
        if cls.after and run.answer not in cls.after:
            return False
        return cls.feature is None or run.has(cls.feature)

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        """The call with arguments drawn from ``run.random`` and what the run has made; None where none can
        be found.
        """
        return cls()

    def make(self, run: Run) -> Made:
        """Make the call, and keep what it has made. Raises what engines raise, and :class:`TraceError` where
        the arguments are not what the call takes.

        What it does depends on the arguments, the run's state and the engine's random source only: never on
        ``run.random``, which a replay does not have.
        """
        self.require(run)
        run.engine.perform(self)
        return ()

    def require(self, run: Run) -> None:
        """Raise :class:`Unsupported` where the solver lacks what it needs, or there is no answer to ask
        about.
        """
        if self.feature is not None:
            run.require(self.feature)
        if self.after:
            run.require_answer(*self.after)
