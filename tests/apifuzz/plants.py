"""Planted errors for ``scripts/bench_apifuzz --minimise``: ``plant0`` to ``plant29`` make an engine each.

Five kinds of six: a crash after this many pops; an abort at a term with one operator right below another; an
assertion with an operator that is rejected while levels are open; a wrong answer to a check of an assertion
with an operator after a level was closed; a term with an operator that reads back wrongly while another is
asserted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from doubles import CrashesAfterPops, Watching, operators_in

from apifuzz import calls
from apifuzz.engine import Engine
from apifuzz.engines import make_engine
from apifuzz.interface import Answer, ApiSort, ApiTerm, Head, Misbehaviour, Rejected

OPERATORS = ("and", "ite", "bvadd", "not", "+", "distinct")
BELOW = ("or", "not", "bvand", "and", "-", "=")


class Planted(Watching):
    """An engine that prints, about to go wrong over ``operator``, perhaps together with ``below``."""

    def __init__(self, operator: str, below: str) -> None:
        super().__init__(make_engine("smtlib"))
        self.operator, self.below = operator, below


class Aborts(Planted):
    """Aborts at a term with ``operator`` right above ``below``."""

    def make_term(self, sort: ApiSort, head: Head, args: Sequence[ApiTerm]) -> Any:
        if head.name == self.operator and any(a.head is not None and a.head.name == self.below for a in args):
            sys.stderr.write("Fatal failure within rewrite() at rewriter.cpp:12\n")
            sys.stderr.flush()
            os.abort()
        return self.inner.perform(calls.MakeTerm(sort, head, args))


class Rejects(Planted):
    """Rejects assertions with ``operator`` while two levels are open."""

    def assert_formula(self, term: ApiTerm) -> None:
        if len(self.stack.levels) > 2 and self.operator in operators_in(term):
            raise Rejected(f"no {self.operator} here")
        self.inner.perform(calls.Assert(term))


class Answers(Planted):
    """Answers wrongly when ``operator`` is asserted after a pop."""

    def check_sat(self, assumptions: Sequence[ApiTerm] | None = None) -> Answer:
        if self.pops and self.asserts(self.operator):
            raise Misbehaviour("answer", "sat, but it is unsat")
        return self.inner.perform(calls.check(assumptions))


class Prints(Planted):
    """Reads terms with ``operator`` back wrongly while ``below`` is asserted."""

    def read_back(self, term: ApiTerm) -> None:
        if self.operator in operators_in(term) and self.asserts(self.below):
            raise Misbehaviour("print", "it reads back as another term")
        self.inner.perform(calls.ReadBack(term))


def _plant(number: int) -> Callable[[], Engine]:
    kind, place = divmod(number, 6)
    if kind == 0:
        return lambda: CrashesAfterPops(place + 1, make_engine("smtlib"))
    made = (Aborts, Rejects, Answers, Prints)[kind - 1]
    return lambda: made(OPERATORS[place], BELOW[place])


def __getattr__(name: str) -> Callable[[], Engine]:
    if not name.startswith("plant"):
        raise AttributeError(name)
    return _plant(int(name.removeprefix("plant")))
