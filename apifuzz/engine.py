"""An engine is a solver as the fuzzer sees it: it makes the calls that it is given.

An engine makes the solver's own calls and nothing else: the model (``model.py``) decides which call comes
next, and the actions (``actions/``) decide on its arguments. Where the solver offers several calls for one
thing (``mk_term(k, a, b)`` and ``mk_term(k, [a, b])``; ``a + b`` and ``z3.Sum``), the engine draws among them
from :attr:`Engine.random`. Each call seeds it with the number at the beginning of its line in the trace, so a
trace replays to the same calls.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from apifuzz.call import Call
from apifuzz.chance import Chance
from apifuzz.interface import Answer, ApiTerm, Capabilities, Option, Unsupported
from smtlib import Signature, Sort

R = TypeVar("R")

KEPT: list[Any] = []
"""Objects of solvers that must outlive everything else of a run. They are kept until the process ends, which
makes one run. Code that makes several runs in a process collects garbage and clears this list after each."""


@dataclass(frozen=True, slots=True)
class Assertion:
    """A formula that was asserted; by ``mark`` the engine recognises it in a core."""

    term: ApiTerm
    mark: Any


@dataclass(slots=True)
class Stack:
    """What is asserted on each open level, and the answer and assumptions of the last check, until something
    changes.
    """

    levels: list[list[Assertion]] = field(default_factory=lambda: [[]])
    answer: Answer | None = None
    assumptions: tuple[ApiTerm, ...] | None = None

    @property
    def asserted(self) -> list[Assertion]:
        """The assertions of all levels, in order."""
        return [assertion for level in self.levels for assertion in level]

    @property
    def terms(self) -> list[ApiTerm]:
        """The asserted formulas, in order."""
        return [assertion.term for level in self.levels for assertion in level]

    def note(self, call: Call[Any], result: Any) -> None:
        """Record a call that was made."""
        if call.method == "check_sat":
            self.answer, self.assumptions = result, next(iter(call), None)
        elif call.changes:
            self._change(call, result)
            self.changed()

    def _change(self, call: Call[Any], result: Any) -> None:
        argument: Any = next(iter(call), None)
        match call.method:
            case "assert_formula":
                self.levels[-1].append(Assertion(argument, result))
            case "push":
                self.levels += [[] for _ in range(argument)]
            case "pop":
                del self.levels[len(self.levels) - argument :]
            case "new" | "delete" | "reset" | "reset_assertions":
                self.levels = [[]]

    def changed(self) -> None:
        """The last answer is no longer valid."""
        self.answer = self.assumptions = None


class Engine(ABC):
    """One solver behind its own interface. Handles are the solver's objects, which the fuzzer does not touch.

    A call is made by the method with its name (:attr:`Call.method`), of the engine itself or of one of its
    ``parts``; without a method the solver lacks the call. The call's class says what it takes and gives.
    Methods may raise :class:`Rejected`, :class:`Unsupported`, :class:`LimitReached` or :class:`Misbehaviour`,
    and the solver's ``exceptions``, which :meth:`translate` turns into one of these; nothing else, unless the
    engine has a bug. An engine serves one run: ``New`` to ``Delete``, possibly several times.
    """

    name: str
    """The spec of ``make_engine``, or the name that was given to a solver command."""

    answers: bool = True
    """Whether there is a solver that answers. Where there is none (printing), a run draws an answer, and what
    can be asked after one answer can be asked after any."""

    plan: str = ""
    """The module with the actions of this solver only (``ACTIONS``); empty for none."""

    plan_takes_pairs: bool = False
    """Whether those actions work in lockstep with another solver, too, where handles are pairs."""

    plain: bool = False
    """Whether calls are made as people write them, where there are several ways: they become a program."""

    parts: tuple[str, ...] = ()
    """Attributes with objects that have further methods for calls."""

    exceptions: tuple[type[BaseException], ...] = ()
    """The classes of the solver's own exceptions."""

    def __init__(self) -> None:
        self.random = Chance()
        self.stack = Stack()
        self._places: dict[str, str | None] = {}

    # Calls

    def perform(self, call: Call[R]) -> R:
        """Make the call, record what it asserts, and return its result."""
        try:
            result: R = self.maker(call)(*call.arguments())
        except self.exceptions as error:
            raise self.translate(error, call) from error
        self.stack.note(call, result)
        return result

    def maker(self, call: Call[Any]) -> Callable[..., Any]:
        """The method that makes the call. Raises :class:`Unsupported` where there is none."""
        place = self._places.get(call.method)
        if place is None:
            found = (p for p in ("", *self.parts) if hasattr(getattr(self, p) if p else self, call.method))
            place = self._places[call.method] = next(found, None)
        if place is None:
            raise Unsupported(f"{self.name} has no {call.method}")
        made: Callable[..., Any] = getattr(getattr(self, place) if place else self, call.method)
        return made

    def translate(self, error: BaseException, call: Call[Any]) -> BaseException:
        """The exception of engines for one of the solver's ``exceptions`` in a call."""
        return error

    # What it is

    @property
    @abstractmethod
    def version(self) -> str:
        """The version that the solver reports."""

    @property
    def families(self) -> tuple[str, ...]:
        """The solvers whose ``:only`` marks in the theory files apply; all of them must know a thing."""
        return (self.name,)

    @property
    def core(self) -> Engine:
        """The solver's own engine, where this one wraps it."""
        return self

    @abstractmethod
    def capabilities(self) -> Capabilities:
        """What the solver supports. It is asked again after each option."""

    @abstractmethod
    def options(self) -> tuple[Option, ...]:
        """The options that may be drawn, as the solver lists them. The engine's own list leaves out dangerous
        ones: time limits, output to files, other languages.
        """

    def takes(self, signature: Signature, sorts: tuple[Sort, ...], result: Sort) -> bool:
        """Whether the solver takes this operator at these sorts; finer than :class:`Capabilities`."""
        return True

    @abstractmethod
    def sibling(self) -> Engine:
        """Another instance that shares sorts and terms with this one, with default options plus models, cores
        and assumptions.
        """
