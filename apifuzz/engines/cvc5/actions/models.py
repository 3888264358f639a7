"""Models beyond values: domains, cores of models, and models that are blocked."""

from __future__ import annotations

from typing import Annotated, Any, Self

import cvc5

from apifuzz.actions import option
from apifuzz.call import AnyClosed, Drawn, one_of
from apifuzz.engines.cvc5.actions.base import INCREMENTAL, Cvc5Action, handles, is_plain, names_of
from apifuzz.engines.cvc5.engine import Cvc5Engine
from apifuzz.engines.cvc5.inspection import inspect_value
from apifuzz.engines.cvc5.solving import answer
from apifuzz.interface import Answer, TermKind, Unsupported, expect, must
from apifuzz.run import Run

_MOST_MODELS = 3
_MODES = names_of(cvc5.BlockModelsMode)


class InspectModel(Cvc5Action):
    """``cvc5:inspect-model CONSTANT...``: domains of sorts, cores, the model of these constants."""

    places = (("sat", 0.7),)
    needs = (option("produce-models=true"),)
    after = (Answer.SAT,)
    constants: Annotated[AnyClosed, Drawn(lambda run: tuple(run.store.constants()[-3:]))]

    def act(self, run: Run, core: Cvc5Engine) -> None:
        solver = core.session.solver
        constants = [c for c in self.constants if c.kind is TermKind.CONSTANT]
        sorts = [s for s in core.sorts.declared.values() if s.isUninterpretedSort()]
        for sort in sorts:
            for element in solver.getModelDomainElements(sort):
                expect("model", element.getSort(), sort, f"the sort of an element of {sort}")
                inspect_value(element, f"an element of {sort}")
        for constant in constants:
            solver.isModelCoreSymbol(constant.handle)
        must("model", bool(str(solver.getModel(sorts, handles(constants))).strip()), "an empty text as model")


class BlockModel(Cvc5Action):
    """``cvc5:block-model MODE TERM...``: on a level of its own, models are blocked until there are no more or
    a few were seen. Blocked values must not come again.
    """

    places = (("sat", 0.7),)
    needs = (option("produce-models=true"), INCREMENTAL)
    after = (Answer.SAT,)
    mode: Annotated[str, one_of(*_MODES, "terms")]
    terms: AnyClosed

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        if run.random.happens(0.5):
            return cls("literals" if run.random.happens(0.7) else "values", ())
        constants = run.store.constants(is_plain)
        return cls("terms", tuple(constants[:2])) if constants else None

    def act(self, run: Run, core: Cvc5Engine) -> None:
        terms = handles(self.terms)
        if self.mode not in _MODES and not terms:
            raise Unsupported(f"no way to block a model: {self.mode}")
        solver = core.session.solver
        run.changed()
        solver.push(1)
        before: list[Any] = []
        for _ in range(_MOST_MODELS):
            if answer(solver.checkSat()) is not Answer.SAT:
                break
            if terms:
                values = solver.getValue(terms)
                must("model", values not in before, f"the blocked values {values!s:.200} come again")
                before.append(values)
                solver.blockModelValues(terms)
            else:
                solver.blockModel(_MODES[self.mode])
        solver.pop(1)
