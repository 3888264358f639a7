"""Sorts of z3: made from SMT-LIB sorts, declared, asked what they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import z3

from apifuzz.engines.rows import make_by, words_of
from apifuzz.engines.z3.session import Session
from apifuzz.engines.z3.words import QUESTIONS, SORTS, WAYS, drawn, words_in
from apifuzz.interface import ApiSort, DatatypeSpec, FieldSort, MadeSort, Misbehaviour, Unsupported
from smtlib import Sort
from smtlib import make_sort as smtlib_sort

MIN_SIGNIFICAND = 3
"""z3 takes no floating-point sort with fewer bits of significand, though SMT-LIB has them."""


class Sorts:
    """Makes sorts in a session and remembers them by what they are."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.datatypes: dict[str, DatatypeSpec] = {}
        self._arities: dict[str, int] = {}

    # From SMT-LIB sorts

    def make_sort(self, sort: Sort, args: Sequence[ApiSort]) -> Any:
        handle = self._make(sort, [a.handle for a in args])
        self.session.sorts[sort] = handle
        return handle

    def of(self, sort: Sort) -> Any:
        """The handle of a sort, made now if need be."""
        found = self.session.sorts.get(sort)
        if found is None:
            found = self.session.sorts[sort] = self._make(sort, [self.of(a) for a in sort.args])
        return found

    def _make(self, sort: Sort, args: Sequence[Any]) -> Any:
        session, name = self.session, sort.name
        if name in self.datatypes:
            return self._instance(name, args)
        if name in self._arities:
            return self._apply_constructor(name, args)
        if name == "FloatingPoint" and sort.indices[1] < MIN_SIGNIFICAND:
            raise Unsupported(f"z3 requires significands of {MIN_SIGNIFICAND} bits or more")
        word = words_of(args, sort.indices, words_in(session))
        return make_by(SORTS.find(name, [""] * len(args)), word, session.random, f"z3 has no sort {name}")

    # Declared

    def declare_sort(self, name: str, arity: int) -> Any:
        """An uninterpreted sort; the handle of a constructor is its name, which ``make_sort`` applies."""
        session = self.session
        if arity:
            self._arities[name] = arity
            return name
        handle = drawn(session, WAYS, "declared sort", name=name)
        session.sorts[smtlib_sort(name)] = handle
        session.named_sorts[name] = handle
        return handle

    def _apply_constructor(self, name: str, args: Sequence[Any]) -> Any:
        """``(name args...)``: z3 makes such sorts through its parser only."""
        # Each once: with a datatype the parser takes its constructors, which must not be declared twice.
        by_id = {a.get_id(): a for a in args}
        names = {f"arg!{ident}": a for ident, a in by_id.items()}
        applied = " ".join(f"arg!{a.get_id()}" for a in args)
        quoted = f"|{name.strip('|')}|"
        text = (
            f"(declare-sort {quoted} {len(args)})"
            f"(declare-const of!it ({quoted} {applied}))(assert (= of!it of!it))"
        )
        return z3.parse_smt2_string(text, names, {}, self.session.context)[0].arg(0).sort()

    # Datatypes

    def declare_datatypes(self, group: Sequence[DatatypeSpec]) -> list[Any]:
        """Datatypes that may refer to each other. One with parameters stands alone, as z3's calls require."""
        session = self.session
        if any(spec.parameters for spec in group):
            if len(group) > 1:
                raise Unsupported("z3's calls make datatypes with parameters one at a time")
            handles = [self._polymorphic(group[0])]
        elif (
            len(group) == 1
            and all(not fields for _, fields in group[0].constructors)
            and session.random.happens(0.5)
        ):
            handles = [self._enumeration(group[0])]
        else:
            handles = self._group(group)
        for spec, handle in zip(group, handles, strict=True):
            self.datatypes[spec.name] = spec
            session.named_sorts[spec.name] = handle
            if not spec.parameters:
                session.sorts[smtlib_sort(spec.name)] = handle
        return handles

    def _enumeration(self, spec: DatatypeSpec) -> Any:
        return z3.EnumSort(spec.name, [name for name, _ in spec.constructors], self.session.context)[0]

    def _group(self, group: Sequence[DatatypeSpec]) -> list[Any]:
        context = self.session.context
        forward = {spec.name: z3.Datatype(spec.name, context) for spec in group}

        def reference(name: str) -> Any:
            return self._reference(name, forward)

        def inner(name: str) -> Any:
            return z3.DatatypeSort(name, ctx=context)

        for spec in group:
            for name, fields in spec.constructors:
                found = [(f.name, self._field(f.sort, reference, inner)) for f in fields]
                forward[spec.name].declare(name, *found)
        return list(z3.CreateDatatypes(*forward.values()))

    def _reference(self, name: str, forward: dict[str, Any]) -> Any:
        """A datatype of the group before it is made: by position, or by a forward reference."""
        if self.session.random.happens(0.5):
            return forward[name]
        return z3.DatatypeSort(name, ctx=self.session.context)

    def _polymorphic(self, spec: DatatypeSpec) -> Any:
        context = self.session.context
        parameters = {p: z3.DeclareTypeVar(p, context) for p in spec.parameters}
        datatype = z3.Datatype(spec.name, context)

        def reference(name: str) -> Any:
            return parameters.get(name, datatype)

        def inner(name: str) -> Any:
            found = parameters.get(name)
            return self._instance(name, list(parameters.values())) if found is None else found

        for name, fields in spec.constructors:
            found = [(f.name, self._field(f.sort, reference, inner)) for f in fields]
            datatype.declare(name, *found)
        return z3.CreatePolymorphicDatatype(datatype, list(parameters.values()))

    def _field(self, sort: FieldSort, reference: Callable[[str], Any], inner: Callable[[str], Any]) -> Any:
        """A field's sort; parameters and datatypes that are being made come by ``reference``, in others by
        ``inner``.
        """
        if isinstance(sort, MadeSort):
            if sort.name in self._arities or sort.name == "List":
                raise Unsupported("a field of a parameter, of a sort that z3 makes through its parser only")
            args = [self._field(arg, inner, inner) for arg in sort.args]
            return self._make(smtlib_sort(sort.name), args)
        return reference(sort) if isinstance(sort, str) else sort.handle

    def _instance(self, name: str, args: Sequence[Any]) -> Any:
        return z3.DatatypeSort(name, list(args), self.session.context)

    def constructor(self, datatype: Sort, name: str) -> tuple[int, Any]:
        """Number and handle of a datatype and its constructor."""
        handle = self.of(datatype)
        for number in range(handle.num_constructors()):
            if handle.constructor(number).name() == name:
                return number, handle
        raise Misbehaviour("sort", f"{datatype} has lost its constructor {name}")

    def selector(self, datatype: Sort, name: str) -> Any:
        """The FuncDeclRef of a selector."""
        handle = self.of(datatype)
        for number in range(handle.num_constructors()):
            for position in range(handle.constructor(number).arity()):
                accessor = handle.accessor(number, position)
                if accessor.name() == name:
                    return accessor
        raise Misbehaviour("sort", f"{datatype} has lost its selector {name}")

    # Inspection

    def inspect_sort(self, sort: ApiSort) -> None:
        """Ask a sort all z3 can tell; Misbehaviour where it is not what it was made of."""
        handle, what = sort.handle, sort.sort
        spec = self.datatypes.get(what.name)
        if (isinstance(handle, str) or (spec and spec.parameters)) and not what.args:
            return
        is_made = what.name in SORTS or what.name in self._arities or spec is not None
        args = [self.of(part) for part in what.args]
        known = {"sort": handle, "what": what, "about": str(what), "spec": spec}
        known["again"] = self._make(what, args) if is_made else None
        known["of"] = lambda name: self.of(smtlib_sort(name))
        QUESTIONS.run("sort", words_of(args, what.indices, words_in(self.session), known))
