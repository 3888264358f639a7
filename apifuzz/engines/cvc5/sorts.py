"""Sorts: built-in ones, declared ones and datatypes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from apifuzz.datatypes import names_in
from apifuzz.engines.cvc5.calls import QUESTIONS, SORTS, make
from apifuzz.engines.cvc5.reading import declared_datatypes
from apifuzz.engines.cvc5.session import Session
from apifuzz.engines.rows import words_of
from apifuzz.interface import ApiSort, DatatypeSpec, Field, FieldSort, MadeSort, Unsupported
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
            found = self._make(sort, [self.of(arg) for arg in sort.args])
        return found

    def make_sort(self, sort: Sort, args: Sequence[ApiSort]) -> Any:
        """A new handle of ``sort``, whose arguments are ``args``."""
        if any(arg.name == "RegLan" for arg in sort.args):
            raise Unsupported("regular expressions are in no other sort")
        if sort.name == "Array" and sort.args[0].name == "Array":
            raise Unsupported("arrays are no indices of arrays")
        if sort.is_function and not self.session.is_higher_order:
            raise Unsupported("functions as values without a logic for them")
        handle = self._make(sort, [arg.handle for arg in args])
        self.handles[sort] = handle
        return handle

    def _make(self, sort: Sort, args: list[Any]) -> Any:
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
        return self._field(field.sort, self.declared.__getitem__)

    def _field(self, sort: FieldSort, named: Callable[[str], Any]) -> Any:
        """A field's sort, parameters and datatypes of the group as they are ``named``."""
        if isinstance(sort, MadeSort):
            return self._make(make_sort(sort.name), [self._field(arg, named) for arg in sort.args])
        return named(sort) if isinstance(sort, str) else sort.handle

    # Declared

    def keep_declared(self, name: str, handle: Any) -> None:
        """Keep a declared sort; what was made of an earlier one of this name is another sort now."""
        self.declared[name] = handle
        self.specs.pop(name, None)
        for sort in [s for s in self.handles if any(part.name == name for part in subsorts(s))]:
            del self.handles[sort]

    def declare_datatypes(self, group: Sequence[DatatypeSpec]) -> list[Any]:
        maker = self.session.maker
        unresolved = {s.name: maker.mkUnresolvedDatatypeSort(s.name, len(s.parameters)) for s in group}
        if len(group) == 1 and not group[0].parameters and self.session.may_declare():
            constructors = [self._constructor(group[0], *c, {}, unresolved) for c in group[0].constructors]
            handles = [self.session.solver.declareDatatype(group[0].name, *constructors)]
        else:
            declarations = [self._datatype(spec, unresolved) for spec in group]
            if len(group) == 1 and self.session.random.happens(0.5):
                handles = [self.session.maker.mkDatatypeSort(declarations[0])]
            else:
                handles = list(self.session.maker.mkDatatypeSorts(declarations))
        for spec, handle in zip(group, handles, strict=True):
            self.keep_declared(spec.name, handle)
            self.specs[spec.name] = spec
        self.session.declarations.append(declared_datatypes(group))
        return handles

    def _datatype(self, spec: DatatypeSpec, unresolved: dict[str, Any]) -> Any:
        maker = self.session.maker
        params = {name: maker.mkParamSort(name) for name in spec.parameters}
        if params:
            declaration = maker.mkDatatypeDecl(spec.name, list(params.values()))
        elif self.session.random.happens(0.5):
            declaration = maker.mkDatatypeDecl(spec.name, False)
        else:
            declaration = maker.mkDatatypeDecl(spec.name)
        for name, fields in spec.constructors:
            declaration.addConstructor(self._constructor(spec, name, fields, params, unresolved))
        word = words_of((), (), {"declaration": declaration, "spec": spec}.__getitem__)
        QUESTIONS.ask("sort", f"the declaration of {spec.name}", word, "datatype declaration")
        return declaration

    def _constructor(
        self,
        spec: DatatypeSpec,
        name: str,
        fields: tuple[Field, ...],
        params: dict[str, Any],
        unresolved: dict[str, Any],
    ) -> Any:
        def named(name: str) -> Any:
            found = params.get(name)
            return _with_parameters(unresolved[name], params) if found is None else found

        made, chance = self.session.maker.mkDatatypeConstructorDecl(name), self.session.random
        for field in fields:
            sort = field.sort
            other = None if sort in params or not isinstance(sort, str) else unresolved[sort]
            if sort == spec.name and other is not None and chance.happens(0.5):
                made.addSelectorSelf(field.name)
            elif other is not None and not other.isUninterpretedSortConstructor() and chance.happens(0.5):
                made.addSelectorUnresolved(field.name, sort)
            else:
                self._require_nested(sort, params)
                made.addSelector(field.name, self._field(sort, named))
        return made

    def _require_nested(self, sort: FieldSort, params: dict[str, Any]) -> None:
        """Raise Unsupported for what is made of a datatype of the group, unless nested ones are allowed."""
        is_open = isinstance(sort, MadeSort) and not set(names_in(sort)) <= set(params)
        if is_open and not self.session.is_on("dt-nested-rec"):
            raise Unsupported("a field made of a datatype declared with it, without dt-nested-rec")


def _with_parameters(unresolved: Any, params: dict[str, Any]) -> Any:
    """A datatype of the group with the parameters of all of them."""
    if not unresolved.isUninterpretedSortConstructor():
        return unresolved
    if unresolved.getUninterpretedSortConstructorArity() != len(params):
        raise Unsupported("datatypes of one group with different parameters")
    return unresolved.instantiate(list(params.values()))
