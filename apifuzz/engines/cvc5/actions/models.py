"""Models beyond values: domains, cores of models, and models that are blocked."""

from __future__ import annotations

from typing import Any

import cvc5

from apifuzz.actions.reading import read_closed, read_name, require_count
from apifuzz.engines.cvc5.actions.base import Cvc5Action, handles, is_incremental
from apifuzz.engines.cvc5.engine import Cvc5Engine
from apifuzz.engines.cvc5.inspection import inspect_value
from apifuzz.engines.cvc5.solving import answer
from apifuzz.interface import Answer, Misbehaviour, TermKind, Unsupported, expect
from apifuzz.run import Run

_MOST_MODELS = 3
_MODES = {mode.name.lower(): mode for mode in cvc5.BlockModelsMode}


class InspectModel(Cvc5Action):
    """``cvc5:inspect-model CONSTANT...``: domains of sorts, cores, the model of these constants."""

    name = "cvc5:inspect-model"
    needs = (("produce-models", "true"),)
    after = (Answer.SAT,)

    def draw(self, run: Run) -> tuple[str, ...] | None:
        constants = [c for pool in run.store.pools.values() for c in pool.constants]
        return tuple(map(str, constants[-3:]))

    def act(self, run: Run, engine: Cvc5Engine, args: tuple[str, ...]) -> tuple[str, ...]:
        solver = engine.session.solver
        constants = [c for c in read_closed(run, args) if c.kind is TermKind.CONSTANT]
        sorts = [s for s in engine.sorts.declared.values() if s.isUninterpretedSort()]
        for sort in sorts:
            for element in solver.getModelDomainElements(sort):
                expect("model", element.getSort(), sort, f"the sort of an element of {sort}")
                inspect_value(element, f"an element of {sort}")
        for constant in constants:
            solver.isModelCoreSymbol(constant.handle)
        if not str(solver.getModel(sorts, handles(constants))).strip():
            raise Misbehaviour("model", "an empty text as model")
        return ()


class BlockModel(Cvc5Action):
    """``cvc5:block-model MODE TERM...``: on a level of its own, models are blocked until there are no more or
    a few were seen. Blocked values must not come again.
    """

    name = "cvc5:block-model"
    needs = (("produce-models", "true"),)
    after = (Answer.SAT,)

    def is_possible(self, run: Run) -> bool:
        return super().is_possible(run) and is_incremental(run)

    def draw(self, run: Run) -> tuple[str, ...] | None:
        if run.random.random() < 0.5:
            return ("literals" if run.random.random() < 0.7 else "values",)
        constants = [
            c
            for sort, pool in run.store.pools.items()
            for c in pool.constants
            if not sort.is_function and sort.name != "RegLan"
        ]
        if not constants:
            return None
        return ("terms", *map(str, constants[:2]))

    def act(self, run: Run, engine: Cvc5Engine, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 1)
        if not is_incremental(run):
            raise Unsupported("a second check, without incremental solving")
        mode = read_name(args[0])
        terms = handles(read_closed(run, args[1:]))
        if mode not in _MODES and not terms:
            raise Unsupported(f"no way to block a model: {mode}")
        solver = engine.session.solver
        run.changed()
        solver.push(1)
        before: list[Any] = []
        for _ in range(_MOST_MODELS):
            if answer(solver.checkSat()) is not Answer.SAT:
                break
            if terms:
                values = solver.getValue(terms)
                if values in before:
                    raise Misbehaviour("model", f"the blocked values {values!s:.200} come again")
                before.append(values)
                solver.blockModelValues(terms)
            else:
                solver.blockModel(_MODES[mode])
        solver.pop(1)
        return ()


MODELS = (InspectModel(), BlockModel())
