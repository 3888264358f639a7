"""cvc5 behind the interface."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cvc5 import Kind

from apifuzz.engines.cvc5.errors import translated
from apifuzz.engines.cvc5.inspection import inspect_sort, inspect_term, inspect_value
from apifuzz.engines.cvc5.options import check_conflicts, describe_options
from apifuzz.engines.cvc5.package import reset, solves_fields, version
from apifuzz.engines.cvc5.reading import Reader, declared_datatypes, declared_function, declared_sort
from apifuzz.engines.cvc5.session import Session
from apifuzz.engines.cvc5.solving import Solving, refuse_without_model
from apifuzz.engines.cvc5.sorts import Sorts, lacks_format
from apifuzz.engines.cvc5.terms import Terms
from apifuzz.engines.cvc5.values import make_value
from apifuzz.interface import (
    Answer,
    ApiSort,
    ApiTerm,
    Capabilities,
    DatatypeSpec,
    Engine,
    Feature,
    Head,
    Option,
    Unsupported,
)
from smtlib import Signature, Sort

_EXPERT = ("arrays-exp", "fp-exp", "sets-exp")
"""Options for experts that switch on operators and sorts: set first in every run of an expert engine."""

_THEORIES = frozenset(
    (
        "Core Ints Reals Reals_Ints FixedSizeBitVectors FloatingPoint UnicodeStrings ArraysEx Sequences Sets"
        " Bags Tuples Transcendental SeparationLogic"
    ).split()
)

_FEATURES = frozenset(Feature)

_RANGES = frozenset(("BitVec", "FloatingPoint", "Int", "Real"))
"""The sorts of indices that ``eqrange`` takes."""

_VALUE_ARGUMENTS = {"const": (0,), "re.range": (0, 1), "^": (1,), "rel.join_image": (1,)}
"""Where cvc5 wants values. ``rel.join_image`` takes other terms, too: then 1.4.2 reads a number that is not
there.
"""

_NO_REGULAR_EXPRESSIONS = frozenset(("RegLan",))
_NO_FUNCTIONS = frozenset(("RegLan", "->"))


class Cvc5Engine(Engine):
    """cvc5 through its Python module. With ``expert``, options that cvc5 calls so are drawn, too, and what
    they switch on.
    """

    name = "cvc5"
    plan = "apifuzz.engines.cvc5.actions"

    def __init__(self, expert: bool = False) -> None:
        super().__init__()
        self.expert = expert
        self._session: Session | None = None
        self._reader: Reader | None = None
        self.declarations: list[str] = []
        """The commands that declare what was declared, for reading back."""

    # What it is

    @property
    def version(self) -> str:
        return version()

    def capabilities(self) -> Capabilities:
        theories = _THEORIES | {"FiniteFields"} if solves_fields() else _THEORIES
        plain = _NO_FUNCTIONS if not self._is_higher_order else _NO_REGULAR_EXPRESSIONS
        return Capabilities(
            theories=theories,
            features=_FEATURES,
            without=self._without(),
            sorts_without={
                "quantifier": plain,
                "array-index": plain,
                "array-element": plain,
                "function": plain,
                "datatype": plain,
                "constant": plain,
                "equality": plain,
            },
            value_arguments=_VALUE_ARGUMENTS,
            required_options=tuple((name, "true") for name in _EXPERT) if self.expert else (),
            binders=self._binders(),
        )

    @property
    def _is_higher_order(self) -> bool:
        return self._session is not None and self._session.is_higher_order

    def _is_on(self, option: str) -> bool:
        return self._session is not None and self._session.is_on(option)

    def _without(self) -> frozenset[str]:
        lacking = set()
        if not self._is_on("arrays-exp"):
            lacking |= {"const", "eqrange"}
        if not self._is_on("sets-exp"):
            lacking |= {"set.complement", "set.universe"}
        return frozenset(lacking)

    def _binders(self) -> tuple[str, ...]:
        binders = ["forall", "exists"]
        if self._is_higher_order:
            binders.append("lambda")
        if self._is_on("sets-exp"):
            binders.append("set.comprehension")
        return tuple(binders)

    def options(self) -> tuple[Option, ...]:
        return describe_options(self.expert)

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
        self.solving = Solving(session)
        self._reader = None
        self.declarations = []

    def delete(self) -> None:
        self._session = None
        self._reader = None
        del self.solving, self.sorts, self.terms

    def sibling(self) -> Cvc5Engine:
        other = Cvc5Engine(self.expert)
        own = self.session
        session = Session(other.random, own.manager, definitions=own.definitions)
        session.start()
        other._begin(session)
        other.sorts = Sorts(session)
        other.sorts.handles = self.sorts.handles
        other.sorts.declared = self.sorts.declared
        other.sorts.specs = self.sorts.specs
        other.terms = Terms(session, other.sorts)
        for name in ("produce-models", "produce-unsat-cores", "produce-unsat-assumptions"):
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

    @translated()
    def set_logic(self, logic: str) -> None:
        self.session.solver.setLogic(logic)
        self.session.logic = logic

    @translated()
    def set_option(self, name: str, value: str) -> None:
        check_conflicts(self.session.options, self.session.logic, name, value)
        self.session.solver.setOption(name, value)
        self.session.options[name] = value

    # Sorts

    @translated()
    def make_sort(self, sort: Sort, args: Sequence[ApiSort]) -> Any:
        if any(arg.name == "RegLan" for arg in sort.args):
            raise Unsupported("regular expressions are in no other sort")
        if sort.name == "Array" and sort.args[0].name == "Array":
            raise Unsupported("arrays are no indices of arrays")
        if sort.is_function and not self._is_higher_order:
            raise Unsupported("functions as values without a logic for them")
        return self.sorts.make(sort, args)

    @translated()
    def declare_sort(self, name: str, arity: int) -> Any:
        handle = self.sorts.declare(name, arity)
        self.declarations.append(declared_sort(name, arity))
        return handle

    @translated()
    def declare_datatypes(self, group: Sequence[DatatypeSpec]) -> list[Any]:
        handles = self.sorts.declare_datatypes(group)
        self.declarations.append(declared_datatypes(group))
        return handles

    # Terms

    @translated()
    def make_value(self, sort: ApiSort, text: str) -> Any:
        return make_value(self.session, sort.sort, sort.handle, text)

    @translated()
    def make_constant(self, name: str, sort: ApiSort) -> Any:
        self.declarations.append(declared_function(name, (), sort.handle))
        return self.terms.constant(name, sort.handle)

    @translated()
    def make_variable(self, name: str, sort: ApiSort) -> Any:
        return self.terms.variable(name, sort.handle)

    @translated()
    def make_function(self, name: str, params: Sequence[ApiSort], result: ApiSort) -> Any:
        if any(sort.sort.name == "RegLan" for sort in (*params, result)):
            raise Unsupported("functions of regular expressions")
        handles = [param.handle for param in params]
        self.declarations.append(declared_function(name, handles, result.handle))
        return self.terms.function(name, handles, result.handle)

    @translated()
    def make_term(self, head: Head, sort: Sort, args: Sequence[ApiTerm]) -> Any:
        return self.terms.make(head, sort, args)

    @translated()
    def make_binder(self, binder: str, variables: Sequence[ApiTerm], body: ApiTerm) -> Any:
        return self.terms.binder(binder, [variable.handle for variable in variables], body)

    @translated()
    def define_function(
        self,
        name: str,
        variables: Sequence[ApiTerm],
        result: ApiSort,
        body: ApiTerm,
        recursive: ApiTerm | None,
    ) -> Any:
        handles = [variable.handle for variable in variables]
        if recursive is None:
            params = [variable.sort.handle for variable in variables]
            self.declarations.append(declared_function(name, params, result.handle))
            return self.terms.define(name, handles, result, body.handle, None)
        return self.terms.define(name, handles, result, body.handle, recursive.handle)

    @translated()
    def sort_of(self, term: ApiTerm) -> Any:
        return term.handle.getSort()

    def same_sort(self, handle: Any, sort: ApiSort) -> bool:
        return bool(handle == sort.handle)

    @translated()
    def inspect_sort(self, sort: ApiSort) -> None:
        inspect_sort(self.sorts, sort.sort, sort.handle)

    @translated()
    def inspect_term(self, term: ApiTerm) -> None:
        inspect_term(self.sorts, term)

    @translated()
    def read_back(self, term: ApiTerm) -> None:
        if self._reader is None:
            self._reader = Reader(self.session.manager)
        self._reader.declare(self.declarations)
        self._reader.compare(term.handle, str(term))

    @translated()
    def simplify(self, term: ApiTerm) -> Any:
        handle = self.session.expand(term.handle)
        if self.session.chance(0.5):
            return self.session.simplify(handle)
        return self.session.simplify(handle, False)

    @translated()
    def substitute(self, term: ApiTerm, replaced: Sequence[ApiTerm], by: Sequence[ApiTerm]) -> Any:
        old, new = [t.handle for t in replaced], [t.handle for t in by]
        if len(old) == 1 and self.session.chance(0.5):
            return term.handle.substitute(old[0], new[0])
        return term.handle.substitute(old, new)

    # Solving

    @translated()
    def assert_formula(self, term: ApiTerm) -> None:
        self.solving.assert_formula(term)

    @translated()
    def check_sat(self, assumptions: Sequence[ApiTerm] | None) -> Answer:
        return self.solving.check(assumptions)

    @translated()
    def unsat_assumptions(self) -> list[ApiTerm]:
        return self.solving.unsat_assumptions()

    @translated()
    def unsat_core(self) -> list[ApiTerm]:
        return self.solving.unsat_core()

    @translated()
    def values(self, terms: Sequence[ApiTerm]) -> list[Any]:
        values = self.solving.values(terms)
        for term, value in zip(terms, values, strict=True):
            inspect_value(value, f"the value of {term}")
        return values

    @translated()
    def equal(self, term: ApiTerm, value: Any) -> Any:
        refuse_without_model(value)
        return self.session.manager.mkTerm(Kind.EQUAL, term.handle, value)

    @translated()
    def print_model(self) -> str:
        sorts = [s for s in self.sorts.declared.values() if s.isUninterpretedSort()]
        model = self.session.solver.getModel(sorts, self.terms.constants)
        return model.decode() if isinstance(model, bytes) else str(model)

    @translated()
    def push(self, levels: int) -> None:
        self.solving.push(levels)

    @translated()
    def pop(self, levels: int) -> None:
        self.solving.pop(levels)

    @translated()
    def reset(self) -> None:
        session = self.session
        options, logic = session.options, session.logic
        if session.chance(0.5):
            session.start()
        else:
            reset(session.solver, session.manager)
            session.started()
        self.solving.clear()
        # What was set is set again: the run counts on it.
        for name, value in options.items():
            self.set_option(name, value)
        if logic:
            self.set_logic(logic)

    @translated()
    def reset_assertions(self) -> None:
        self.session.solver.resetAssertions()
        self.solving.clear()
