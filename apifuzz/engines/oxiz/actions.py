"""Actions that only oxiz has: their names begin with ``oxiz:``."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import oxiz

from apifuzz.actions import Own, actions_in
from apifuzz.call import Closed, Drawn, one_of
from apifuzz.calls import Assert, CheckSat, Delete, MakeSort, MakeTerm, MakeValue
from apifuzz.engine import Engine
from apifuzz.engines.crosscheck import CrossCheck, Pair, on_side
from apifuzz.engines.oxiz.engine import OxizEngine, in_smtlib
from apifuzz.engines.oxiz.session import QUESTIONS
from apifuzz.interface import Answer, ApiSort, ApiTerm, Head, HeadKind, TermKind, Unsupported, must
from apifuzz.run import Run
from smtlib import BOOL

_NUMBERS = ("Int", "Real")
_FAR = "1000000"
"""Beyond this an objective without a bound has values, too."""


class _OfOxiz(Own):
    """An action of oxiz."""

    solver = "oxiz"


class _Asking:
    """A run seen by an action: formulas made with all solvers of the run, and further instances of these."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.bool_ = ApiSort(0, BOOL, run.engine.perform(MakeSort(BOOL)))

    def value(self, like: ApiTerm, text: str) -> ApiTerm:
        """The value that ``text`` writes, of the sort of a term."""
        handle = self.run.engine.perform(MakeValue(like.sort, text))
        return ApiTerm(0, like.sort, handle, TermKind.VALUE)

    def atom(self, name: str, *terms: ApiTerm) -> ApiTerm:
        """A formula: an operator applied."""
        handle = self.run.engine.perform(MakeTerm(self.bool_, Head(HeadKind.OPERATOR, name), terms))
        return ApiTerm(0, self.bool_, handle, TermKind.TERM)

    def answers(self, *formulas: ApiTerm) -> Iterator[tuple[str, Answer]]:
        """What a further instance of each solver says to the assertions with these formulas, by its name."""
        other = self.run.engine.sibling()
        engines: list[Engine] = [other.first, other.second] if isinstance(other, CrossCheck) else [other]
        for side, engine in enumerate(engines):
            paired = len(engines) > 1
            try:
                for formula in (*self.run.stack.terms, *formulas):
                    call = Assert(formula)
                    engine.perform(on_side(call, side) if paired else call)
                yield engine.name, engine.perform(CheckSat())
            finally:
                engine.perform(Delete())

    def none(self, wrong: Answer, formulas: Sequence[ApiTerm], what: str) -> None:
        """No solver answers this to the assertions with these formulas."""
        for name, answer in self.answers(*formulas):
            must("optimum", answer is not wrong, f"{name} answers {wrong} to {what}")


def _own(term: ApiTerm) -> Any:
    """oxiz's handle of a term of the run."""
    return term.handle.handles[0] if isinstance(term.handle, Pair) else term.handle


class Model(_OfOxiz):
    """``oxiz:model``: no solver refutes the assertions with the values that the model lists."""

    places = (("sat", 3),)
    after = (Answer.SAT,)

    def act(self, run: Run, core: OxizEngine) -> None:
        values = dict(core.model())
        names = {handle.id: name for name, (handle, _) in core.session.constants.items()}
        asking, equations = _Asking(run), []
        for pool in run.store.pools.values():
            for constant in pool.constants:
                own = _own(constant)
                name = None if isinstance(own, str) else names.get(own.id)
                if name in values:
                    equations.append(asking.atom("=", constant, asking.value(constant, values[name])))
        for name, answer in asking.answers(*equations):
            must("model", answer is not Answer.UNSAT, f"{name} answers unsat to the model of oxiz")


class Counts(_OfOxiz):
    """``oxiz:counts``: the numbers of assertions and of levels."""

    places = (("assert", 0.3), ("levels", 0.5))

    def act(self, run: Run, core: OxizEngine) -> None:
        stack = core.stack
        words = {"solver": core.solver, "asserted": len(stack.terms), "levels": len(stack.levels) - 1}
        QUESTIONS.ask("value", "the solver", core.session.words((), (), words), "solver")


def _draw_number(run: Run) -> ApiTerm | None:
    """A closed number."""
    sort = run.random.pick_if_any([s for s in run.store.populated if s.name in _NUMBERS])
    return run.random.pick_if_any(run.store.pools[sort].closed) if sort is not None else None


class Optimise(_OfOxiz):
    """``oxiz:optimise DIRECTION TERM``: the least or greatest value that the assertions leave a number."""

    places = (("terms", 0.6), ("check", 0.6))
    direction: Annotated[str, one_of("minimize", "maximize")]
    objective: Annotated[Closed, Drawn(_draw_number)]

    def act(self, run: Run, core: OxizEngine) -> None:
        term = self.objective
        if term.sort.sort.name not in _NUMBERS:
            raise Unsupported("optimising what is no number")
        answer, value = self._ask(run, core)
        asking, better = _Asking(run), "<" if self.direction == "minimize" else ">"
        match answer:
            case "unsat":
                asking.none(Answer.SAT, (), "what an Optimizer calls unsat")
            case "unbounded":
                far = f"(- {_FAR})" if better == "<" else _FAR
                beyond = asking.atom(better, term, asking.value(term, far))
                asking.none(Answer.UNSAT, (beyond,), "a far value of an objective without bound")
            case "optimal" if value is not None:
                best = asking.value(term, value)
                asking.none(Answer.UNSAT, (asking.atom("=", term, best),), f"the optimum {value}")
                beyond = asking.atom(better, term, best)
                asking.none(Answer.SAT, (beyond,), f"a value better than the optimum {value}")

    def _ask(self, run: Run, core: OxizEngine) -> tuple[str, str | None]:
        """The answer, and the value of the objective where the model lists it."""
        manager, objective = core.session.manager, _own(self.objective)
        optimizer = oxiz.Optimizer()
        if run.logic and core.random.random() < 0.5:
            optimizer.set_logic(run.logic)
        for formula in run.stack.terms:
            optimizer.assert_term(_own(formula))
        name, sort = f"objective{objective.id}", self.objective.sort.sort
        constant = manager.mk_var(name, core.session.sort(sort, core.random))
        optimizer.assert_term(manager.mk_eq(constant, objective))
        if self.direction == "minimize":
            optimizer.minimize(constant)
        else:
            optimizer.maximize(constant)
        result = optimizer.optimize(manager)
        answer = str(result)
        words = core.session.words((), (), {"result": result, "answer": answer})
        QUESTIONS.ask("value", f"the optimum {answer}", words, "optimum")
        values = optimizer.get_model(manager)
        return answer, in_smtlib(sort, values[name]) if answer == "optimal" and name in values else None


class OptimiserLevels(_OfOxiz):
    """``oxiz:optimiser-levels``: what is asserted on a level of an optimizer goes with it."""

    places = (("check", 0.05),)

    def act(self, run: Run, core: OxizEngine) -> None:
        manager, optimizer = core.session.manager, oxiz.Optimizer()
        for formula in run.stack.terms:
            optimizer.assert_term(_own(formula))
        optimizer.push()
        optimizer.assert_term(manager.mk_bool(False))
        optimizer.pop()
        optimizer.minimize(manager.mk_int(0))
        if str(optimizer.optimize(manager)) == "unsat":
            _Asking(run).none(Answer.SAT, (), "what is unsat after a level was closed")


ACTIONS = actions_in(sys.modules[__name__])
