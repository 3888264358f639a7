"""What there is to feed: terms of scripts, what each asks of a run, and why some are left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from apifuzz.chance import Chance
from apifuzz.datatypes import MOST_ARGUMENTS, require_values
from apifuzz.interface import DatatypeSpec, Feature, Field, FieldSort, MadeSort, Unsupported
from apifuzz.operators import sort_theory
from apifuzz.trace import TraceError
from smtlib import Declaration, Kind, Signature, Sort, Term, default_theories, postorder
from smtlib.environment import Datatype, has_parameters, is_parameter
from smtlib.sorts import subsorts


@dataclass(eq=False)
class FedTerm:
    """A term to feed; ``datatypes`` are those of its script, by name."""

    term: Term
    datatypes: Mapping[str, Datatype] = field(default_factory=dict)

    @cached_property
    def parts(self) -> tuple[Term, ...]:
        """All terms in it, arguments before what uses them."""
        return tuple(postorder([self.term]))

    @cached_property
    def sorts(self) -> tuple[Sort, ...]:
        """The sorts of its terms and of the fields of its datatypes, with all sorts in them."""
        found: dict[Sort, None] = {}
        todo = list(dict.fromkeys(t.sort for p in self.parts for t in (p, *p.variables)))
        while todo:
            for sort in subsorts(todo.pop()):
                if sort not in found and not is_parameter(sort):
                    found[sort] = None
                    todo += [
                        s for d in self.group(sort) for c in d.constructors for s in c.declaration.params
                    ]
        return tuple(found)

    def group(self, sort: Sort) -> tuple[Datatype, ...]:
        """The datatypes that are declared together with this one; none where the sort is no datatype."""
        datatype = self.datatypes.get(sort.name)
        return () if datatype is None else tuple(self.datatypes[name] for name in datatype.group)

    @cached_property
    def theories(self) -> frozenset[str]:
        """The theories of its operators and sorts."""
        found = {sort_theory(s.name) for s in self.sorts}
        for part in self.parts:
            if part.kind is Kind.OPERATOR:
                sorts = tuple([a.sort for a in part.args])
                signature = signature_of(part.name, indices_of(part), sorts, part.sort)
                found.add(None if signature is None else signature.theory)
        return frozenset(name for name in found if name is not None)

    @cached_property
    def features(self) -> frozenset[Feature]:
        """What it needs besides theories."""
        found = {Feature.QUANTIFIERS} if any(p.kind is Kind.BINDER for p in self.parts) else set()
        if any(p.kind is Kind.SYMBOL and _is_function(p) for p in self.parts):
            found.add(Feature.FUNCTIONS)
        for sort in self.sorts:
            if self.group(sort):
                found.add(Feature.DATATYPES)
                if sort.args:
                    found.add(Feature.PARAMETRIC_DATATYPES)
            elif is_declared(sort):
                found.add(Feature.SORT_CONSTRUCTORS if sort.args else Feature.SORTS)
        return frozenset(found)

    @cached_property
    def left_out(self) -> str:
        """Why no solver is fed the term: the reason; empty where it can be."""
        for part in self.parts:
            declaration = part.op.declaration
            if part.kind is Kind.OPERATOR and part.name == "map":
                return "a map of a function over arrays"
            if part.kind is Kind.SYMBOL and declaration is None:
                return "a symbol without declaration"
            if declaration is None or len(declaration.params) <= MOST_ARGUMENTS:
                continue
            if declaration.origin not in ("constructor", "selector"):
                return f"a function of more than {MOST_ARGUMENTS} arguments"
        try:
            for sort in self.sorts:
                specify(self.group(sort))
        except Unsupported as reason:
            return str(reason)
        return ""


def _is_function(term: Term) -> bool:
    declaration = term.op.declaration
    return declaration is not None and bool(declaration.params) and not is_member(term)


def is_member(term: Term) -> bool:
    """Whether the term is made with a constructor, selector, tester or updater of a datatype."""
    declaration = term.op.declaration
    return declaration is not None and declaration.is_of_datatype


def is_declared(sort: Sort) -> bool:
    """Whether no theory file has the sort's head."""
    return sort_theory(sort.name) is None and not sort.is_function


def indices_of(term: Term) -> tuple[int, ...]:
    """The numerals among an operator's indices."""
    read = (int(i[2:], 16) if isinstance(i, str) and i.startswith("#x") else i for i in term.op.indices)
    return tuple(i for i in read if isinstance(i, int))


def signature_of(
    name: str, indices: tuple[int, ...], sorts: tuple[Sort, ...], result: Sort
) -> Signature | None:
    """The rank by which an operator gives ``result``; None where the theory files have none."""
    # If the result follows from the arguments, its indices may be computed; so the first try names no result.
    for expected in (None, result):
        found = default_theories().find(name, indices, sorts, expected)
        if found is not None and found[0] is result:
            return found[1]
    return None


# Datatypes


def specify(
    group: tuple[Datatype, ...],
    head: Callable[[Sort], str] = lambda sort: sort.name,
    rename: Callable[[Declaration], str] = lambda member: member.name,
    other: Callable[[Sort], FieldSort] = lambda sort: "",
) -> tuple[DatatypeSpec, ...]:
    """The group as ``declare-datatypes`` takes it.

    ``head`` gives the names of datatypes and of what the sorts of fields are made of, ``rename`` those of
    members, and ``other`` the sorts of fields without a parameter and a datatype of the group. Raises
    :class:`Unsupported` where ``declare-datatypes`` does not take the group.
    """
    if len(group) > MOST_ARGUMENTS:
        raise Unsupported(f"more than {MOST_ARGUMENTS} datatypes declared together")

    def field_sort(datatype: Datatype, sort: Sort) -> FieldSort:
        if is_parameter(sort):
            return f"P{datatype.params.index(sort)}"
        if sort.name in datatype.group:
            if sort.args == datatype.params:
                return head(sort)
            raise Unsupported("a field of a datatype declared with its own, of other arguments")
        if has_parameters(sort) or any(s.name in datatype.group for s in subsorts(sort)):
            return MadeSort(head(sort), tuple([field_sort(datatype, arg) for arg in sort.args]))
        return other(sort)

    specs = tuple(
        DatatypeSpec(
            head(datatype.sort),
            tuple(
                (
                    rename(constructor.declaration),
                    tuple(Field(rename(s), field_sort(datatype, s.result)) for s in constructor.selectors),
                )
                for constructor in datatype.constructors
            ),
            tuple(f"P{place}" for place in range(len(datatype.params))),
        )
        for datatype in group
    )
    try:
        require_values(specs)
    except TraceError:
        raise Unsupported("a datatype without finite values") from None
    return specs


class Feed:
    """Terms to draw on."""

    def __init__(self, terms: Iterable[FedTerm]) -> None:
        self.terms = tuple(terms)

    def draw(self, chance: Chance) -> FedTerm | None:
        """One of the terms; None where there are none."""
        return chance.pick_if_any(self.terms)

    def draw_needs(self, chance: Chance) -> tuple[tuple[str, ...], frozenset[Feature]]:
        """The theories and features of one of the terms, for a run to draw on; quantifiers apart."""
        fed = self.draw(chance)
        if fed is None or fed.left_out:
            return (), frozenset()
        return tuple(sorted(fed.theories - {"Core"})), fed.features - {Feature.QUANTIFIERS}
