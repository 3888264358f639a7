"""What is set or declared once: options for other actions, plugins, pools, the heap of separation logic."""

from __future__ import annotations

from typing import Any, Self

import cvc5

from apifuzz.actions.options import SetOption
from apifuzz.call import ClosedTerms, Name, SortArg
from apifuzz.engines.cvc5.actions.base import Cvc5Action, core_of, handles
from apifuzz.engines.cvc5.engine import Cvc5Engine
from apifuzz.engines.cvc5.reading import declared_function
from apifuzz.engines.cvc5.session import Pool
from apifuzz.interface import Answer, Misbehaviour, Unsupported, expect
from apifuzz.run import Run
from apifuzz.sort_drawing import draw_made
from apifuzz.trace import TraceError

_SWITCHES = (
    ("produce-proofs", "true"),
    ("produce-difficulty", "true"),
    ("produce-learned-literals", "true"),
    ("produce-interpolants", "true"),
    ("produce-abducts", "true"),
    ("finite-model-find", "true"),
    ("model-cores", "simple"),
    ("unsat-cores-mode", "sat-proof"),
)
"""What the other actions need, drawn more often than one option of many would be."""


class _Sets(Cvc5Action):
    """Draws ``set-option``, as which it is written."""

    def require(self, run: Run) -> None:
        raise TraceError("written as set-option")


class SwitchOn(_Sets):
    """Draws a ``set-option`` of what another action needs."""

    places = (("options", 0.6),)

    @classmethod
    def is_possible(cls, run: Run) -> bool:
        return run.settings.options and run.is_empty

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        available = {option.name for option in run.available_options}
        switches = [s for s in _SWITCHES if s[0] in available]
        if "SeparationLogic" in run.scope.theories:
            switches = [("incremental", "false")]
        name, value = switches[int(run.random.random() * len(switches))]
        if name not in run.options:
            run.make(SetOption(name, value))
        return None


class TakeStrings(_Sets):
    """Draws ``set-option strings-exp true``, without which most operators on strings and sequences are
    refused when it comes to solving.
    """

    places = (("logic", 100),)

    @classmethod
    def is_possible(cls, run: Run) -> bool:
        if run.scope.theories.isdisjoint(("UnicodeStrings", "Sequences")):
            return False
        return run.is_empty and "strings-exp" not in run.options

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        run.make(SetOption("strings-exp", "true"))
        return None


class _Listener(cvc5.Plugin):  # type: ignore[misc]
    """A plugin that looks at every clause and lemma, and adds none of its own."""

    def __init__(self, manager: Any) -> None:
        super().__init__(manager)
        self.seen = 0

    def check(self) -> list[Any]:
        return []

    def notifySatClause(self, cl: Any) -> None:
        self._look(cl)

    def notifyTheoryLemma(self, lem: Any) -> None:
        self._look(lem)

    def getName(self) -> str:
        return "listener"

    def _look(self, formula: Any) -> None:
        self.seen += 1
        if not formula.getSort().isBoolean():
            raise Misbehaviour("sort", f"the plugin is notified of {formula!s:.200}, no formula")


class AddPlugin(Cvc5Action):
    """``cvc5:add-plugin``: one that listens; before anything is made."""

    places = (("options", 0.05),)

    @classmethod
    def is_possible(cls, run: Run) -> bool:
        return run.is_empty

    def act(self, run: Run, core: Cvc5Engine) -> None:
        session = core.session
        session.plugins.append(_Listener(session.manager))
        session.solver.addPlugin(session.plugins[-1])


class DeclareHeap(Cvc5Action):
    """``cvc5:declare-heap LOCATION DATA``: the sorts of the heap, once."""

    places = (("sorts", 0.5),)
    needs = ("incremental=false",)
    location: SortArg
    data: SortArg

    @classmethod
    def is_possible(cls, run: Run) -> bool:
        if "SeparationLogic" not in run.scope.theories or not run.logic or not super().is_possible(run):
            return False
        return core_of(run).session.heap is None

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        location, data = draw_made(run), draw_made(run)
        if location is None or data is None or "RegLan" in (location.name, data.name):
            return None
        return cls(run.store.sorts[location], run.store.sorts[data])

    def act(self, run: Run, core: Cvc5Engine) -> None:
        session = core.session
        if session.heap is not None:
            raise Unsupported("the heap is declared already")
        if not session.logic:
            raise Unsupported("a heap needs a logic that was set")
        session.solver.declareSepHeap(self.location.handle, self.data.handle)
        session.heap = (self.location, self.data)


class GetHeap(Cvc5Action):
    """``cvc5:get-heap``: the heap of the model, and its nil."""

    places = (("sat", 0.7),)
    needs = ("produce-models=true", "incremental=false")
    after = (Answer.SAT,)

    def act(self, run: Run, core: Cvc5Engine) -> None:
        session = core.session
        if session.heap is None:
            raise Unsupported("no heap is declared")
        # An equation between nil and its value.
        nil = session.solver.getValueSepNil()
        expect("sort", nil[0].getSort(), session.heap[0].handle, "the sort of the heap's nil")
        expect("sort", session.solver.getValueSepHeap().getSort().isBoolean(), True, "the heap is a formula")


class DeclarePool(Cvc5Action):
    """``cvc5:declare-pool NAME SORT TERM...``: terms to instantiate quantifiers with."""

    places = (("terms", 0.3),)
    symbol: Name
    sort: SortArg
    terms: ClosedTerms

    @classmethod
    def is_possible(cls, run: Run) -> bool:
        return run.scope.quantifiers and run.answer is None

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        sort = draw_made(run)
        pool = run.store.pools.get(sort) if sort is not None else None
        if sort is None or pool is None or not pool.closed or sort.name in ("RegLan", "->"):
            return None
        return cls(run.fresh_name("pool"), run.store.sorts[sort], tuple(pool.closed[-2:]))

    def act(self, run: Run, core: Cvc5Engine) -> None:
        name, sort, session = self.symbol, self.sort, core.session
        if any(term.sort.sort is not sort.sort for term in self.terms):
            raise TraceError(f"a term of the pool is not of sort {sort.sort}")
        if run.answer is not None:
            raise Unsupported("a pool while the last answer may be asked about")
        run.store.take_name(name)
        made = session.solver.declarePool(name, sort.handle, handles(self.terms))
        session.pools.append(Pool(made, sort.handle))
        session.declarations.append(declared_function(name, (), made.getSort()))
