"""Planted errors for ``scripts/bench_apifuzz --minimise``: ``plant0`` to ``plant29`` make a wrapper each.

Five kinds of six: a crash after so many pops; an abort at a term with one operator right below another; an
assertion with an operator that is rejected while levels are open; a wrong answer to a check of an assertion
with an operator after a level was closed; a term with an operator that reads back wrongly while another is
asserted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from doubles import CrashesAfterPops, operators_in

from apifuzz.interface import Answer, ApiTerm, Head, Misbehaviour, Rejected, Wrapper
from apifuzz.wrappers import make_wrapper
from apifuzz.wrappers.around import Around
from smtlib import Sort

OPERATORS = ("and", "ite", "bvadd", "not", "+", "distinct")
BELOW = ("or", "not", "bvand", "and", "-", "=")


class Watching(Around):
    """Knows what is asserted, how many levels are open, and how many pops there were."""

    def __init__(self, operator: str, below: str) -> None:
        super().__init__(make_wrapper("smtlib"))
        self.operator, self.below = operator, below
        self._start()

    def _start(self) -> None:
        self.levels: list[list[ApiTerm]] = [[]]
        self.pops = 0

    def new(self) -> None:
        super().new()
        self._start()

    def reset(self) -> None:
        super().reset()
        self._start()

    def reset_assertions(self) -> None:
        super().reset_assertions()
        self._start()

    def push(self, levels: int) -> None:
        super().push(levels)
        self.levels += [[] for _ in range(levels)]

    def pop(self, levels: int) -> None:
        super().pop(levels)
        del self.levels[len(self.levels) - levels :]
        self.pops += 1

    def assert_formula(self, term: ApiTerm) -> None:
        super().assert_formula(term)
        self.levels[-1].append(term)

    def asserts(self, operator: str) -> bool:
        """Whether an assertion has the operator."""
        return any(operator in operators_in(term) for level in self.levels for term in level)


class Aborts(Watching):
    """Aborts at a term with ``operator`` right above ``below``."""

    def make_term(self, head: Head, sort: Sort, args: Sequence[ApiTerm]) -> Any:
        if head.name == self.operator and any(a.head is not None and a.head.name == self.below for a in args):
            sys.stderr.write("Fatal failure within rewrite() at rewriter.cpp:12\n")
            sys.stderr.flush()
            os.abort()
        return super().make_term(head, sort, args)


class Rejects(Watching):
    """Rejects assertions with ``operator`` while two levels are open."""

    def assert_formula(self, term: ApiTerm) -> None:
        if len(self.levels) > 2 and self.operator in operators_in(term):
            raise Rejected(f"no {self.operator} here")
        super().assert_formula(term)


class Answers(Watching):
    """Answers wrongly when ``operator`` is asserted after a pop."""

    def check_sat(self, assumptions: Sequence[ApiTerm] | None) -> Answer:
        if self.pops and self.asserts(self.operator):
            raise Misbehaviour("answer", "sat, but it is unsat")
        return super().check_sat(assumptions)


class Prints(Watching):
    """Reads terms with ``operator`` back wrongly while ``below`` is asserted."""

    def read_back(self, term: ApiTerm) -> None:
        if self.operator in operators_in(term) and self.asserts(self.below):
            raise Misbehaviour("print", "it reads back as another term")
        super().read_back(term)


def _plant(number: int) -> Callable[[], Wrapper]:
    kind, place = divmod(number, 6)
    if kind == 0:
        return lambda: CrashesAfterPops(place + 1, make_wrapper("smtlib"))
    made = (Aborts, Rejects, Answers, Prints)[kind - 1]
    return lambda: made(OPERATORS[place], BELOW[place])


def __getattr__(name: str) -> Callable[[], Wrapper]:
    if not name.startswith("plant"):
        raise AttributeError(name)
    return _plant(int(name.removeprefix("plant")))
