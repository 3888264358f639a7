"""What is set or declared once: options for other actions, plugins, pools, the heap of separation logic."""

from __future__ import annotations

from typing import Any, Self

import cvc5

from apifuzz.actions import Need, Own, Unwritten, option
from apifuzz.actions.life import SetOption
from apifuzz.call import ClosedTerms, Name, SortArg
from apifuzz.engines.cvc5.actions.base import Cvc5Action, core_of, handles, is_plain
from apifuzz.engines.cvc5.engine import Cvc5Engine
from apifuzz.engines.cvc5.reading import declared_function
from apifuzz.engines.profile import profile
from apifuzz.interface import Answer, Unsupported, expect, must
from apifuzz.run import Run
from apifuzz.trace import TraceError


class SwitchOn(Own, Unwritten):
    """Draws a ``set-option`` of what another action needs."""

    solver = "cvc5"
    places = (("options", 0.6),)
    likely = SetOption.likely

    @classmethod
    def draw(cls, run: Run) -> None:
        available = {option.name for option in run.available_options}
        words = [word.split("=") for word in profile("cvc5").list_of("switches")]
        switches = [(name, value) for name, value in words if name in available]
        if "SeparationLogic" in run.scope.theories:
            switches = [("incremental", "false")]
        name, value = run.random.pick(switches)
        if name not in run.options:
            run.make(SetOption(name, value))


class TakeStrings(Own, Unwritten):
    """Draws ``set-option strings-exp true``, without which cvc5 refuses to solve most operators on strings
    and sequences.
    """

    solver = "cvc5"
    places = (("logic", 100),)
    likely = (
        lambda run: not run.scope.theories.isdisjoint(("UnicodeStrings", "Sequences")),
        lambda run: run.is_empty and "strings-exp" not in run.options,
    )

    @classmethod
    def draw(cls, run: Run) -> None:
        run.make(SetOption("strings-exp", "true"))


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
        is_formula = formula.getSort().isBoolean()
        must("sort", is_formula, f"the plugin is notified of {formula!s:.200}, no formula")


class AddPlugin(Cvc5Action):
    """``cvc5:add-plugin``: one that listens; before anything is made."""

    places = (("options", 0.05),)
    likely = (lambda run: run.is_empty,)

    def act(self, run: Run, core: Cvc5Engine) -> None:
        session = core.session
        session.plugins.append(_Listener(session.manager))
        session.solver.addPlugin(session.plugins[-1])


class DeclareHeap(Cvc5Action):
    """``cvc5:declare-heap LOCATION DATA``: the sorts of the heap, once."""

    places = (("sorts", 0.5),)
    needs = (option("incremental=false"),)
    likely = (
        lambda run: "SeparationLogic" in run.scope.theories and bool(run.logic),
        lambda run: core_of(run).session.heap is None,
    )
    location: SortArg
    data: SortArg

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        drawn = super().draw(run)
        return drawn if drawn is not None and all(is_plain(sort.sort) for sort in drawn) else None

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
    needs = (option("produce-models=true"), option("incremental=false"))
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
    needs = (Need(lambda run: run.stack.answer is None, "a pool while the last answer may be asked about"),)
    likely = (lambda run: run.scope.quantifiers,)
    symbol: Name
    sort: SortArg
    terms: ClosedTerms

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        sort = run.random.pick_if_any([s for s in run.store.populated if is_plain(s)])
        pool = run.store.pools[sort].closed if sort is not None else []
        if sort is None or not pool:
            return None
        return cls(run.fresh_name("pool"), run.store.sorts[sort], tuple(pool[-2:]))

    def act(self, run: Run, core: Cvc5Engine) -> None:
        name, sort, session = self.symbol, self.sort, core.session
        if any(term.sort.sort is not sort.sort for term in self.terms):
            raise TraceError(f"a term of the pool is not of sort {sort.sort}")
        run.store.take_name(name)
        made = session.solver.declarePool(name, sort.handle, handles(self.terms))
        session.pools.append((made, sort.handle))
        session.declarations.append(declared_function(name, (), made.getSort()))
