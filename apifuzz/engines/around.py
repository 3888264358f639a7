"""Engines around another one: what passes calls on, and what checks witnesses a second time.

Values, unsat cores and failed assumptions go into a second instance of the solver. It has default options, so
it also catches errors that only the options of the first one cause. Nothing follows if the second answers
``unknown`` or rejects a value.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from apifuzz.call import Call
from apifuzz.calls import Assert, CheckSat, Delete, Equate, GetValue, MakeSort, UnsatAssumptions, UnsatCore
from apifuzz.engine import Engine, R
from apifuzz.interface import (
    Answer,
    ApiSort,
    ApiTerm,
    Capabilities,
    Misbehaviour,
    Option,
    Rejected,
    TermKind,
    Unsupported,
    must_be_given,
)
from smtlib import BOOL, Signature, Sort


class Around(Engine):
    """Passes calls on to ``inner``, whose name, random source and stack of assertions it has. A subclass
    looks at a call by a method for it, which hands it on by ``inner.perform``.
    """

    def __init__(self, inner: Engine) -> None:
        self.inner = inner
        self.name, self.answers, self.plan = inner.name, inner.answers, inner.plan
        # One source for both: what is seeded here is what the inner engine draws from.
        self.random, self.stack = inner.random, inner.stack

    def perform(self, call: Call[R]) -> R:
        """Make the call by a method of this engine's own, or hand it on."""
        own = getattr(self, call.method, None)
        made: R = self.inner.perform(call) if own is None else own(*call)
        return made

    @property
    def version(self) -> str:
        return self.inner.version

    @property
    def families(self) -> tuple[str, ...]:
        return self.inner.families

    @property
    def core(self) -> Engine:
        return self.inner.core

    def capabilities(self) -> Capabilities:
        return self.inner.capabilities()

    def options(self) -> tuple[Option, ...]:
        return self.inner.options()

    def takes(self, signature: Signature, sorts: tuple[Sort, ...], result: Sort) -> bool:
        return self.inner.takes(signature, sorts, result)

    def sibling(self) -> Engine:
        return self.inner.sibling()


class Witness(Around):
    """Re-checks what the solver gives as a witness.

    Raises :class:`Misbehaviour` of kind ``core``, ``assumptions`` or ``model``.
    """

    def unsat_core(self) -> list[ApiTerm]:
        """The core, which is of what was given and unsatisfiable."""
        core = self.inner.perform(UnsatCore())
        assumed = list(self.stack.assumptions or ())
        must_be_given("core", core, [*self.stack.terms, *assumed])
        self._must_not_be(Answer.SAT, "core", [*core, *assumed], f"the unsat core {_names(core)}")
        return core

    def unsat_assumptions(self) -> list[ApiTerm]:
        """The failed assumptions, which were assumed and contradict the assertions."""
        failed = self.inner.perform(UnsatAssumptions())
        must_be_given("assumptions", failed, self.stack.assumptions or ())
        about = f"the failed assumptions {_names(failed)}"
        self._must_not_be(Answer.SAT, "assumptions", [*self.stack.terms, *failed], about)
        return failed

    def get_value(self, terms: tuple[ApiTerm, ...]) -> list[Any]:
        """The values, with which the assertions are satisfiable."""
        values = self.inner.perform(GetValue(terms))
        if self.stack.answer is Answer.SAT and terms:
            # Not every value can be asserted (cvc5 has no constant arrays at first): then it is not checked.
            with contextlib.suppress(Rejected, Unsupported):
                self._must_hold(terms, values)
        return values

    def _must_hold(self, terms: Sequence[ApiTerm], values: Sequence[Any]) -> None:
        sort = ApiSort(0, BOOL, self.inner.perform(MakeSort(BOOL)))
        equations = [
            ApiTerm(0, sort, self.inner.perform(Equate(term, value)), TermKind.TERM)
            for term, value in zip(terms, values, strict=True)
        ]
        formulas = [*self.stack.terms, *(self.stack.assumptions or ()), *equations]
        self._must_not_be(Answer.UNSAT, "model", formulas, f"the values of {_names(terms)}")

    def _must_not_be(self, wrong: Answer, kind: str, formulas: Sequence[ApiTerm], about: str) -> None:
        second = self.inner.sibling()
        try:
            for formula in formulas:
                second.perform(Assert(formula))
            if second.perform(CheckSat()) is wrong:
                raise Misbehaviour(kind, f"a second instance answers {wrong} to {about}")
        finally:
            second.perform(Delete())


def _names(terms: Sequence[ApiTerm]) -> str:
    return " ".join(map(str, terms)) or "of nothing"
