"""Sorts and terms are asked all they can be asked, and the answers compared with what they were made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cvc5 import Kind, RoundingMode, SortKind

from apifuzz.engines.cvc5.calls import MEMBERS, QUESTIONS, kind_of
from apifuzz.engines.cvc5.sorts import Sorts
from apifuzz.engines.rows import Word, words_of
from apifuzz.interface import ApiTerm, DatatypeSpec, HeadKind, TermKind, expect
from smtlib import Sort

_VALUES = tuple(name for name in QUESTIONS if name.startswith("is"))
_SORT_KINDS = {kind.name: kind for kind in SortKind}
_ARITHMETIC = ("isRealValue", "isIntegerValue")


def _words(args: Sequence[Any] = (), indices: Sequence[int] = (), **words: Any) -> Word:
    words |= {"rounding_modes": RoundingMode, "sign": lambda number: (number > 0) - (number < 0)}
    return words_of(args, indices, _SORT_KINDS.__getitem__, words)


# Sorts


def inspect_sort(sorts: Sorts, sort: Sort, handle: Any) -> None:
    """Compare all that a sort says of itself with ``sort``."""
    about = f"sort {sort}"
    declared, spec = sorts.declared.get(sort.name), sorts.specs.get(sort.name)
    args = [sorts.of(part) for part in sort.args]
    word = _words(
        args,
        sort.indices,
        sort=handle,
        name=sort.name,
        boolean=sorts.session.manager.getBooleanSort(),
        declared=declared,
        is_datatype=spec is not None,
    )
    if declared is None:
        QUESTIONS.ask_which(handle, sort.name, about)
        QUESTIONS.ask("sort", about, word, "built in", sort.name)
    else:
        QUESTIONS.ask("sort", about, word, "declared", *(("applied",) if args else ()))
        if spec is not None:
            inspect_datatype(sorts, spec, sort, handle)
        else:
            QUESTIONS.ask("sort", about, word, "applied constructor" if args else "uninterpreted")
    QUESTIONS.ask("sort", about, word, "sort")
    if handle.hasSymbol():
        expect("sort", bool(handle.getSymbol()), True, f"symbol of {about}")
    if declared is None and sort.args and sort.args.count(sort.args[0]) == 1:
        QUESTIONS.ask("sort", about, word, f"{sort.name} of two sorts")


def inspect_datatype(sorts: Sorts, spec: DatatypeSpec, sort: Sort, handle: Any) -> None:
    """Compare a datatype with its declaration."""
    datatype, is_plain = handle.getDatatype(), not spec.parameters
    tables = ["datatype"] if is_plain else ["datatype", "datatype with parameters"]
    if is_plain and not any(fields for _, fields in spec.constructors):
        tables.append("datatype without fields")
    known = {"sort": handle, "datatype": datatype, "spec": spec}
    QUESTIONS.ask("sort", f"datatype {spec.name}", _words(**known), *tables)
    for place, ((name, fields), constructor) in enumerate(zip(spec.constructors, datatype, strict=True)):
        known |= {"constructor": constructor, "name": name, "place": place, "fields": fields}
        known["codomains"] = [selector.getCodomainSort() for selector in constructor]
        tables = ["constructor", "constructor of a plain datatype"]
        where = f"constructor {name} of {spec.name}"
        QUESTIONS.ask("sort", where, _words(**known), *tables[: 1 + is_plain])
        for number, (field, selector) in enumerate(zip(fields, constructor, strict=True)):
            words = {**known, "selector": selector, "name": field.name, "place": number}
            tables = ["selector"]
            if is_plain:
                words["codomain"] = sorts.of_field(field)
                tables.append("selector of a plain datatype")
            QUESTIONS.ask("sort", f"selector {field.name} of {spec.name}", _words(**words), *tables)


# Terms


def inspect_term(sorts: Sorts, term: ApiTerm) -> None:
    """Compare all that a term says of itself with what it was made of."""
    handle = term.handle
    children = [handle[place] for place in range(handle.getNumChildren())]
    QUESTIONS.ask("term", str(term), _words(term=handle, children=children), "term")
    if term.kind in (TermKind.CONSTANT, TermKind.VARIABLE, TermKind.FUNCTION):
        _inspect_leaf(term)
    elif term.head is not None:
        _inspect_application(term, children)
    inspect_value(handle, str(term))


def _inspect_leaf(term: ApiTerm) -> None:
    handle = term.handle
    kind = Kind.VARIABLE if term.kind is TermKind.VARIABLE else Kind.CONSTANT
    expect("term", handle.getKind(), kind, f"kind of {term}")
    expect("term", handle.isSkolem(), False, f"{term} is a skolem")
    for question in _VALUES:
        expect("term", getattr(handle, question)(), False, f"{question} of {term}")


def _inspect_application(term: ApiTerm, children: list[Any]) -> None:
    assert term.head is not None
    head, args = term.head, [arg.handle for arg in term.args]
    found = term.handle.getKind()
    if head.kind is HeadKind.APPLY:
        if found is Kind.APPLY_UF:
            expect("term", children, args, f"function and arguments of {term}")
        else:
            expect("term", (found, children[-1]), (Kind.HO_APPLY, args[-1]), f"application {term}")
    elif head.kind in MEMBERS:
        expect("term", found, MEMBERS[head.kind], f"kind of {term}")
        expect("term", children[1:], args, f"arguments of {term}")
    elif head.kind is HeadKind.OPERATOR and len(args) in (1, 2):
        kind = kind_of(head.name, [arg.sort.sort for arg in term.args])
        if kind is None:
            return
        if len(args) == 1 and kind in (Kind.AND, Kind.OR, Kind.TO_REAL) and term.handle == args[0]:
            return
        expect("term", found, kind, f"kind of {term}")
        expect("term", children, args, f"arguments of {term}")
        word = _words((), head.indices, term=term.handle, kind=kind)
        tables = ("operator", "first index", "second index")[: 1 + len(head.indices)]
        QUESTIONS.ask("term", str(term), word, *tables)


# Values


def inspect_value(handle: Any, about: str) -> None:
    """Ask a term whether it is a value, and a value what it is: its different forms must agree."""
    word = _words(term=handle)
    for question in _VALUES:
        if getattr(handle, question)():
            QUESTIONS.ask("value", about, word, question)
            if question in _ARITHMETIC:
                return
