"""Sorts and terms that SMT-LIB's theories and the theory files do not have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Self

import cvc5
from cvc5 import Kind, SortKind

from apifuzz.actions import Made, option
from apifuzz.call import AnyClosed, ClosedTerms, Count, Drawn, SortArg, Term, up_to
from apifuzz.engines.cvc5.actions.base import Cvc5Action, core_of, handles, is_plain, kind_named, names_of
from apifuzz.engines.cvc5.engine import Cvc5Engine
from apifuzz.interface import ApiSort, ApiTerm, TermKind, Unsupported, expect, must
from apifuzz.run import Run
from apifuzz.trace import TraceError
from smtlib import BOOL, Sort


def _keep(run: Run, made: Any, sort: Sort, args: tuple[ApiTerm, ...]) -> Made:
    """Keep a term of a sort that the run has made."""
    kept = run.store.sorts.get(sort)
    if kept is None:
        raise Unsupported(f"no sort {sort} was made")
    free = frozenset(variable for arg in args for variable in arg.free)
    return (run.keep_term(kept, made, TermKind.TERM, None, args, free),)


def _draw_uninterpreted(run: Run) -> ApiSort | None:
    declared = core_of(run).sorts.declared
    names = [name for name, handle in declared.items() if handle.isUninterpretedSort()]
    sorts = [own for sort, own in run.store.sorts.items() if sort.name in names and not sort.args]
    return run.random.pick_if_any(sorts)


class MakeCardinality(Cvc5Action):
    """``cvc5:make-cardinality SORT N``: an uninterpreted sort has at most N elements."""

    places = (("terms", 0.5),)
    needs = (option("finite-model-find=true"),)
    sort: Annotated[SortArg, Drawn(_draw_uninterpreted)]
    bound: Annotated[Count, up_to(4)]

    def act(self, run: Run, core: Cvc5Engine) -> Made | None:
        handle = self.sort.handle
        if not handle.isUninterpretedSort():
            raise Unsupported(f"{self.sort.sort} is not uninterpreted")
        made = core.session.maker.mkCardinalityConstraint(handle, self.bound)
        expect("term", made.isCardinalityConstraint(), True, "a cardinality constraint is one")
        expect("term", made.getCardinalityConstraint(), (handle, self.bound), "the constraint")
        return _keep(run, made, BOOL, ())


class MakeRecord(Cvc5Action):
    """``cvc5:make-record PLACE TERM...``: a record of these terms is made, its field PLACE replaced by itself
    and selected.
    """

    places = (("terms", 0.3),)
    place: Count
    terms: ClosedTerms

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        terms = [run.store.pick_any(run.random) for _ in range(run.random.up_to(3))]
        found = [t for t in terms if t is not None and is_plain(t.sort.sort)]
        return cls(run.random.up_to(len(found)), tuple(found)) if found else None

    def act(self, run: Run, core: Cvc5Engine) -> Made | None:
        terms, place = self.terms, self.place - 1
        if place >= len(terms):
            raise TraceError(f"no field {place + 1} of {len(terms)}")
        maker, name = core.session.manager, f"field{place}"
        sort = maker.mkRecordSort(*[(f"field{i}", t.sort.handle) for i, t in enumerate(terms)])
        expect("sort", sort.isRecord(), True, "a record sort is one")
        expect("sort", sort.isDatatype(), True, "a record sort is a datatype")
        datatype = sort.getDatatype()
        expect("sort", datatype.isRecord(), True, "a record's datatype is one")
        expect("sort", [s.getName() for s in datatype[0]], [f"field{i}" for i in range(len(terms))], "fields")
        record = maker.mkTerm(Kind.APPLY_CONSTRUCTOR, datatype[0].getTerm(), *handles(terms))
        selector = datatype.getSelector(name)
        changed = maker.mkTerm(Kind.APPLY_UPDATER, selector.getUpdaterTerm(), record, terms[place].handle)
        made = maker.mkTerm(Kind.APPLY_SELECTOR, selector.getTerm(), changed)
        return _keep(run, made, terms[place].sort.sort, terms)


class MakeMatch(Cvc5Action):
    """``cvc5:make-match TERM OTHER``: a match of a datatype's term; a case is a field of OTHER's sort, or
    OTHER.
    """

    term: Term
    other: Term

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        store, chance = run.store, run.random
        sort = chance.pick_if_any([s for s in store.populated if store.datatypes.members(s)])
        term = store.pick(sort, chance) if sort is not None else None
        other = store.pick_any(chance)
        if term is None or other is None or not is_plain(other.sort.sort):
            return None
        return cls(term, other)

    def act(self, run: Run, core: Cvc5Engine) -> Made | None:
        term, other = self.term, self.other
        members = run.store.datatypes.members(term.sort.sort)
        if not members:
            raise TraceError(f"{term} is of no datatype")
        session, sorts = core.session, core.sorts
        make, variable_of = session.manager.mkTerm, session.manager.mkVar
        sort = term.handle.getSort()
        datatype = sort.getDatatype()
        cases = []
        for place, constructor in enumerate(members):
            if place == len(members) - 1 and session.random.happens(0.3):
                variable = variable_of(sort, "m")
                bound = make(Kind.VARIABLE_LIST, variable)
                cases.append(make(Kind.MATCH_BIND_CASE, bound, variable, other.handle))
                continue
            made = datatype[place]
            head = made.getInstantiatedTerm(sort) if datatype.isParametric() else made.getTerm()
            # Plain names: between bars they do not read back in a pattern.
            variables = [variable_of(sorts.of(s), f"m{n}") for n, (_, s) in enumerate(constructor.fields)]
            pattern = make(Kind.APPLY_CONSTRUCTOR, head, *variables)
            fitting = [v for v in variables if v.getSort() == other.handle.getSort()]
            body = fitting[0] if fitting else other.handle
            if variables:
                cases.append(make(Kind.MATCH_BIND_CASE, make(Kind.VARIABLE_LIST, *variables), pattern, body))
            else:
                cases.append(make(Kind.MATCH_CASE, pattern, body))
        return _keep(run, make(Kind.MATCH, term.handle, *cases), other.sort.sort, (term, other))


class _OfTwo(Cvc5Action):
    """A term of two terms of one sort."""

    places = (("terms", 0.5),)
    one: Term
    two: Term

    @classmethod
    def draw_two(cls, run: Run, fits: Callable[[Sort], bool]) -> Self | None:
        """Two terms of one of the sorts that fit; None: there are none."""
        sort = run.random.pick_if_any([sort for sort in run.store.populated if fits(sort)])
        if sort is None:
            return None
        one, two = (run.store.pick(sort, run.random) for _ in range(2))
        return None if one is None or two is None else cls(one, two)


_LIFTED = {"Int": Kind.ADD, "Real": Kind.MULT, "Bool": Kind.AND, "BitVec": Kind.BITVECTOR_ADD}


class MakeLifted(_OfTwo):
    """``cvc5:make-lifted TERM TERM``: an operator on two nullable terms."""

    # It is made with a lambda.
    likely = (lambda run: run.logic.startswith("HO_"),)

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        return cls.draw_two(run, lambda sort: sort.name == "Nullable" and sort.args[0].name in _LIFTED)

    def act(self, run: Run, core: Cvc5Engine) -> Made | None:
        terms, sort = (self.one, self.two), self.one.sort.sort
        kind = _LIFTED.get(sort.args[0].name) if sort.name == "Nullable" else None
        if kind is None or self.two.sort.sort is not sort:
            raise TraceError("two terms of one nullable sort expected")
        return _keep(run, core.session.maker.mkNullableLift(kind, *handles(terms)), sort, terms)


class MakeProjection(_OfTwo):
    """``cvc5:make-projection TERM TERM``: a formula about parts of two tuples, relations or tables."""

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        return cls.draw_two(run, lambda sort: bool(_columns(sort)) and _may_project(run, sort))

    def act(self, run: Run, core: Cvc5Engine) -> Made | None:
        terms, sort = (self.one, self.two), self.one.sort.sort
        columns = _columns(sort)
        if not columns or self.two.sort.sort is not sort:
            raise TraceError("two terms of one sort of tuples, relations or tables expected")
        if not _may_project(run, sort):
            raise Unsupported("relations and tables are projected in higher-order logic only")
        session = core.session
        project, group, card = _PROJECTIONS[sort.name]
        place = session.random.randrange(columns)
        way = session.random.randrange(3)
        make = session.manager.mkTerm
        parts = [make(session.manager.mkOp(project, place), handle) for handle in handles(terms)]
        if group is None or card is None or way == 0:
            made = make(Kind.EQUAL, *parts)
        else:
            if way == 2:
                parts[0] = make(session.manager.mkOp(group, place), self.one.handle)
            made = make(Kind.GEQ, make(card, parts[0]), make(card, parts[1]))
        return _keep(run, made, BOOL, terms)


_PROJECTIONS: dict[str, tuple[Kind, Kind | None, Kind | None]] = {
    "Tuple": (Kind.TUPLE_PROJECT, None, None),
    "Set": (Kind.RELATION_PROJECT, Kind.RELATION_GROUP, Kind.SET_CARD),
    "Bag": (Kind.TABLE_PROJECT, Kind.TABLE_GROUP, Kind.BAG_CARD),
}


def _may_project(run: Run, sort: Sort) -> bool:
    return sort.name == "Tuple" or run.logic.startswith("HO_")


def _columns(sort: Sort) -> int:
    """How many columns a tuple, a relation or a table has; 0 for any other sort."""
    if sort.name in ("Set", "Bag"):
        sort = sort.args[0]
    return len(sort.args) if sort.name == "Tuple" else 0


_SKOLEMS = names_of(cvc5.SkolemId)


class InspectSkolem(Cvc5Action):
    """``cvc5:inspect-skolem NAME TERM...``: a symbol of the solver's own, by name, and what it is about."""

    places = (("terms", 0.2),)
    skolem: Annotated[str, kind_named(_SKOLEMS, "skolem")]
    terms: AnyClosed

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        sort = run.random.pick_if_any([s for s in run.store.populated if s.name == "Array"])
        if sort is not None:
            one, two = (run.store.pick_closed(sort, run.random) for _ in range(2))
            if one is not None and two is not None:
                return cls("array-deq-diff", (one, two))
        return cls(run.random.pick(("div-by-zero", "int-div-by-zero", "mod-by-zero")), ())

    def act(self, run: Run, core: Cvc5Engine) -> None:
        skolem, terms = _SKOLEMS[self.skolem], handles(self.terms)
        if core.session.maker.getNumIndicesForSkolemId(skolem) != len(terms):
            raise Unsupported("another number of terms expected")
        made = core.session.manager.mkSkolem(skolem, *terms)
        is_one = made.isSkolem() and made.getSkolemId() == skolem
        must("term", is_one, f"{made!s:.100} is not the skolem {self.skolem}")
        # cvc5 may bring them into an order of its own.
        expect("term", set(made.getSkolemIndices()), set(terms), f"the terms of {made!s:.100}")


_ABSTRACT = (
    *(SortKind.ABSTRACT_SORT, SortKind.ARRAY_SORT, SortKind.BAG_SORT, SortKind.BITVECTOR_SORT),
    *(SortKind.FINITE_FIELD_SORT, SortKind.FLOATINGPOINT_SORT, SortKind.FUNCTION_SORT),
    *(SortKind.SEQUENCE_SORT, SortKind.SET_SORT, SortKind.TUPLE_SORT),
)


class InspectSorts(Cvc5Action):
    """``cvc5:inspect-sorts``: abstract sorts say of which kind they are."""

    places = (("sorts", 0.1),)

    def act(self, run: Run, core: Cvc5Engine) -> None:
        for kind in _ABSTRACT:
            sort = core.session.maker.mkAbstractSort(kind)
            if kind in (SortKind.ABSTRACT_SORT, SortKind.TUPLE_SORT):
                expect("sort", sort.isAbstract(), True, f"the abstract sort of {kind}")
                expect("sort", sort.getAbstractedKind(), kind, f"the kind of the abstract sort of {kind}")
