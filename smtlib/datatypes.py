"""Datatype declarations: SMT-LIB 2.6's, and z3's older ``(declare-datatypes (T) ((D (c (s T)) ...)))``."""

from __future__ import annotations

from collections.abc import Mapping

from smtlib.environment import Constructor, Datatype, Environment, SortDefinition, parameter
from smtlib.errors import SortError
from smtlib.reader import SExp, SExpList, is_symbol, sexp_text
from smtlib.sorts import Sort, make_sort, subsorts
from smtlib.terms import Declaration

_Body = tuple[str, tuple[str, ...], list[SExp]]
"""A datatype's name, its sort parameters and its constructors as read."""


def read_datatypes(environment: Environment, sexp: SExpList) -> tuple[Datatype, ...]:
    """Declare the datatypes of one command in ``environment`` and return them.

    Raises :class:`SortError` for a malformed declaration, an unknown sort, or a datatype without finite
    values (codatatypes need none).
    """
    is_one = sexp[0] in ("declare-datatype", "declare-codatatype")
    # In z3's older syntax, parameters stand in place of names and arities.
    is_old = not is_one and len(sexp) > 1 and all(isinstance(head, str) for head in sexp[1])
    bodies = _one(sexp) if is_one else _several(sexp, is_old)
    _require_names([*(name for name, _, _ in bodies), *(p for _, params, _ in bodies for p in params)])
    for name, params, _ in bodies:
        environment.add_sort(SortDefinition(name, len(params)))
    group = tuple(name for name, _, _ in bodies)
    # There a datatype's name stands for its sort over its own parameters.
    bare = {n: make_sort(n, (), tuple(map(parameter, ps))) for n, ps, _ in bodies if is_old and ps}
    datatypes = tuple(_datatype(environment, body, group, bare) for body in bodies)
    if "codatatype" not in sexp[0]:
        _require_values(datatypes)
    for datatype in datatypes:
        environment.add_datatype(datatype)
    return datatypes


def _one(sexp: SExpList) -> list[_Body]:
    if len(sexp) != 3 or not isinstance(sexp[1], str):
        raise SortError(f"expected (declare-datatype NAME (CONSTRUCTOR ...)), found {sexp_text(sexp, 60)}")
    return [(sexp[1], *_body(sexp[2]))]


def _several(sexp: SExpList, is_old: bool) -> list[_Body]:
    if len(sexp) != 3 or isinstance(sexp[1], str) or isinstance(sexp[2], str):
        raise SortError(
            f"expected (declare-datatypes ((NAME ARITY) ...) (BODY ...)), found {sexp_text(sexp, 60)}"
        )
    heads, bodies = sexp[1], sexp[2]
    if is_old:
        if not all(isinstance(body, SExpList) and body for body in bodies):
            raise SortError("expected (declare-datatypes (PARAMETER ...) ((NAME CONSTRUCTOR ...) ...))")
        return [(body[0], tuple(heads), list(body[1:])) for body in bodies]
    if len(heads) != len(bodies) or not all(not isinstance(h, str) and len(h) == 2 for h in heads):
        raise SortError("declare-datatypes needs as many bodies as (NAME ARITY) pairs")
    return [(h[0], *_body(b)) for h, b in zip(heads, bodies, strict=True)]


def _body(sexp: SExp) -> tuple[tuple[str, ...], list[SExp]]:
    if isinstance(sexp, str):
        raise SortError(f"expected constructors, found {sexp}")
    if sexp and sexp[0] == "par":
        if len(sexp) != 3 or isinstance(sexp[1], str) or isinstance(sexp[2], str):
            raise SortError(f"expected (par (PARAMETER ...) (CONSTRUCTOR ...)), found {sexp_text(sexp, 60)}")
        return tuple(sexp[1]), list(sexp[2])
    return (), list(sexp)


def _datatype(
    environment: Environment, body: _Body, group: tuple[str, ...], bare: Mapping[str, Sort]
) -> Datatype:
    name, names, constructors = body
    if not constructors:
        raise SortError(f"datatype {name} has no constructor")
    params = {p: parameter(p) for p in names}
    sort = make_sort(name, (), tuple(params.values()))
    made = tuple(_constructor(environment, c, sort, {**bare, **params}) for c in constructors)
    return Datatype(name, tuple(params.values()), made, group)


def _constructor(environment: Environment, sexp: SExp, sort: Sort, params: dict[str, Sort]) -> Constructor:
    head, fields = (sexp, []) if isinstance(sexp, str) else (sexp[0] if sexp else "", sexp[1:])
    _require_names([head])
    selectors = []
    for entry in fields:
        if isinstance(entry, str) or len(entry) != 2 or not is_symbol(entry[0]):
            raise SortError(f"expected (SELECTOR SORT), found {sexp_text(entry, 60)}")
        field_sort = environment.sort(entry[1], params)
        selectors.append(Declaration(entry[0], (sort,), field_sort, "selector"))
    declaration = Declaration(head, tuple(s.result for s in selectors), sort, "constructor")
    return Constructor(declaration, tuple(selectors))


def _require_names(names: list[SExp]) -> None:
    for name in names:
        if not is_symbol(name):
            raise SortError(f"expected a name in a datatype declaration, found {sexp_text(name, 60)}")


def _require_values(datatypes: tuple[Datatype, ...]) -> None:
    """Refuse a group with a datatype that has no finite value (SMT-LIB 2.7, well-founded)."""
    empty = {d.name for d in datatypes}
    changed = True
    while changed:
        changed = False
        for datatype in datatypes:
            if datatype.name in empty and any(_is_inhabited(c, empty) for c in datatype.constructors):
                empty.discard(datatype.name)
                changed = True
    if empty:
        raise SortError(
            f"datatype {min(empty)} is not well-founded: every constructor needs another value of it"
        )


def _is_inhabited(constructor: Constructor, empty: set[str]) -> bool:
    """Whether every field's sort has a value. A field of sort Seq, Set or Bag has the empty one."""
    for sort in constructor.declaration.params:
        if sort.name in ("Seq", "Set", "Bag"):
            continue
        if any(s.name in empty for s in subsorts(sort)):
            return False
    return True
