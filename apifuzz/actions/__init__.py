"""The calls that runs make: when each is possible, its arguments, and what must hold after it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, ClassVar

from apifuzz.call import Call, ResultT
from apifuzz.interface import Answer, ApiSort, ApiTerm, Feature, Misbehaviour, Unsupported
from apifuzz.run import Run
from apifuzz.trace import TraceError

Made = tuple[ApiSort | ApiTerm, ...]
"""The sorts or terms that a call has made."""


@dataclass(frozen=True, slots=True)
class Need:
    """A precondition of a call, and what a replay reports where it does not hold."""

    holds: Callable[[Run], bool]
    otherwise: str


MAY_CHANGE = Need(lambda run: run.may_change, "a second check, without incremental solving")


def option(setting: str) -> Need:
    """An option must be set: ``name=value``."""
    return Need(lambda run: run.is_set(setting), f"without {setting}")


def draws_on(feature: Feature) -> Callable[[Run], bool]:
    """Whether the run draws on a feature of the solver."""
    return lambda run: run.draws_on(feature)


def has_open(run: Run) -> bool:
    """Whether there is a variable that nothing binds yet."""
    return bool(run.store.open_variables)


class Action(Call[ResultT]):
    """A call that runs make.

    Its arguments are drawn by their kinds, unless a class has its own ``draw``.
    """

    feature: ClassVar[Feature | None] = None
    """What the solver must have."""

    after: ClassVar[tuple[Answer, ...]] = ()
    """The answers of the last check after which it is possible; empty: at any time."""

    needs: ClassVar[tuple[Need, ...]] = ()
    """What else must hold for the call to be drawn and made."""

    likely: ClassVar[tuple[Callable[[Run], bool], ...]] = ()
    """What must hold for the call to be drawn; a trace may have it elsewhere, too."""

    @classmethod
    def is_possible(cls, run: Run) -> bool:
        """Whether the call can be drawn now. It is asked at every choice, so it is cheap."""
        if cls.after and run.stack.answer not in cls.after:
            return False
        if cls.feature is not None and not run.has(cls.feature):
            return False
        if cls.needs and not all(need.holds(run) for need in cls.needs):
            return False
        return not cls.likely or all(holds(run) for holds in cls.likely)

    def make(self, run: Run) -> Made:
        """Make the call, and keep what it made. Raises what engines raise, and :class:`TraceError` where the
        call does not take the arguments.

        What it does depends on the arguments, the run's state and the engine's random source only: never on
        ``run.random``, which a replay does not have.
        """
        self.require(run)
        return self.keep(run, run.engine.perform(self)) or ()

    def require(self, run: Run) -> None:
        """Check before the call that it can be made, and take the names that it gives.

        Raises :class:`Unsupported` where the solver lacks something or there is no answer to ask about, and
        :class:`TraceError` where the arguments do not fit.
        """
        if self.feature is not None:
            run.require(self.feature)
        if self.after:
            run.require_answer(*self.after)
        for need in self.needs:
            if not need.holds(run):
                raise Unsupported(need.otherwise)

    def keep(self, run: Run, result: Any) -> Made | None:
        """Take in the ``result`` of the call: check what must hold after it, and keep what it made."""
        return None


class Unwritten(Action[None]):
    """Draws other calls, which are written in its place."""

    def require(self, run: Run) -> None:
        raise TraceError("written as other calls")


def actions_in(*modules: ModuleType) -> tuple[type[Action[Any]], ...]:
    """The actions that modules define, in order; names that begin with ``_`` are base classes."""
    return tuple(
        value
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, Action)
        if value.__module__ == module.__name__ and not name.startswith("_")
    )


# Actions of one solver, which use its engine directly, and checks by a second instance of the solver


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
