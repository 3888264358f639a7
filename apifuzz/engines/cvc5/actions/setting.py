"""What is set or declared once: options for other actions, plugins, pools, the heap of separation logic."""

from __future__ import annotations

from typing import Any, cast

import cvc5

from apifuzz.actions.reading import read_closed, read_name, require_count
from apifuzz.engines.cvc5.actions.base import Cvc5Action
from apifuzz.engines.cvc5.engine import Cvc5Engine
from apifuzz.engines.cvc5.reading import declared_function
from apifuzz.engines.cvc5.session import Pool
from apifuzz.interface import Answer, Misbehaviour, Unsupported, expect
from apifuzz.run import Run
from apifuzz.sort_drawing import draw_made
from apifuzz.trace import TraceError, quote_name

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


class SwitchOn(Cvc5Action):
    """Draws a ``set-option`` of what another action needs."""

    name = "cvc5:switch-on"

    def is_possible(self, run: Run) -> bool:
        return run.settings.options and run.is_empty

    def draw(self, run: Run) -> tuple[str, ...] | None:
        available = {option.name for option in run.available_options}
        switches = [s for s in _SWITCHES if s[0] in available]
        if "SeparationLogic" in run.scope.theories:
            switches = [("incremental", "false")]
        name, value = switches[int(run.random.random() * len(switches))]
        if name not in run.options:
            run.call("set-option", (quote_name(name), value))
        return None

    def act(self, run: Run, engine: Cvc5Engine, args: tuple[str, ...]) -> tuple[str, ...]:
        raise TraceError("written as set-option")


class TakeStrings(Cvc5Action):
    """Draws ``set-option strings-exp true``, without which most operators on strings and sequences are
    refused when it comes to solving.
    """

    name = "cvc5:take-strings"

    def is_possible(self, run: Run) -> bool:
        if run.scope.theories.isdisjoint(("UnicodeStrings", "Sequences")):
            return False
        return run.is_empty and "strings-exp" not in run.options

    def draw(self, run: Run) -> tuple[str, ...] | None:
        run.call("set-option", ("strings-exp", "true"))
        return None

    def act(self, run: Run, engine: Cvc5Engine, args: tuple[str, ...]) -> tuple[str, ...]:
        raise TraceError("written as set-option")


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
            raise Misbehaviour("sort", f"the plugin is told of {formula!s:.200}, no formula")


class AddPlugin(Cvc5Action):
    """``cvc5:add-plugin``: one that listens; before anything is made."""

    name = "cvc5:add-plugin"

    def is_possible(self, run: Run) -> bool:
        return run.is_empty

    def act(self, run: Run, engine: Cvc5Engine, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 0, 0)
        session = engine.session
        session.plugins.append(_Listener(session.manager))
        session.solver.addPlugin(session.plugins[-1])
        return ()


class DeclareHeap(Cvc5Action):
    """``cvc5:declare-heap LOCATION DATA``: the sorts of the heap, once."""

    name = "cvc5:declare-heap"
    needs = (("incremental", "false"),)

    def is_possible(self, run: Run) -> bool:
        if "SeparationLogic" not in run.scope.theories or not run.logic or not super().is_possible(run):
            return False
        return cast(Cvc5Engine, run.engine.core).session.heap is None

    def draw(self, run: Run) -> tuple[str, ...] | None:
        location, data = draw_made(run), draw_made(run)
        if location is None or data is None or "RegLan" in (location.name, data.name):
            return None
        return str(run.store.sorts[location]), str(run.store.sorts[data])

    def act(self, run: Run, engine: Cvc5Engine, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 2, 2)
        location, data = (run.store.sort(token) for token in args)
        session = engine.session
        if session.heap is not None:
            raise Unsupported("the heap is declared already")
        if not session.logic:
            raise Unsupported("a heap wants a logic that was set")
        session.solver.declareSepHeap(location.handle, data.handle)
        session.heap = (location, data)
        return ()


class GetHeap(Cvc5Action):
    """``cvc5:get-heap``: the heap of the model, and its nil."""

    name = "cvc5:get-heap"
    needs = (("produce-models", "true"), ("incremental", "false"))
    after = (Answer.SAT,)

    def act(self, run: Run, engine: Cvc5Engine, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 0, 0)
        session = engine.session
        if session.heap is None:
            raise Unsupported("no heap is declared")
        # An equation between nil and its value.
        nil = session.solver.getValueSepNil()
        expect("sort", nil[0].getSort(), session.heap[0].handle, "the sort of the heap's nil")
        expect("sort", session.solver.getValueSepHeap().getSort().isBoolean(), True, "the heap is a formula")
        return ()


class DeclarePool(Cvc5Action):
    """``cvc5:declare-pool NAME SORT TERM...``: terms to instantiate quantifiers with."""

    name = "cvc5:declare-pool"

    def is_possible(self, run: Run) -> bool:
        return run.scope.quantifiers and run.answer is None

    def draw(self, run: Run) -> tuple[str, ...] | None:
        sort = draw_made(run)
        pool = run.store.pools.get(sort) if sort is not None else None
        if sort is None or pool is None or not pool.closed or sort.name in ("RegLan", "->"):
            return None
        return quote_name(run.fresh_name("pool")), str(run.store.sorts[sort]), *map(str, pool.closed[-2:])

    def act(self, run: Run, engine: Cvc5Engine, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 2)
        name, sort = read_name(args[0]), run.store.sort(args[1])
        terms = read_closed(run, args[2:])
        if any(term.sort.sort is not sort.sort for term in terms):
            raise TraceError(f"a term of the pool is not of sort {sort.sort}")
        if run.answer is not None:
            raise Unsupported("a pool while the last answer may be asked about")
        run.store.take_name(name)
        made = engine.session.solver.declarePool(name, sort.handle, [t.handle for t in terms])
        engine.session.pools.append(Pool(made, sort.handle))
        engine.session.declarations.append(declared_function(name, (), made.getSort()))
        return ()


SETTING = (SwitchOn(), TakeStrings(), AddPlugin(), DeclareHeap(), GetHeap(), DeclarePool())
