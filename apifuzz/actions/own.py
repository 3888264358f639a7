"""Actions of one solver, which use its engine directly, and checks by a second instance of the solver."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from apifuzz.actions import Action, Made
from apifuzz.interface import Answer, Misbehaviour
from apifuzz.run import Run


class Own(Action[None]):
    """An action of one solver; its name begins with the solver's name and a colon."""

    places: ClassVar[tuple[tuple[str, float], ...]] = (("terms", 1.0),)
    """The states of the model in which it occurs, with weights."""

    def make(self, run: Run) -> Made:
        self.require(run)
        core = run.engine.core
        try:
            return self.act(run, core) or ()
        except core.exceptions as error:
            raise core.translate(error, self) from error

    def act(self, run: Run, core: Any) -> Made | None:
        """Make the solver's calls on its engine ``core``, and check what must hold after them.

        The caller translates the solver's exceptions.
        """
        raise NotImplementedError


class Second(ABC):
    """A second instance of a solver, without the options and the history of the first.

    Formulas are the solver's own objects. The checks raise :class:`Misbehaviour`; the answer ``unknown``
    contradicts nothing.
    """

    @abstractmethod
    def answer(self, formulas: Sequence[Any]) -> Answer:
        """Its answer to these formulas."""

    @abstractmethod
    def negated(self, formula: Any) -> Any:
        """The negation of a formula."""

    def shown(self, formula: Any) -> str:
        """The beginning of a formula's text."""
        return str(formula)[:300]

    def must_not_be(self, wrong: Answer, kind: str, formulas: Sequence[Any], about: str) -> None:
        """Its answer to these formulas is not ``wrong``."""
        if self.answer(formulas) is wrong:
            raise Misbehaviour(kind, f"a second solver answers {wrong} to {about}")

    def must_agree(self, answer: Answer, formulas: Sequence[Any], what: str) -> None:
        """Its answer to these formulas does not contradict ``answer``, in which ``what`` ended."""
        if answer is not Answer.UNKNOWN:
            second = self.answer(formulas)
            if second is not Answer.UNKNOWN and second is not answer:
                raise Misbehaviour("answer", f"{what} ends in {answer}, a plain solver in {second}")

    def must_follow(self, premises: Sequence[Any], conclusion: Any, what: str, kind: str = "answer") -> None:
        """It has no model of the premises in which the conclusion, which ``what`` gave, is false."""
        if self.answer([*premises, self.negated(conclusion)]) is Answer.SAT:
            raise Misbehaviour(kind, f"{what} gives what does not follow\n{self.shown(conclusion)}")
