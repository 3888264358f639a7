"""cvc5 behind the interface."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import cvc5
from cvc5 import Kind, RoundingMode, SortKind

from apifuzz.call import Call
from apifuzz.datatypes import as_datatypes
from apifuzz.engines.cvc5.calls import MEMBERS, OPERATORS, QUESTIONS, VALUES, kind_of, make
from apifuzz.engines.cvc5.options import check_conflicts, describe_options
from apifuzz.engines.cvc5.reading import Reader
from apifuzz.engines.cvc5.session import (
    Definition,
    Session,
    answer,
    define_recursive,
    solves_fields,
)
from apifuzz.engines.cvc5.sorts import Sorts, lacks_format
from apifuzz.engines.cvc5.terms import BINDERS, Terms, pattern_in
from apifuzz.engines.profile import profile
from apifuzz.engines.rows import Words, read_calls
from apifuzz.engines.tabled import TableEngine
from apifuzz.engines.walking import walk
from apifuzz.interface import Capabilities, Option, Unsupported, expect
from apifuzz.scope import FOR_WITNESSES
from apifuzz.values import read_value
from smtlib import Signature, Sort, print_datatypes, quote_symbol

_EXPERT, _RANGES, _USES = map(profile("cvc5").list_of, ("expert", "ranges", "uses"))

_SWITCHED = {"arrays-exp": ("const", "eqrange"), "sets-exp": ("set.complement", "set.universe")}
"""Operators that an option for experts switches on."""

_NO_REGULAR_EXPRESSIONS = frozenset(("RegLan",))
_NO_FUNCTIONS = frozenset(("RegLan", "->"))


class Cvc5Engine(TableEngine):
    """cvc5 through its Python module."""

    name = "cvc5"
    plan = "apifuzz.engines.cvc5.actions"
    calls = read_calls(Path(__file__).with_name("calls.toml"))
    questions = QUESTIONS
    parts = ("sorts", "terms")
    exceptions = (RuntimeError,)

    def __init__(self) -> None:
        super().__init__()
        self._session: Session | None = None
        self._reader: Reader | None = None

    def translate(self, error: BaseException, call: Call[Any]) -> BaseException:
        # cvc5 says of most of its exceptions that objects may be unsafe afterwards, but its Python interface
        # does not tell of which: all are plain RuntimeErrors. Only those that the profile marks so are taken
        # to have changed nothing. A subclass (RecursionError) is Python's own.
        return profile(self.name).translate(str(error)) if type(error) is RuntimeError else error

    # What it is

    @property
    def version(self) -> str:
        said = cvc5.Solver(cvc5.TermManager()).getVersion()
        return said.decode() if isinstance(said, bytes) else str(said)

    def capabilities(self) -> Capabilities:
        known = super().capabilities()
        theories = known.theories | {"FiniteFields"} if solves_fields() else known.theories
        binders = {"forall": True, "exists": True, "lambda": self._is_higher_order}
        binders["set.comprehension"] = self._is_on("sets-exp")
        plain = _NO_FUNCTIONS if not self._is_higher_order else _NO_REGULAR_EXPRESSIONS
        return replace(
            known,
            theories=theories,
            without=frozenset(n for o, names in _SWITCHED.items() if not self._is_on(o) for n in names),
            sorts_without=dict.fromkeys(_USES, plain),
            binders=tuple(name for name, has in binders.items() if has),
        )

    @property
    def _is_higher_order(self) -> bool:
        return self._session is not None and self._session.is_higher_order

    def _is_on(self, option: str) -> bool:
        return self._session is not None and self._session.is_on(option)

    def options(self) -> tuple[Option, ...]:
        return describe_options()

    def takes(self, signature: Signature, sorts: tuple[Sort, ...], result: Sort) -> bool:
        session = self._session
        if signature.name == "ite" and result.name == "RegLan":
            return False
        if signature.name in ("=", "distinct") and sorts[0].name == "RegLan":
            return False
        if any(arg.name == "RegLan" for sort in (*sorts, result) for arg in sort.args):
            return False
        if signature.name == "eqrange" and sorts[2].name not in _RANGES:
            return False
        if any(sort.is_function for sort in (*sorts, result)) and not self._is_higher_order:
            return False
        if signature.theory == "SeparationLogic":
            return session is not None and self._has_heap(session, signature, sorts, result)
        return session is None or not any(lacks_format(session, sort) for sort in (*sorts, result))

    @staticmethod
    def _has_heap(session: Session, signature: Signature, sorts: tuple[Sort, ...], result: Sort) -> bool:
        """Whether the heap is declared and of these sorts. With incremental solving cvc5 has none."""
        if session.heap is None or session.options.get("incremental") != "false":
            return False
        location, data = (sort.sort for sort in session.heap)
        if signature.name == "pto":
            return sorts == (location, data)
        return signature.name != "sep.nil" or result is location

    # Life

    @property
    def session(self) -> Session:
        """What the run holds of cvc5; only between ``new`` and ``delete``."""
        assert self._session is not None, "no instance"
        return self._session

    def new(self) -> None:
        self._begin(Session(self.random))
        self.session.start()
        self.sorts = Sorts(self.session)
        self.terms = Terms(self.session, self.sorts)

    def _begin(self, session: Session) -> None:
        self._session = session
        self._reader = None

    def delete(self) -> None:
        self._session = None
        self._reader = None
        del self.sorts, self.terms

    def sibling(self) -> Cvc5Engine:
        other = Cvc5Engine()
        other.random.seed(self.random.getrandbits(32))
        own = self.session
        session = Session(other.random, own.manager, definitions=own.definitions)
        session.start()
        other._begin(session)
        other.sorts = copy(self.sorts)
        other.sorts.session = session
        other.terms = Terms(session, other.sorts)
        for name in FOR_WITNESSES:
            session.solver.setOption(name, "true")
        for name in _EXPERT:
            if own.is_on(name):
                other.set_option(name, "true")
        if own.logic:
            session.solver.setLogic(own.logic)
            session.logic = own.logic
        if own.heap is not None:
            other.set_option("incremental", "false")
            session.solver.declareSepHeap(*[sort.handle for sort in own.heap])
            session.heap = own.heap
        return other

    def set_logic(self, logic: str) -> None:
        self.session.solver.setLogic(logic)
        self.session.logic = logic

    def set_option(self, name: str, value: str) -> None:
        """Set an option that goes with those that are set."""
        check_conflicts(self.session.options, self.session.logic, name, value)
        self.session.solver.setOption(name, value)
        self.session.options[name] = value

    def reader(self) -> Reader:
        """A parser that knows what was declared."""
        if self._reader is None:
            self._reader = Reader(self.session.manager)
        self._reader.declare(self.session.declarations)
        return self._reader


Cvc5Engine.words = {
    **{word.__name__: word for word in (define_recursive, Definition, quote_symbol)},
    **{word.__name__: word for word in (Words, as_datatypes, print_datatypes, pattern_in, walk)},
    **{"BINDERS": BINDERS, "Kind": Kind, "QUESTIONS": QUESTIONS, "Unsupported": Unsupported},
    **{"answer": answer, "MEMBERS": MEMBERS, "kind_of": kind_of, "expect": expect},
    **{"rounding_modes": RoundingMode, "sign": lambda number: (number > 0) - (number < 0)},
    **{kind.name: kind for kind in SortKind},
    **{word.__name__: word for word in (cvc5.InputLanguage, cvc5.InputParser, cvc5.SymbolManager)},
    **{"VALUES": VALUES, "OPERATORS": OPERATORS, "make": make, "read_value": read_value},
    "values": tuple(name for name in QUESTIONS if name.startswith("is")),
}
