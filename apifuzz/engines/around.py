"""An engine around another one: all calls go through, and subclasses look at those that they care for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from apifuzz.interface import (
    Answer,
    ApiSort,
    ApiTerm,
    Capabilities,
    DatatypeSpec,
    Engine,
    Head,
    Option,
)
from smtlib import Signature, Sort


class Around(Engine):
    """Passes every call on to ``inner``; it has its name, its random source and whatever it has besides."""

    def __init__(self, inner: Engine) -> None:
        super().__init__()
        self.inner = inner
        self.name = inner.name
        self.answers = inner.answers
        self.plan = inner.plan
        # One source for both: what is seeded here is what the inner engine draws from.
        self.random = inner.random

    def __getattr__(self, name: str) -> Any:
        # What only this solver's engine has, for its own actions.
        if name == "inner":
            raise AttributeError(name)
        return getattr(self.inner, name)

    @property
    def version(self) -> str:
        return self.inner.version

    @property
    def families(self) -> tuple[str, ...]:
        return self.inner.families

    def capabilities(self) -> Capabilities:
        return self.inner.capabilities()

    def options(self) -> tuple[Option, ...]:
        return self.inner.options()

    def takes(self, signature: Signature, sorts: tuple[Sort, ...], result: Sort) -> bool:
        return self.inner.takes(signature, sorts, result)

    def new(self) -> None:
        self.inner.new()

    def delete(self) -> None:
        self.inner.delete()

    def sibling(self) -> Engine:
        return self.inner.sibling()

    def set_logic(self, logic: str) -> None:
        self.inner.set_logic(logic)

    def set_option(self, name: str, value: str) -> None:
        self.inner.set_option(name, value)

    def make_sort(self, sort: Sort, args: Sequence[ApiSort]) -> Any:
        return self.inner.make_sort(sort, args)

    def declare_sort(self, name: str, arity: int) -> Any:
        return self.inner.declare_sort(name, arity)

    def declare_datatypes(self, group: Sequence[DatatypeSpec]) -> list[Any]:
        return self.inner.declare_datatypes(group)

    def make_value(self, sort: ApiSort, text: str) -> Any:
        return self.inner.make_value(sort, text)

    def make_constant(self, name: str, sort: ApiSort) -> Any:
        return self.inner.make_constant(name, sort)

    def make_variable(self, name: str, sort: ApiSort) -> Any:
        return self.inner.make_variable(name, sort)

    def make_function(self, name: str, params: Sequence[ApiSort], result: ApiSort) -> Any:
        return self.inner.make_function(name, params, result)

    def make_term(self, head: Head, sort: Sort, args: Sequence[ApiTerm]) -> Any:
        return self.inner.make_term(head, sort, args)

    def make_binder(self, binder: str, variables: Sequence[ApiTerm], body: ApiTerm) -> Any:
        return self.inner.make_binder(binder, variables, body)

    def define_function(
        self,
        name: str,
        variables: Sequence[ApiTerm],
        result: ApiSort,
        body: ApiTerm,
        recursive: ApiTerm | None,
    ) -> Any:
        return self.inner.define_function(name, variables, result, body, recursive)

    def sort_of(self, term: ApiTerm) -> Any:
        return self.inner.sort_of(term)

    def same_sort(self, handle: Any, sort: ApiSort) -> bool:
        return self.inner.same_sort(handle, sort)

    def inspect_sort(self, sort: ApiSort) -> None:
        self.inner.inspect_sort(sort)

    def inspect_term(self, term: ApiTerm) -> None:
        self.inner.inspect_term(term)

    def read_back(self, term: ApiTerm) -> None:
        self.inner.read_back(term)

    def simplify(self, term: ApiTerm) -> Any:
        return self.inner.simplify(term)

    def substitute(self, term: ApiTerm, replaced: Sequence[ApiTerm], by: Sequence[ApiTerm]) -> Any:
        return self.inner.substitute(term, replaced, by)

    def assert_formula(self, term: ApiTerm) -> None:
        self.inner.assert_formula(term)

    def check_sat(self, assumptions: Sequence[ApiTerm] | None) -> Answer:
        return self.inner.check_sat(assumptions)

    def unsat_assumptions(self) -> list[ApiTerm]:
        return self.inner.unsat_assumptions()

    def unsat_core(self) -> list[ApiTerm]:
        return self.inner.unsat_core()

    def values(self, terms: Sequence[ApiTerm]) -> list[Any]:
        return self.inner.values(terms)

    def equal(self, term: ApiTerm, value: Any) -> Any:
        return self.inner.equal(term, value)

    def print_model(self) -> str:
        return self.inner.print_model()

    def push(self, levels: int) -> None:
        self.inner.push(levels)

    def pop(self, levels: int) -> None:
        self.inner.pop(levels)

    def reset(self) -> None:
        self.inner.reset()

    def reset_assertions(self) -> None:
        self.inner.reset_assertions()
