"""What the rows of ``actions.toml``, the actions that only oxiz has, need beside oxiz's own calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import oxiz

from apifuzz.calls import Assert, CheckSat, Delete, MakeSort, MakeTerm, MakeValue
from apifuzz.engine import Engine
from apifuzz.engines.crosscheck import CrossCheck, Pair, on_side
from apifuzz.engines.declared import Asking, declared
from apifuzz.engines.oxiz.engine import OxizEngine, in_smtlib
from apifuzz.engines.oxiz.session import QUESTIONS
from apifuzz.interface import Answer, ApiSort, ApiTerm, Head, HeadKind, TermKind, must
from apifuzz.run import Run
from smtlib import BOOL

NUMBERS = ("Int", "Real")


class OxizAsking(Asking):
    """A run of oxiz, perhaps with another solver. Formulas are made with all solvers of the run, and further
    instances of these judge them.
    """

    def __init__(self, run: Run, core: OxizEngine) -> None:
        super().__init__(run, core)
        self.session, self.manager = core.session, core.session.manager

    def word(self, name: str) -> Any:
        return vars(oxiz)[name]

    def own(self, term: ApiTerm) -> Any:
        return term.handle.handles[0] if isinstance(term.handle, Pair) else term.handle

    @cached_property
    def _bool(self) -> ApiSort:
        return ApiSort(0, BOOL, self.run.engine.perform(MakeSort(BOOL)))

    def value(self, like: ApiTerm, text: str) -> ApiTerm:
        """The value that ``text`` writes, of the sort of a term."""
        handle = self.run.engine.perform(MakeValue(like.sort, text))
        return ApiTerm(0, like.sort, handle, TermKind.VALUE)

    def atom(self, name: str, *terms: ApiTerm) -> ApiTerm:
        """A formula: an operator applied."""
        handle = self.run.engine.perform(MakeTerm(self._bool, Head(HeadKind.OPERATOR, name), terms))
        return ApiTerm(0, self._bool, handle, TermKind.TERM)

    def answers(self, formulas: Sequence[ApiTerm]) -> Iterator[tuple[str, Answer]]:
        """What a further instance of each solver says to the assertions with these formulas, by its name."""
        other = self.run.engine.sibling()
        engines: list[Engine] = [other.first, other.second] if isinstance(other, CrossCheck) else [other]
        for side, engine in enumerate(engines):
            paired = len(engines) > 1
            try:
                for formula in (*self.stack.terms, *formulas):
                    call = Assert(formula)
                    engine.perform(on_side(call, side) if paired else call)
                yield engine.name, engine.perform(CheckSat())
            finally:
                engine.perform(Delete())

    def must_not_answer(self, wrong: Answer, formulas: Sequence[ApiTerm], what: str) -> None:
        """No solver answers this to the assertions with these formulas."""
        for name, answer in self.answers(formulas):
            must("optimum", answer is not wrong, f"{name} answers {wrong} to {what}")


def draw_number(run: Run) -> ApiTerm | None:
    """A closed number."""
    sort = run.random.pick_if_any([s for s in run.store.populated if s.name in NUMBERS])
    return run.random.pick_if_any(run.store.pools[sort].closed) if sort is not None else None


# Words of the rows, besides what is defined here.
__all__ = ["ACTIONS", "QUESTIONS", "in_smtlib"]

ACTIONS = declared(Path(__file__).with_suffix(".toml"), "oxiz", OxizAsking, globals())
