"""Terms of a corpus, or of generated tests, as calls: bug history for API fuzzing.

A term is made by the ordinary calls (sorts, constants, values, terms, binders), so that a trace stands alone.
It is fed as it is; or as one of its atoms or other parts; or as its skeleton, whose atoms are formulas that
the run has. A constant of it is now and then something of its sort that the run has.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from apifuzz.heads import operator_text
from apifuzz.interface import ApiTerm, Feature, Unsupported
from apifuzz.operators import is_known, sort_theory
from apifuzz.sort_drawing import allowed, ensure_sort, ensure_term
from apifuzz.trace import quote_name
from apifuzz.values import value_text
from smtlib import BOOL, Declaration, Kind, Sort, Term, default_theories, free_variables, make_sort, postorder
from smtlib.sorts import subsorts

if TYPE_CHECKING:
    from apifuzz.run import Run

MAX_TERMS = 80
"""Larger terms are fed in parts."""

CONNECTIVES = frozenset(("and", "or", "not", "=>", "xor"))
"""What a skeleton is made of, with quantifiers and equality between formulas."""

_TRIES = 8
_REUSED_SHARE = 0.25
_SKELETON_SHARE = 0.3
_PART_SHARE = 0.4
_HOLE_SHARE = 0.7
_MEMBERS = frozenset(("constructor", "selector", "tester", "updater"))


@dataclass(eq=False)
class FedTerm:
    """A term to feed, with what is asked of a run before."""

    term: Term

    @cached_property
    def parts(self) -> tuple[Term, ...]:
        """All terms in it, arguments before what uses them."""
        return tuple(postorder([self.term]))

    @cached_property
    def theories(self) -> frozenset[str]:
        """The theories of its operators and sorts."""
        found = {sort_theory(s.name) for t in self.parts for s in subsorts(t.sort)}
        for part in self.parts:
            if part.kind is Kind.OPERATOR:
                ranks = default_theories().find(
                    part.name, _indices(part), tuple([a.sort for a in part.args]), part.sort
                )
                found.add(ranks[1].theory if ranks is not None else None)
        return frozenset(name for name in found if name is not None)

    @cached_property
    def has_binders(self) -> bool:
        """Whether something in it is bound."""
        return any(part.kind is Kind.BINDER for part in self.parts)

    @cached_property
    def is_sayable(self) -> bool:
        """Whether the calls that every solver has can make it: no ``match``, no members of datatypes."""
        return all(map(_is_sayable, self.parts))


def _is_sayable(term: Term) -> bool:
    if term.kind is Kind.MATCH:
        return False
    if term.kind is Kind.OPERATOR and term.name == "map":
        return False
    declaration = term.op.declaration
    return declaration is None or declaration.origin not in _MEMBERS


def _indices(term: Term) -> tuple[int | str, ...]:
    return tuple(int(i[2:], 16) if isinstance(i, str) and i.startswith("#x") else i for i in term.op.indices)


class Feed:
    """Terms to draw on."""

    def __init__(self, terms: Iterable[Term]) -> None:
        self.terms = tuple(map(FedTerm, terms))

    def draw(self, chance: random.Random) -> FedTerm | None:
        """One of the terms; None where there are none."""
        return self.terms[int(chance.random() * len(self.terms))] if self.terms else None

    def draw_theories(self, chance: random.Random) -> tuple[str, ...]:
        """The theories of one of the terms, for a run to draw on."""
        fed = self.draw(chance)
        return tuple(sorted(fed.theories - {"Core"})) if fed is not None and fed.is_sayable else ()


def feed_term(run: Run) -> ApiTerm | None:
    """Make a term of the run's feed that is about what the run is about; None where none was found.

    Raises :class:`Unsupported` where the solver does not take some part of it.
    """
    feed = run.settings.feed
    if feed is None:
        return None
    for _ in range(_TRIES):
        fed = feed.draw(run.random)
        if fed is not None and _fits(run, fed):
            whole = len(fed.parts) <= MAX_TERMS
            if whole and run.random.random() > _PART_SHARE:
                return _Feeding(run, run.random.random() < _SKELETON_SHARE).make(fed.term)
            part = _draw_part(fed, run.random)
            if part is not None:
                return _Feeding(run, False).make(part)
    return None


def _fits(run: Run, fed: FedTerm) -> bool:
    if not fed.is_sayable or not fed.theories <= run.scope.theories:
        return False
    return run.draws_on(Feature.QUANTIFIERS) or not fed.has_binders


def _draw_part(fed: FedTerm, chance: random.Random) -> Term | None:
    """A closed part of bounded size, mostly an atom (a formula that is no connective)."""
    for _ in range(_TRIES):
        part = fed.parts[int(chance.random() * len(fed.parts))]
        if part.args and part.kind is not Kind.ANNOTATION and not part.sort.is_function:
            if (part.sort is BOOL or chance.random() < 0.3) and not free_variables(part):
                if sum(1 for _ in _bounded(part)) <= MAX_TERMS:
                    return part
    return None


def _bounded(term: Term) -> Iterator[Term]:
    for count, part in enumerate(postorder([term])):
        yield part
        if count > MAX_TERMS:
            return


class _Feeding:
    """Makes one term by calls."""

    def __init__(self, run: Run, skeleton: bool) -> None:
        self.run = run
        self.skeleton = skeleton
        self.calls = 0
        self.made: dict[Term, ApiTerm] = {}
        self.functions: dict[Declaration, ApiTerm] = {}
        self.sorts: dict[str, Sort] = {}

    def make(self, term: Term) -> ApiTerm:
        """The term as the run has it then. Deep terms are no danger: there are at most ``MAX_TERMS``."""
        found = self.made.get(term)
        if found is None:
            found = self._fill_hole(term) or self._make_new(term)
            self.made[term] = found
        return found

    def _fill_hole(self, term: Term) -> ApiTerm | None:
        """For an atom of a skeleton, a formula of the run."""
        if not self.skeleton or term.sort is not BOOL or term.name in CONNECTIVES or term.kind is Kind.BINDER:
            return None
        if term.kind is Kind.ANNOTATION or self.run.random.random() > _HOLE_SHARE:
            return None
        return self.run.store.pick(BOOL, self.run.random)

    def _make_new(self, term: Term) -> ApiTerm:
        self.calls += 1
        if self.calls > 2 * MAX_TERMS:
            raise Unsupported("a term of the corpus is too large")
        if term.kind is Kind.ANNOTATION:
            return self.make(term.args[0])
        if term.kind is Kind.BINDER:
            return self._binder(term)
        text = value_text(term)
        if text is not None:
            return self._call("make-value", self._sort(term.sort), text)
        if term.kind is Kind.SYMBOL:
            return self._symbol(term)
        if term.kind is Kind.OPERATOR:
            return self._operator(term)
        raise Unsupported("a term of the corpus that no call makes")

    def _call(self, name: str, *args: str) -> ApiTerm:
        (made,) = self.run.call(name, args)
        return self.run.store.term(made)

    # Sorts

    def _sort(self, sort: Sort) -> str:
        return str(ensure_sort(self.run, self._own(sort)))

    def _own(self, sort: Sort) -> Sort:
        """The sort as the run has it: declared sorts are declared anew."""
        if sort.args:
            if sort_theory(sort.name) is None and not sort.is_function:
                raise Unsupported("a sort constructor of the corpus")
            return make_sort(sort.name, sort.indices, tuple(self._own(a) for a in sort.args))
        if sort_theory(sort.name) is not None:
            return sort
        found = self.sorts.get(sort.name)
        if found is None:
            self.run.require(Feature.SORTS)
            name = quote_name(self.run.fresh_name("U", plain=True))
            (made,) = self.run.call("declare-sort", (name, "0"))
            found = self.sorts[sort.name] = self.run.store.sort(made).sort
        return found

    # Terms

    def _symbol(self, term: Term) -> ApiTerm:
        declaration = term.op.declaration
        if declaration is None:
            raise Unsupported("a symbol without declaration")
        if not declaration.params:
            return self._constant(term)
        self.run.require(Feature.FUNCTIONS)
        function = self.functions.get(declaration)
        if function is None:
            params = " ".join(self._sort(p) for p in declaration.params)
            name = quote_name(self.run.fresh_name("f"))
            function = self._call("make-function", name, f"({params})", self._sort(declaration.result))
            self.functions[declaration] = function
        if not term.args:
            return function
        args = [str(self.make(a)) for a in term.args]
        return self._call("make-term", self._sort(term.sort), "apply", str(function), *args)

    def _constant(self, term: Term) -> ApiTerm:
        sort = self._own(term.sort)
        if self.run.random.random() < _REUSED_SHARE:
            known = self.run.store.pick_closed(sort, self.run.random)
            if known is not None:
                return known
        if not allowed(self.run, "constant", sort):
            raise Unsupported(f"no constants of sort {sort}")
        if sort.is_function:
            return ensure_term(self.run, sort)
        return self._call(
            "make-constant", str(ensure_sort(self.run, sort)), quote_name(self.run.fresh_name("c"))
        )

    def _operator(self, term: Term) -> ApiTerm:
        args = [self.make(a) for a in term.args]
        result = self._own(term.sort)
        sorts = tuple([a.sort.sort for a in args])
        if term.name == "@":
            return self._call("make-term", self._sort(term.sort), "apply", *map(str, args))
        indices = tuple(i for i in _indices(term) if isinstance(i, int))
        found = default_theories().find(term.name, indices, sorts, result)
        run = self.run
        if (
            found is None
            or term.name in run.capabilities.without
            or not is_known(found[1].only, run.wrapper.families)
            or not run.wrapper.takes(found[1], sorts, result)
        ):
            raise Unsupported(f"without {term.name}")
        plain = default_theories().find(term.name, indices, sorts, None)
        if not found[1].needs_as and (plain is None or plain[0] is not result):
            raise Unsupported(f"{term.name} with another result")
        text = operator_text(term.name, indices, found[1].needs_as)
        return self._call("make-term", str(ensure_sort(run, result)), text, *map(str, args))

    def _binder(self, term: Term) -> ApiTerm:
        if term.op.name not in self.run.capabilities.binders:
            raise Unsupported(f"without {term.op.name}")
        outer = self.made
        old = frozenset(a for v in term.variables if (a := outer.get(v)) is not None)
        # A variable bound here hides an outer one of its name: what was made of that one does not count here.
        self.made = {t: a for t, a in outer.items() if not a.free or a.free.isdisjoint(old)}
        variables = []
        for variable in term.variables:
            sort = self._own(variable.sort)
            if not allowed(self.run, "quantifier", sort):
                raise Unsupported(f"no variables of sort {sort}")
            name = quote_name(self.run.fresh_name("x"))
            variables.append(self._call("make-variable", str(ensure_sort(self.run, sort)), name))
            self.made[variable] = variables[-1]
        body = self.make(term.args[0])
        ids = f"({' '.join(map(str, variables))})"
        made = self._call("make-binder", self._sort(term.sort), term.op.name, ids, str(body))
        bound = frozenset(variables)
        inner = {t: a for t, a in self.made.items() if a.free.isdisjoint(bound)}
        self.made = {**inner, **outer}
        return made
