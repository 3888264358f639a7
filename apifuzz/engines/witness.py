"""Witnesses re-checked: values, unsat cores and failed assumptions go into a second instance of the solver.

The second instance has default options, so it also catches what only the options of the first one bring
about. An answer ``unknown`` of the second says nothing, nor that it rejects a value.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from apifuzz.engines.around import Around
from apifuzz.interface import Answer, ApiSort, ApiTerm, Engine, Misbehaviour, Rejected, TermKind, Unsupported
from smtlib import BOOL


class Witness(Around):
    """Keeps the assertions level by level, and re-checks what the solver gives as a witness.

    Raises :class:`Misbehaviour` of kind ``core``, ``assumptions`` or ``model``.
    """

    def __init__(self, inner: Engine) -> None:
        super().__init__(inner)
        self._levels: list[list[ApiTerm]] = [[]]
        self._assumptions: list[ApiTerm] = []
        self._answer: Answer | None = None

    # The assertions

    def new(self) -> None:
        super().new()
        self._forget()

    def delete(self) -> None:
        self._forget()
        super().delete()

    def reset(self) -> None:
        super().reset()
        self._forget()

    def reset_assertions(self) -> None:
        super().reset_assertions()
        self._forget()

    def push(self, levels: int) -> None:
        super().push(levels)
        self._levels += [[] for _ in range(levels)]

    def pop(self, levels: int) -> None:
        super().pop(levels)
        if levels:
            del self._levels[-levels:]

    def assert_formula(self, term: ApiTerm) -> None:
        super().assert_formula(term)
        self._levels[-1].append(term)

    def check_sat(self, assumptions: Sequence[ApiTerm] | None) -> Answer:
        self._assumptions = list(assumptions or ())
        self._answer = None
        self._answer = super().check_sat(assumptions)
        return self._answer

    def _forget(self) -> None:
        self._levels = [[]]
        self._assumptions = []
        self._answer = None

    @property
    def _assertions(self) -> list[ApiTerm]:
        return [term for level in self._levels for term in level]

    # The witnesses

    def unsat_core(self) -> list[ApiTerm]:
        core = super().unsat_core()
        self._must_be_given("core", core, [*self._assertions, *self._assumptions])
        self._must_not_be(Answer.SAT, "core", [*core, *self._assumptions], f"the unsat core {_names(core)}")
        return core

    def unsat_assumptions(self) -> list[ApiTerm]:
        failed = super().unsat_assumptions()
        self._must_be_given("assumptions", failed, self._assumptions)
        told = f"the failed assumptions {_names(failed)}"
        self._must_not_be(Answer.SAT, "assumptions", [*self._assertions, *failed], told)
        return failed

    def values(self, terms: Sequence[ApiTerm]) -> list[Any]:
        values = super().values(terms)
        if self._answer is Answer.SAT and terms:
            # Not every value can be asserted (cvc5 has no constant arrays at first): then it is not checked.
            with contextlib.suppress(Rejected, Unsupported):
                self._must_hold(terms, values)
        return values

    def _must_hold(self, terms: Sequence[ApiTerm], values: Sequence[Any]) -> None:
        sort = ApiSort(0, BOOL, self.inner.make_sort(BOOL, ()))
        equations = [
            ApiTerm(0, sort, self.inner.equal(term, value), TermKind.TERM)
            for term, value in zip(terms, values, strict=True)
        ]
        formulas = [*self._assertions, *self._assumptions, *equations]
        self._must_not_be(Answer.UNSAT, "model", formulas, f"the values of {_names(terms)}")

    def _must_be_given(self, kind: str, found: Sequence[ApiTerm], given: Sequence[ApiTerm]) -> None:
        strange = [term for term in found if not any(term is other for other in given)]
        if strange:
            raise Misbehaviour(kind, f"{_names(strange)} in it was not given")

    def _must_not_be(self, wrong: Answer, kind: str, formulas: Sequence[ApiTerm], told: str) -> None:
        with self._second() as second:
            for formula in formulas:
                second.assert_formula(formula)
            if second.check_sat(None) is wrong:
                raise Misbehaviour(kind, f"a second instance answers {wrong} to {told}")

    @contextlib.contextmanager
    def _second(self) -> Iterator[Engine]:
        second = self.inner.sibling()
        try:
            yield second
        finally:
            second.delete()


def _names(terms: Sequence[ApiTerm]) -> str:
    return " ".join(map(str, terms)) or "of nothing"
