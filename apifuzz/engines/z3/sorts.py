"""Sorts of z3: made from SMT-LIB sorts, declared, asked what they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import z3
from z3 import z3core

from apifuzz.engines.z3.session import Session
from apifuzz.interface import ApiSort, DatatypeSpec, FieldSort, MadeSort, Misbehaviour, Unsupported
from smtlib import Sort
from smtlib import make_sort as smtlib_sort

_PLAIN: dict[str, tuple[str, str]] = {
    "Bool": ("BoolSort", "Z3_mk_bool_sort"),
    "Int": ("IntSort", "Z3_mk_int_sort"),
    "Real": ("RealSort", "Z3_mk_real_sort"),
    "String": ("StringSort", "Z3_mk_string_sort"),
    "Unicode": ("CharSort", "Z3_mk_char_sort"),
}
"""Sorts without arguments: the function of z3's module and the call beneath it."""

_FLOATS: dict[tuple[int, ...], tuple[str, ...]] = {
    (5, 11): ("Z3_mk_fpa_sort_half", "Z3_mk_fpa_sort_16"),
    (8, 24): ("Z3_mk_fpa_sort_single", "Z3_mk_fpa_sort_32"),
    (11, 53): ("Z3_mk_fpa_sort_double", "Z3_mk_fpa_sort_64"),
    (15, 113): ("Z3_mk_fpa_sort_quadruple", "Z3_mk_fpa_sort_128"),
}

MIN_SIGNIFICAND = 3
"""z3 takes no floating-point sort with fewer bits of significand, though SMT-LIB has them."""

_KINDS: dict[str, int] = {
    "Bool": z3.Z3_BOOL_SORT,
    "Int": z3.Z3_INT_SORT,
    "Real": z3.Z3_REAL_SORT,
    "BitVec": z3.Z3_BV_SORT,
    "FloatingPoint": z3.Z3_FLOATING_POINT_SORT,
    "RoundingMode": z3.Z3_ROUNDING_MODE_SORT,
    "String": z3.Z3_SEQ_SORT,
    "Seq": z3.Z3_SEQ_SORT,
    "RegLan": z3.Z3_RE_SORT,
    "Unicode": z3.Z3_CHAR_SORT,
    "Array": z3.Z3_ARRAY_SORT,
    "->": z3.Z3_ARRAY_SORT,
    "Set": z3.Z3_ARRAY_SORT,
    "List": z3.Z3_DATATYPE_SORT,
    "FiniteField": z3.Z3_FINITE_FIELD_SORT,
}
"""What ``Z3_get_sort_kind`` says of a sort by its name. Finite sets and what a run declares are not here."""


class Sorts:
    """Makes sorts in a session and remembers them by what they are."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.datatypes: dict[str, DatatypeSpec] = {}
        self._arities: dict[str, int] = {}

    # From SMT-LIB sorts

    def make_sort(self, sort: Sort, args: Sequence[ApiSort]) -> Any:
        """A sort by its name, indices and argument sorts."""
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
        if name in _PLAIN:
            named, raw = _PLAIN[name]
            if session.chance(0.5):
                return getattr(z3, named)(session.context)
            return self._wrap(getattr(z3core, raw)(session.ref))
        maker = _MAKERS.get(name)
        if maker is None:
            raise Unsupported(f"z3 has no sort {name}")
        return self._wrap(maker(session, sort.indices, args))

    def _wrap(self, ast: Any) -> Any:
        return z3.z3._to_sort_ref(ast, self.session.context) if isinstance(ast, z3.z3types.Sort) else ast

    # Declared

    def declare_sort(self, name: str, arity: int) -> Any:
        """An uninterpreted sort; the handle of a constructor is its name, which ``make_sort`` applies."""
        session = self.session
        if arity:
            self._arities[name] = arity
            return name
        if session.chance(0.5):
            handle = z3.DeclareSort(name, session.context)
        else:
            handle = self._wrap(
                z3core.Z3_mk_uninterpreted_sort(session.ref, z3.z3.to_symbol(name, session.context))
            )
        session.sorts[smtlib_sort(name)] = handle
        session.named_sorts[name] = handle
        return handle

    def _apply_constructor(self, name: str, args: Sequence[Any]) -> Any:
        """``(name args...)``: z3 makes such sorts through its parser only."""
        # Each once: with a datatype the parser takes its constructors, which it does not want again.
        by_id = {a.get_id(): a for a in args}
        names = {f"arg!{ident}": a for ident, a in by_id.items()}
        applied = " ".join(f"arg!{a.get_id()}" for a in args)
        quoted = z3_symbol(name)
        text = (
            f"(declare-sort {quoted} {len(args)})"
            f"(declare-const of!it ({quoted} {applied}))(assert (= of!it of!it))"
        )
        return z3.parse_smt2_string(text, names, {}, self.session.context)[0].arg(0).sort()

    # Datatypes

    def declare_datatypes(self, group: Sequence[DatatypeSpec]) -> list[Any]:
        """Datatypes that may refer to each other. One with parameters stands alone, as z3's calls want it."""
        session = self.session
        if any(spec.parameters for spec in group):
            if len(group) > 1:
                raise Unsupported("z3's calls make datatypes with parameters one at a time")
            handles = [self._polymorphic(group[0])]
        elif (
            len(group) == 1 and all(not fields for _, fields in group[0].constructors) and session.chance(0.5)
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
        if self.session.chance(0.5):
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
        if isinstance(handle, str) or (what.name in self.datatypes and self.datatypes[what.name].parameters):
            if not what.args:
                return
        expect = _expecter(str(what))
        expect("kind", handle.kind(), _KINDS.get(what.name, handle.kind()))
        expect("identity", z3core.Z3_is_eq_sort(self.session.ref, handle.ast, handle.ast), True)
        expect("id", handle.get_id(), z3core.Z3_get_sort_id(self.session.ref, handle.ast))
        expect("hash", handle.hash(), handle.hash())
        expect("text", handle.sexpr(), handle.sexpr())
        handle.name()
        check = _PARTS.get(what.name)
        if check is not None:
            check(self, handle, what, expect)
        elif what.name in self.datatypes:
            self._inspect_datatype(handle, self.datatypes[what.name], expect)
        again = self._make(what, [self.of(a) for a in what.args]) if self._can_remake(what) else handle
        expect("sort made again", again.eq(handle), True)

    def _can_remake(self, sort: Sort) -> bool:
        """Whether ``_make`` knows the sort: all but uninterpreted ones without arguments."""
        known = sort.name in _PLAIN or sort.name in _MAKERS or sort.name in self._arities
        return known or sort.name in self.datatypes

    def _inspect_datatype(self, handle: Any, spec: DatatypeSpec, expect: Callable[..., None]) -> None:
        ref = self.session.ref
        expect("constructors", handle.num_constructors(), len(spec.constructors))
        recursive = any(
            isinstance(f.sort, str) and f.sort == spec.name for _, fs in spec.constructors for f in fs
        )
        if recursive:
            expect("recursive", z3core.Z3_is_recursive_datatype_sort(ref, handle.ast), True)
        for number, (name, fields) in enumerate(spec.constructors):
            constructor = handle.constructor(number)
            expect("constructor", (constructor.name(), constructor.arity()), (name, len(fields)))
            expect("constructor's result", constructor.range().eq(handle), True)
            expect("tester's argument", handle.recognizer(number).domain(0).eq(handle), True)
            for position, field in enumerate(fields):
                accessor = handle.accessor(number, position)
                expect("selector", accessor.name(), field.name)
                expect("selector's result", accessor.range().eq(constructor.domain(position)), True)
        if len(spec.constructors) == 1 and not recursive and not spec.parameters:
            expect(
                "fields", z3core.Z3_get_tuple_sort_num_fields(ref, handle.ast), len(spec.constructors[0][1])
            )
            z3core.Z3_get_tuple_sort_mk_decl(ref, handle.ast)
            for position in range(len(spec.constructors[0][1])):
                z3core.Z3_get_tuple_sort_field_decl(ref, handle.ast, position)


def z3_symbol(name: str) -> str:
    """``name`` as z3's parser reads it."""
    return f"|{name.strip('|')}|"


def _expecter(what: str) -> Callable[..., None]:
    def expect(aspect: str, found: object, expected: object) -> None:
        if found != expected:
            raise Misbehaviour("sort", f"{aspect} of {what} is {found}, should be {expected}")

    return expect


# How sorts with indices or arguments are made: session, indices, arguments.


def _float(session: Session, indices: tuple[int, ...], args: Sequence[Any]) -> Any:
    if indices[1] < MIN_SIGNIFICAND:
        raise Unsupported(f"z3 wants significands of {MIN_SIGNIFICAND} bits or more")
    named = _FLOATS.get(indices)
    if named and session.chance(0.5):
        return getattr(z3core, session.one_of(named))(session.ref)
    return z3core.Z3_mk_fpa_sort(session.ref, *indices)


def _array(session: Session, indices: tuple[int, ...], args: Sequence[Any]) -> Any:
    if len(args) == 2 and session.chance(0.5):
        return z3core.Z3_mk_array_sort(session.ref, args[0].ast, args[1].ast)
    domain = (z3.Sort * (len(args) - 1))(*[a.ast for a in args[:-1]])
    return z3core.Z3_mk_array_sort_n(session.ref, len(args) - 1, domain, args[-1].ast)


def _list(session: Session, indices: tuple[int, ...], args: Sequence[Any]) -> Any:
    """``(List A)`` of z3's parser; ``Z3_mk_list_sort`` would make another datatype."""
    text = "(declare-const of!it (List arg!0))(assert (= of!it of!it))"
    return z3.parse_smt2_string(text, {"arg!0": args[0]}, {}, session.context)[0].arg(0).sort()


_MAKERS: dict[str, Callable[[Session, tuple[int, ...], Sequence[Any]], Any]] = {
    "BitVec": lambda s, i, a: z3core.Z3_mk_bv_sort(s.ref, i[0]),
    "FloatingPoint": _float,
    "RoundingMode": lambda s, i, a: z3core.Z3_mk_fpa_rounding_mode_sort(s.ref),
    "RegLan": lambda s, i, a: z3core.Z3_mk_re_sort(s.ref, z3core.Z3_mk_string_sort(s.ref)),
    "Seq": lambda s, i, a: z3core.Z3_mk_seq_sort(s.ref, a[0].ast),
    "Array": _array,
    "->": _array,
    # Not z3.SetSort, which makes its Bool in the main context.
    "Set": lambda s, i, a: z3core.Z3_mk_set_sort(s.ref, a[0].ast),
    "List": _list,
    "FiniteField": lambda s, i, a: z3core.Z3_mk_finite_field_sort(s.ref, str(i[0])),
    "FiniteSet": lambda s, i, a: z3core.Z3_mk_finite_set_sort(s.ref, a[0].ast),
}


# What a sort is asked beyond its kind.


def _bit_vector_parts(sorts: Sorts, handle: Any, sort: Sort, expect: Callable[..., None]) -> None:
    expect("width", handle.size(), sort.indices[0])


def _float_parts(sorts: Sorts, handle: Any, sort: Sort, expect: Callable[..., None]) -> None:
    expect("widths", (handle.ebits(), handle.sbits()), sort.indices)


def _array_parts(sorts: Sorts, handle: Any, sort: Sort, expect: Callable[..., None]) -> None:
    ref = sorts.session.ref
    *domain, result = sort.args
    expect("arity", z3core.Z3_get_array_arity(ref, handle.ast), len(domain))
    for position, index in enumerate(domain):
        found = z3core.Z3_get_array_sort_domain_n(ref, handle.ast, position)
        expect("index sort", z3core.Z3_is_eq_sort(ref, found, sorts.of(index).ast), True)
    expect("first index sort", handle.domain().eq(sorts.of(domain[0])), True)
    expect("element sort", handle.range().eq(sorts.of(result)), True)


def _set_parts(sorts: Sorts, handle: Any, sort: Sort, expect: Callable[..., None]) -> None:
    expect("element sort", handle.domain().eq(sorts.of(sort.args[0])), True)
    expect("range", handle.range().eq(sorts.of(smtlib_sort("Bool"))), True)


def _sequence_parts(sorts: Sorts, handle: Any, sort: Sort, expect: Callable[..., None]) -> None:
    string = sort.name == "String"
    expect("being String", handle.is_string(), string)
    expect("being a sequence", z3core.Z3_is_seq_sort(sorts.session.ref, handle.ast), True)
    basis = smtlib_sort("Unicode") if string else sort.args[0]
    expect("element sort", handle.basis().eq(sorts.of(basis)), True)


def _regex_parts(sorts: Sorts, handle: Any, sort: Sort, expect: Callable[..., None]) -> None:
    expect("basis", handle.basis().eq(sorts.of(smtlib_sort("String"))), True)
    expect("being a regular language", z3core.Z3_is_re_sort(sorts.session.ref, handle.ast), True)


def _character_parts(sorts: Sorts, handle: Any, sort: Sort, expect: Callable[..., None]) -> None:
    expect("being Unicode", z3core.Z3_is_char_sort(sorts.session.ref, handle.ast), True)


def _field_parts(sorts: Sorts, handle: Any, sort: Sort, expect: Callable[..., None]) -> None:
    expect("order", handle.size(), sort.indices[0])


def _finite_set_parts(sorts: Sorts, handle: Any, sort: Sort, expect: Callable[..., None]) -> None:
    ref = sorts.session.ref
    expect("being a finite set", z3core.Z3_is_finite_set_sort(ref, handle.ast), True)
    basis = z3core.Z3_get_finite_set_sort_basis(ref, handle.ast)
    expect("element sort", z3core.Z3_is_eq_sort(ref, basis, sorts.of(sort.args[0]).ast), True)


_PARTS: dict[str, Callable[[Sorts, Any, Sort, Callable[..., None]], None]] = {
    "BitVec": _bit_vector_parts,
    "FloatingPoint": _float_parts,
    "Array": _array_parts,
    "->": _array_parts,
    "Set": _set_parts,
    "String": _sequence_parts,
    "Seq": _sequence_parts,
    "RegLan": _regex_parts,
    "Unicode": _character_parts,
    "FiniteField": _field_parts,
    "FiniteSet": _finite_set_parts,
}
