"""Solvers with planted bugs: an engine that prints instead of solving, and a solver's own, each gone wrong.

What is below makes one each; a test names it as the factory of a ``Setup``, so that it is made in the process
of a run.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from apifuzz import calls
from apifuzz.engine import Engine, R
from apifuzz.engines import make_engine
from apifuzz.engines.around import Around, Witness
from apifuzz.engines.crosscheck import CrossCheck
from apifuzz.engines.walking import walk
from apifuzz.interface import Answer, ApiSort, ApiTerm, LimitReached, Option, Rejected
from smtlib import postorder

CHUNK = 2 << 20
_kept: list[bytearray] = []


class CrashesAfterPops(Around):
    """The process dies of a real SIGSEGV after this many pops of one instance."""

    def __init__(self, pops: int, inner: Engine) -> None:
        super().__init__(inner)
        self.pops = self.left = pops

    def new(self) -> None:
        self.inner.perform(calls.New())
        self.left = self.pops

    def pop(self, levels: int) -> None:
        self.inner.perform(calls.Pop(levels))
        self.left -= 1
        if not self.left:
            os.kill(os.getpid(), signal.SIGSEGV)


class ForgetsDeclarations(Around):
    """After a pop, constants made since the matching push are unknown, as in a solver without global ones."""

    def __init__(self, inner: Engine) -> None:
        super().__init__(inner)
        self.scopes: list[set[str]] = [set()]
        self.lost: set[str] = set()

    def make_constant(self, sort: ApiSort, name: str) -> Any:
        self.scopes[-1].add(name)
        return self.inner.perform(calls.MakeConstant(sort, name))

    def push(self, levels: int) -> None:
        self.inner.perform(calls.Push(levels))
        self.scopes += [set() for _ in range(levels)]

    def pop(self, levels: int) -> None:
        self.inner.perform(calls.Pop(levels))
        for _ in range(levels):
            self.lost |= self.scopes.pop()

    def assert_formula(self, term: ApiTerm) -> None:
        for name in sorted(names_in(term) & self.lost):
            raise Rejected(f"symbol '{name}' is not declared")
        self.inner.perform(calls.Assert(term))


class Watching(Around):
    """Knows how many pops there were."""

    def __init__(self, inner: Engine) -> None:
        super().__init__(inner)
        self.pops = 0

    def perform(self, call: calls.Call[R]) -> R:
        made = super().perform(call)
        if isinstance(call, (calls.New, calls.Reset, calls.ResetAssertions)):
            self.pops = 0
        self.pops += isinstance(call, calls.Pop)
        return made

    def asserts(self, operator: str) -> bool:
        """Whether an assertion has the operator."""
        return any(operator in operators_in(term) for term in self.stack.terms)


class AnswersWrongly(Watching):
    """Says sat instead of unsat and the other way, while an assertion has an operator in it."""

    def __init__(self, operator: str, inner: Engine) -> None:
        super().__init__(inner)
        self.operator = operator

    def check_sat(self, assumptions: Sequence[ApiTerm] | None = None) -> Answer:
        answer = self.inner.perform(calls.check(assumptions))
        if self.asserts(self.operator):
            return {Answer.SAT: Answer.UNSAT, Answer.UNSAT: Answer.SAT}.get(answer, answer)
        return answer


class ReturnsWrongCores(Around):
    """Leaves the last assertion out of a core."""

    def unsat_core(self) -> list[ApiTerm]:
        return self.inner.perform(calls.UnsatCore())[:-1]


class DislikesOptions(Around):
    """Takes options one by one, and some not together, which it says at the next check."""

    def new(self) -> None:
        self.inner.perform(calls.New())
        self.set: set[str] = set()

    def set_option(self, name: str, value: str) -> None:
        self.inner.perform(calls.SetOption(name, value))
        self.set.add(f"{name}={value}")

    def check_sat(self, assumptions: Sequence[ApiTerm] | None = None) -> Answer:
        if {"a=true", "b=2"} <= self.set:
            raise Rejected("a with b")
        if "c=no" in self.set:
            raise LimitReached("c is never no")
        if "d=true" in self.set:
            os.abort()
        return self.inner.perform(calls.check(assumptions))


class Leaks(Around):
    """Keeps some memory for each assertion, for ever."""

    def assert_formula(self, term: ApiTerm) -> None:
        self.inner.perform(calls.Assert(term))
        _kept.append(bytearray(os.urandom(1) * CHUNK))


class CrashesInForksOnly(CrashesAfterPops):
    """Crashes only in a process that was forked from a supervisor."""

    def pop(self, levels: int) -> None:
        if Path(sys.argv[0]).name == "_supervisor.py":
            super().pop(levels)
        else:
            self.inner.perform(calls.Pop(levels))


class Breaks(Around):
    """Has a bug of its own."""

    def push(self, levels: int) -> None:
        self.inner.perform(calls.Push(levels // 0))


class AsksOnce(Around):
    """Its version is the process in which its options were first read, and the one it is now in."""

    asked: ClassVar[list[int]] = []

    @property
    def version(self) -> str:
        return f"{self.asked} {os.getpid()}"

    def options(self) -> tuple[Option, ...]:
        if not self.asked:
            self.asked.append(os.getpid())
        return super().options()


def operators_in(term: ApiTerm) -> set[str]:
    """The operators that a term is made with, at any depth."""
    parts = walk([term], lambda part: part.args)
    return {part.head.name for part in parts if part.head is not None}


def names_in(term: ApiTerm) -> set[str]:
    """The names of the constants in a printed term."""
    return {part.name for part in postorder([term.handle]) if not part.args}


def _printing(double: Callable[[Engine], Engine]) -> Callable[[], Engine]:
    """The double of an engine that prints."""
    return lambda: double(make_engine("smtlib"))


honest = partial(make_engine, "smtlib")
crashes_after_pops = _printing(partial(CrashesAfterPops, 3))
crashes_at_first_pop = _printing(partial(CrashesAfterPops, 1))
crashes_in_forks_only = _printing(partial(CrashesInForksOnly, 1))
forgets_declarations = _printing(ForgetsDeclarations)
dislikes_options = _printing(DislikesOptions)
leaks = _printing(Leaks)
breaks = _printing(Breaks)
asks_once = _printing(AsksOnce)


def dies() -> Engine:
    os.abort()


def answers_wrongly() -> Engine:
    return CrossCheck(AnswersWrongly("bvxor", make_engine("bitwuzla")), make_engine("bitwuzla"))


def returns_wrong_cores() -> Engine:
    return Witness(ReturnsWrongCores(make_engine("bitwuzla")))
