"""The datatypes of a run: members of a datatype sort, parametric ones instantiated."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from apifuzz.interface import DatatypeSpec, Field, FieldSort, MadeSort
from apifuzz.trace import TraceError
from smtlib import Declaration, Sort, SortError, make_sort, quote_symbol
from smtlib.environment import Constructor as Declared
from smtlib.environment import Datatype, instantiate, parameter

MOST_ARGUMENTS = 20
"""The most arguments of a sort or function, and the most datatypes declared together."""


@dataclass(frozen=True, slots=True)
class Constructor:
    """A constructor of a datatype sort: its name, and selectors with their sorts."""

    name: str
    fields: tuple[tuple[str, Sort], ...]

    @property
    def sorts(self) -> tuple[Sort, ...]:
        """The sorts of the arguments."""
        return tuple([sort for _, sort in self.fields])


class Datatypes:
    """Declared datatypes by name; members by sort."""

    def __init__(self) -> None:
        self._declared: dict[str, Datatype] = {}
        self._instances: dict[Sort, tuple[Constructor, ...]] = {}

    def __bool__(self) -> bool:
        return bool(self._declared)

    def declare(self, group: Sequence[DatatypeSpec]) -> list[Sort]:
        """Add a group; its sorts in order, over parameters where they have some.

        Raises :class:`TraceError` where a field's sort is unknown or a datatype has no finite value.
        """
        require_values(group)
        datatypes = as_datatypes(group, lambda name: name)
        self._declared |= {datatype.name: datatype for datatype in datatypes}
        return [datatype.sort for datatype in datatypes]

    def withdraw(self, group: Sequence[DatatypeSpec]) -> None:
        """Forget a group that the solver did not take."""
        for spec in group:
            self._declared.pop(spec.name, None)

    def members(self, sort: Sort) -> tuple[Constructor, ...]:
        """The constructors of a datatype sort; none where the sort is no datatype."""
        found = self._instances.get(sort)
        if found is None:
            datatype = self._declared.get(sort.name)
            if datatype is None:
                return ()
            bindings = dict(zip(datatype.params, sort.args, strict=True))
            found = self._instances[sort] = tuple(
                Constructor(
                    constructor.declaration.name,
                    tuple((s.name, instantiate(s.result, bindings)) for s in constructor.selectors),
                )
                for constructor in datatype.constructors
            )
        return found


def _field_sort(field: Field, by_name: dict[str, Sort]) -> Sort:
    try:
        return _sort_of(field.sort, by_name)
    except (KeyError, SortError):
        text = str(field.sort)[:60]
        raise TraceError(f"unknown sort {text} of the field {field.name[:60]}") from None


def _sort_of(sort: FieldSort, by_name: Mapping[str, Sort]) -> Sort:
    """The sort, over parameters; ``by_name``: these and the datatypes of the group. KeyError for others."""
    if isinstance(sort, MadeSort):
        return make_sort(sort.name, (), tuple([_sort_of(arg, by_name) for arg in sort.args]))
    return by_name[sort] if isinstance(sort, str) else sort.sort


def as_datatypes(
    group: Sequence[DatatypeSpec], written: Callable[[str], str] = quote_symbol
) -> list[Datatype]:
    """The group as ``smtlib`` has datatypes, with names as they are ``written``: as SMT-LIB writes them.

    Raises :class:`TraceError` where a field's sort is unknown.
    """
    names = tuple(written(spec.name) for spec in group)
    own = {
        spec.name: make_sort(name, (), tuple(map(parameter, spec.parameters)))
        for spec, name in zip(group, names, strict=True)
    }
    made = []
    for spec in group:
        sort, by_name = own[spec.name], {**own, **{p: parameter(p) for p in spec.parameters}}
        constructors = []
        for name, fields in spec.constructors:
            selectors = tuple(
                Declaration(written(f.name), (sort,), _field_sort(f, by_name), "selector") for f in fields
            )
            params = tuple(selector.result for selector in selectors)
            declaration = Declaration(written(name), params, sort, "constructor")
            constructors.append(Declared(declaration, selectors))
        made.append(Datatype(sort.name, sort.args, tuple(constructors), names))
    return made


def names_in(sort: FieldSort) -> Iterator[str]:
    """The datatypes of the group, and parameters, that a field's sort has in it."""
    if isinstance(sort, str):
        yield sort
    elif isinstance(sort, MadeSort):
        for arg in sort.args:
            yield from names_in(arg)


def require_values(group: Sequence[DatatypeSpec]) -> None:
    """Raise :class:`TraceError` where a datatype of the group has no finite value (is not well-founded).

    Solvers also need values for the elements of arrays and sequences.
    """
    empty = {spec.name for spec in group}
    changed = True
    while changed:
        changed = False
        for spec in group:
            if spec.name in empty and any(
                not any(name in empty for f in fields for name in names_in(f.sort))
                for _, fields in spec.constructors
            ):
                empty.discard(spec.name)
                changed = True
    if empty:
        raise TraceError(f"the datatype {min(empty)} is not well-founded")
