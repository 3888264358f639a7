"""The engine of z3: its Python module and the calls beneath it, in a context per run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import z3
from z3 import z3core

from apifuzz.engines.z3.binders import Binders
from apifuzz.engines.z3.inspection import Inspection
from apifuzz.engines.z3.options import (
    PRODUCE_MODELS,
    PRODUCE_UNSAT_CORES,
    is_of_context,
    read_value,
    solver_options,
)
from apifuzz.engines.z3.session import Session, keep_spare, translated
from apifuzz.engines.z3.solving import (
    KINDS,
    LITERALS,
    PLAIN,
    RECURSIVE_LOGICS,
    TRACKED,
    Solving,
    known_logics,
    knows_logic,
)
from apifuzz.engines.z3.sorts import MIN_SIGNIFICAND, Sorts
from apifuzz.engines.z3.terms import Terms
from apifuzz.engines.z3.values import Values
from apifuzz.interface import (
    Answer,
    ApiSort,
    ApiTerm,
    Capabilities,
    DatatypeSpec,
    Engine,
    Feature,
    Head,
    Misbehaviour,
    Option,
    Unsupported,
)
from smtlib import Signature, Sort
from smtlib.sorts import subsorts

_BROKEN = frozenset(("fp.to_ubv_I", "fp.to_sbv_I", "fp.to_real_I", "fp.to_ieee_bv_I"))
"""Internal operators that z3's parser takes: a check ends in an exception or a wrong model (5.4)."""

_NOT_ALONE = frozenset(("/", "div", "re.++", "re.union", "re.inter", "re.diff", "xor", "distinct"))
"""Operators whose form with one argument z3's parser makes, and its calls hold to be a type error, or want
more arguments by their description: what ``distinct`` of nothing and ``xor`` of one argument become ends in
crashes of tactics and in unreachable code (5.4).
"""

_P = ParamSpec("_P")
_R = TypeVar("_R")

THEORIES = frozenset(
    (
        *("Core", "Ints", "Reals", "Reals_Ints", "FixedSizeBitVectors", "FloatingPoint", "UnicodeStrings"),
        *(
            "Sequences",
            "ArraysEx",
            "Sets",
            "FiniteFields",
            "FiniteSets",
            "Lists",
            "Z3Extras",
            "Transcendental",
        ),
    )
)


def _asking(
    method: Callable[Concatenate[Z3Engine, _P], _R],
) -> Callable[Concatenate[Z3Engine, _P], _R]:
    """z3's exceptions in a method become the interface's."""

    @wraps(method)
    def ask(self: Z3Engine, /, *args: _P.args, **keywords: _P.kwargs) -> _R:
        with translated():
            return method(self, *args, **keywords)

    return ask


class Z3Engine(Engine):
    """z3 behind the interface."""

    name = "z3"
    plan = "apifuzz.engines.z3.actions"

    def __init__(self) -> None:
        super().__init__()
        self._config: dict[str, str] = {}
        self._attach(Session(self, self._config), PLAIN)

    def _attach(self, session: Session, tracking: str) -> None:
        """Work in a session from now on, with a solver of its own."""
        self.session = session
        self.sorts = Sorts(session)
        self.terms = Terms(session, self.sorts)
        self._values = Values(session)
        self._binders = Binders(session)
        self._inspection = Inspection(session)
        self.solving = Solving(session, "solver", tracking)

    # What it is

    @property
    def version(self) -> str:
        return str(z3.get_version_string())

    def capabilities(self) -> Capabilities:
        return Capabilities(
            theories=THEORIES,
            features=frozenset(Feature),
            without=_BROKEN,
            binders=("forall", "exists", "lambda"),
            value_arguments={"re.range": (0, 1), "^": (1,)},
        )

    def options(self) -> tuple[Option, ...]:
        # Together with these, once, before runs are forked.
        known_logics()
        keep_spare()
        return solver_options()

    def takes(self, signature: Signature, sorts: tuple[Sort, ...], result: Sort) -> bool:
        if len(sorts) <= 1 and signature.name in _NOT_ALONE:
            return False
        every = [part for sort in (*sorts, result) for part in subsorts(sort)]
        return all(s.name != "FloatingPoint" or s.indices[1] >= MIN_SIGNIFICAND for s in every)

    # Life

    @_asking
    def new(self) -> None:
        self._config = {}
        self._attach(Session(self, self._config), PLAIN)
        self.solving.kind = self.session.one_of(KINDS)

    @_asking
    def delete(self) -> None:
        self._attach(Session(self, {}), PLAIN)

    @_asking
    def sibling(self) -> Engine:
        other = Z3Engine()
        other.random = self.random
        # Sorts and terms are those of the first: its session, its tables, a solver of its own.
        other.session, other.sorts, other.terms = self.session, self.sorts, self.terms
        other._values, other._binders, other._inspection = self._values, self._binders, self._inspection
        other.solving = Solving(self.session, "solver", TRACKED)
        return other

    @_asking
    def set_logic(self, logic: str) -> None:
        if not knows_logic(logic):
            raise Unsupported(f"z3 has no logic {logic}")
        self.solving.logic = logic

    @_asking
    def set_option(self, name: str, value: str) -> None:
        read = read_value(name, value)
        if name == PRODUCE_MODELS:
            self.solving.set_parameter("model", read)
        elif name == PRODUCE_UNSAT_CORES:
            self.solving.tracking = self.session.one_of((TRACKED, LITERALS)) if read else PLAIN
        elif is_of_context(name):
            self._config[name] = value
            if self.session.is_made:
                z3core.Z3_update_param_value(self.session.ref, name, value)
        else:
            self.solving.set_parameter(name, read)

    # Sorts

    @_asking
    def make_sort(self, sort: Sort, args: Sequence[ApiSort]) -> Any:
        return self.sorts.make(sort, args)

    @_asking
    def declare_sort(self, name: str, arity: int) -> Any:
        return self.sorts.declare(name, arity)

    @_asking
    def declare_datatypes(self, group: Sequence[DatatypeSpec]) -> list[Any]:
        return self.sorts.declare_datatypes(group)

    # Terms

    @_asking
    def make_value(self, sort: ApiSort, text: str) -> Any:
        return self.session.hold(self._values.make(sort, text))

    @_asking
    def make_constant(self, name: str, sort: ApiSort) -> Any:
        return self.session.hold(self.terms.constant(name, sort))

    @_asking
    def make_variable(self, name: str, sort: ApiSort) -> Any:
        return self.terms.variable(name, sort)

    @_asking
    def make_function(self, name: str, params: Sequence[ApiSort], result: ApiSort) -> Any:
        if result.sort.name == "FloatingPoint" and any(p.sort.name == "RoundingMode" for p in params):
            raise Unsupported("z3 crashes on functions from rounding modes to floats")
        return self.terms.function(name, params, result)

    @_asking
    def make_term(self, head: Head, sort: Sort, args: Sequence[ApiTerm]) -> Any:
        return self.session.hold(self.terms.make(head, sort, args))

    @_asking
    def make_binder(self, binder: str, variables: Sequence[ApiTerm], body: ApiTerm) -> Any:
        bound = [self.terms.of(v) for v in variables]
        return self.session.hold(self._binders.make(binder, bound, self.terms.of(body)))

    @_asking
    def define_function(
        self,
        name: str,
        variables: Sequence[ApiTerm],
        result: ApiSort,
        body: ApiTerm,
        recursive: ApiTerm | None,
    ) -> Any:
        if recursive is not None:
            if self.solving.logic not in RECURSIVE_LOGICS:
                raise Unsupported(f"z3 takes recursive functions for any functions in {self.solving.logic}")
            return self.terms.define_recursive(variables, body, recursive)
        return self.terms.define(name, variables, result, body)

    @_asking
    def sort_of(self, term: ApiTerm) -> Any:
        return self.terms.of(term).sort()

    @_asking
    def same_sort(self, handle: Any, sort: ApiSort) -> bool:
        return bool(handle.eq(self.sorts.of(sort.sort)))

    @_asking
    def inspect_sort(self, sort: ApiSort) -> None:
        self.sorts.inspect(sort)

    @_asking
    def inspect_term(self, term: ApiTerm) -> None:
        if isinstance(term.handle, z3.FuncDeclRef):
            self._inspection.inspect_function(term.handle)
        else:
            self._inspection.inspect(self.terms.of(term))

    @_asking
    def read_back(self, term: ApiTerm) -> None:
        self._inspection.read_back(self.terms.of(term))

    @_asking
    def simplify(self, term: ApiTerm) -> Any:
        return self.session.hold(self.terms.simplify(term))

    @_asking
    def substitute(self, term: ApiTerm, replaced: Sequence[ApiTerm], by: Sequence[ApiTerm]) -> Any:
        pairs = [(self.terms.of(old), self.terms.of(new)) for old, new in zip(replaced, by, strict=True)]
        return self.session.hold(self.terms.substitute(self.terms.of(term), pairs))

    # Solving

    @_asking
    def assert_formula(self, term: ApiTerm) -> None:
        self.solving.assert_formula(term, self.terms.of(term))

    @_asking
    def check_sat(self, assumptions: Sequence[ApiTerm] | None) -> Answer:
        return self.solving.check([(t, self.terms.of(t)) for t in assumptions or ()])

    @_asking
    def unsat_assumptions(self) -> list[ApiTerm]:
        return self.solving.unsat_assumptions()

    @_asking
    def unsat_core(self) -> list[ApiTerm]:
        return self.solving.unsat_core()

    @_asking
    def values(self, terms: Sequence[ApiTerm]) -> list[Any]:
        values = [self.solving.value(self.terms.of(t)) for t in terms]
        for term, value in zip(terms, values, strict=True):
            if not self.same_sort(value.sort(), term.sort):
                raise Misbehaviour("value", f"{term} has the value {value.sexpr()} of another sort")
        return values

    @_asking
    def equal(self, term: ApiTerm, value: Any) -> Any:
        return self.terms.equation(self.terms.of(term), value)

    @_asking
    def print_model(self) -> str:
        return self.solving.print_model()

    def push(self, levels: int) -> None:
        with translated(changing=True):
            self.solving.push(levels)

    def pop(self, levels: int) -> None:
        with translated(changing=True):
            self.solving.pop(levels)

    @_asking
    def reset(self) -> None:
        self.solving.discard()

    @_asking
    def reset_assertions(self) -> None:
        self.solving.clear()
