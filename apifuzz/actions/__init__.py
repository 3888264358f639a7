"""Actions: what a transition of the model does with the solver."""

from __future__ import annotations

from abc import ABC, abstractmethod

from apifuzz.run import Run


class Action(ABC):
    """One kind of interaction: draws its arguments, makes its calls, and makes them again from a trace.

    Arguments and returns are the tokens of a trace line, each one s-expression as text: ``s3`` a sort,
    ``t12`` a term, a numeral, a symbol, a string, a list in parentheses. ``perform`` must depend on them, on
    the run's state and on the engine's random source only: never on ``run.random``, which a replay does not
    have.
    """

    name: str

    def is_possible(self, run: Run) -> bool:
        """Whether the action makes sense now; cheap, for it is asked at every choice."""
        return True

    @abstractmethod
    def draw(self, run: Run) -> tuple[str, ...] | None:
        """Arguments, drawn from ``run.random`` and what the run has made; None where none can be found."""

    @abstractmethod
    def perform(self, run: Run, args: tuple[str, ...]) -> tuple[str, ...]:
        """Do it, and return the ids (``t7 s2``) of what was made. Raises what the engine raises, and
        :class:`apifuzz.trace.TraceError` where the arguments are not what the action takes.
        """
