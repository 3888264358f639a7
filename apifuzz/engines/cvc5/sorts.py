"""Sorts: built-in ones, declared ones and datatypes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from apifuzz.datatypes import names_in
from apifuzz.engines.cvc5.calls import SORTS, make
from apifuzz.engines.cvc5.session import Session
from apifuzz.interface import DatatypeSpec, Field, FieldSort, MadeSort, Unsupported
from smtlib import Sort, make_sort
from smtlib.sorts import subsorts

# Formats that cvc5 solves by default; others only with the expert option fp-exp.
_FORMATS = frozenset(((8, 24), (11, 53)))


def lacks_format(session: Session, sort: Sort) -> bool:
    """Whether a floating-point format occurs in ``sort`` that cvc5 does not solve as its options stand."""
    if sort.name == "FloatingPoint":
        return sort.indices not in _FORMATS and not session.is_on("fp-exp")
    return any(lacks_format(session, arg) for arg in sort.args)


class Sorts:
    """The sorts of one term manager. Handles by sort, so that a term's result sort has one, too."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.handles: dict[Sort, Any] = {}
        self.declared: dict[str, Any] = {}
        """Uninterpreted sorts and datatypes, and what takes arguments to be one, by name."""
        self.specs: dict[str, DatatypeSpec] = {}

    # Made of others

    def of(self, sort: Sort) -> Any:
        """The handle of a sort, made where it was not yet."""
        found = self.handles.get(sort)
        if found is None:
            found = self.made_of(sort, [self.of(arg) for arg in sort.args])
        return found

    def made_of(self, sort: Sort, args: list[Any]) -> Any:
        """A new handle of ``sort``, whose arguments have these handles."""
        if lacks_format(self.session, sort):
            raise Unsupported(f"{sort} without fp-exp")
        declared = self.declared.get(sort.name)
        if declared is not None:
            return declared.instantiate(args) if args else declared
        routes = SORTS.find(sort.name, [""] * len(args))
        words = {"function": lambda args: self.function(args[:-1], args[-1])}
        return make(self.session, f"sort {sort.name}", routes, args, sort.indices, **words)

    def function(self, params: list[Any], result: Any) -> Any:
        """The sort of functions from ``params`` to ``result``; a function as result is flattened."""
        maker = self.session.maker
        if result.isFunction():
            params = [*params, *result.getFunctionDomainSorts()]
            result = result.getFunctionCodomainSort()
        if result.isBoolean() and self.session.random.happens(0.5):
            return self.session.manager.mkPredicateSort(*params)
        if len(params) == 1 and self.session.random.happens(0.5):
            return maker.mkFunctionSort(params[0], result)
        return maker.mkFunctionSort(params, result)

    def of_field(self, field: Field) -> Any:
        """The handle of a field's sort, in a datatype without parameters."""
        return self.of_field_sort(field.sort, self.declared.__getitem__)

    def of_field_sort(self, sort: FieldSort, named: Callable[[str], Any]) -> Any:
        """A field's sort, parameters and datatypes of the group as they are ``named``."""
        if isinstance(sort, MadeSort):
            return self.made_of(make_sort(sort.name), [self.of_field_sort(arg, named) for arg in sort.args])
        return named(sort) if isinstance(sort, str) else sort.handle

    # Declared

    def keep_declared(self, name: str, handle: Any) -> None:
        """Keep a declared sort; what was made of an earlier one of this name is another sort now."""
        self.declared[name] = handle
        self.specs.pop(name, None)
        for sort in [s for s in self.handles if any(part.name == name for part in subsorts(s))]:
            del self.handles[sort]

    def require_nested(self, sort: FieldSort, params: dict[str, Any]) -> None:
        """Raise Unsupported for what is made of a datatype of the group, unless nested ones are allowed."""
        is_open = isinstance(sort, MadeSort) and not set(names_in(sort)) <= set(params)
        if is_open and not self.session.is_on("dt-nested-rec"):
            raise Unsupported("a field made of a datatype declared with it, without dt-nested-rec")
