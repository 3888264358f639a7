"""Making a term of the feed by calls, one for each part of it that the run does not have yet.

A ``match`` becomes ``ite`` over the testers of its cases, with selectors for the variables of their patterns,
which every solver with datatypes has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

from apifuzz.actions import Unwritten
from apifuzz.actions.leaves import MakeConstant, MakeFunction, MakeValue, MakeVariable, ensure_term
from apifuzz.actions.sorts import DeclareDatatypes, DeclareSort, ensure_sort
from apifuzz.actions.terms import MakeBinder, MakeTerm
from apifuzz.chance import Chance
from apifuzz.feeding.terms import FedTerm, indices_of, is_declared, is_member, signature_of, specify
from apifuzz.interface import APPLY, ApiSort, ApiTerm, Feature, Head, HeadKind, TermKind, Unsupported
from apifuzz.operators import is_known
from apifuzz.run import Run
from apifuzz.sort_drawing import allowed
from apifuzz.values import value_text
from smtlib import BOOL, Declaration, Kind, Sort, Term, free_variables, make_sort, postorder
from smtlib.environment import Datatype


class OwnSorts:
    """The run's own sorts, and members of datatypes, for those of one fed term."""

    def __init__(self, run: Run, fed: FedTerm) -> None:
        self.run = run
        self.fed = fed
        self._heads: dict[str, str] = {}
        self._members: dict[Declaration, str] = {}

    def own(self, sort: Sort) -> Sort:
        """The sort as the run has it. Raises :class:`Unsupported` where the solver has none like it."""
        head = self._head(sort)
        if head == sort.name and not sort.args:
            return sort
        return make_sort(head, sort.indices, tuple(map(self.own, sort.args)))

    def member(self, datatype: Sort, declaration: Declaration) -> str:
        """The name of a constructor or selector of a datatype sort of the fed term."""
        self.own(datatype)
        try:
            return self._members[declaration]
        except KeyError:
            raise Unsupported("a datatype that was declared twice") from None

    def _head(self, sort: Sort) -> str:
        """The name of the sort's head; what the script declares is declared now."""
        if is_declared(sort) and sort.name not in self._heads:
            group = self.fed.group(sort)
            if group:
                self._declare_datatypes(group)
            else:
                self.run.require(Feature.SORT_CONSTRUCTORS if sort.args else Feature.SORTS)
                self._heads[sort.name] = self.run.fresh_name("U", plain=True)
                self.run.make(DeclareSort(self._heads[sort.name], len(sort.args)))
        return self._heads.get(sort.name, sort.name)

    def _declare_datatypes(self, group: tuple[Datatype, ...]) -> None:
        self.run.require(Feature.DATATYPES)
        if any(d.params for d in group):
            self.run.require(Feature.PARAMETRIC_DATATYPES)
        self._heads |= {d.name: self.run.fresh_name("D", plain=True) for d in group}
        members: dict[Declaration, str] = {}

        def rename(member: Declaration) -> str:
            members[member] = self.run.fresh_name("cons" if member.origin == "constructor" else "sel")
            return members[member]

        self.run.make(DeclareDatatypes(specify(group, self._head_of_field, rename, self._field)))
        self._members |= members

    def _head_of_field(self, sort: Sort) -> str:
        head = self._head(sort)
        if head in self.run.capabilities.sorts_without.get("datatype", ()):
            raise Unsupported(f"no fields of sort {head}")
        return head

    def _field(self, sort: Sort) -> ApiSort:
        own = self.own(sort)
        if not allowed(self.run, "datatype", own):
            raise Unsupported(f"no fields of sort {own}")
        return ensure_sort(self.run, own)


MAX_TERMS = 80
"""Larger terms are fed in parts."""

CONNECTIVES = frozenset(("and", "or", "not", "=>", "xor"))
"""What a skeleton is made of, with quantifiers and equality between formulas."""

MADE = "made"
"""Among the counts of feeding: the terms that were made; the others are reasons why one was not."""

_COMPARING = frozenset("distinct < <= > >=".split())
_JOINING = frozenset("and or xor + * bvand bvor bvxor bvadd bvmul str.++ re.++ re.union re.inter".split())
_OF_NONE = {"and": "true", "or": "false", "xor": "false"}

_TRIES = 8
_REUSED_SHARE = 0.25
_SKELETON_SHARE = 0.3
_PART_SHARE = 0.4
_HOLE_SHARE = 0.7


class FeedTerm(Unwritten):
    """``feed-term``: makes a term of the feed that is about what the run is about.

    What came of it is counted in the run's statistics.
    """

    likely = (lambda run: run.settings.feed is not None,)

    @classmethod
    def draw(cls, run: Run) -> None:
        """Make the term, where one is found. Raises :class:`Unsupported` where the solver lacks a part."""
        for _ in range(_TRIES):
            fed = run.settings.feed.draw(run.random) if run.settings.feed is not None else None
            if fed is None:
                return
            reason = _why_not(run, fed)
            if reason:
                run.statistics.fed[reason] += 1
                continue
            term, skeleton = _draw_form(fed, run.random)
            if term is not None:
                feed_whole(run, fed, term, skeleton)
                return


def feed_whole(run: Run, fed: FedTerm, term: Term, skeleton: bool = False) -> ApiTerm:
    """Make ``term``, a part of ``fed`` of at most ``MAX_TERMS`` terms, and count what came of it.

    Raises :class:`Unsupported` where the solver does not take some part of it.
    """
    try:
        made = _Feeding(run, fed, skeleton).make(term)
    except Unsupported as reason:
        run.statistics.fed[_in_short(str(reason))] += 1
        raise
    run.statistics.fed[MADE] += 1
    return made


def _in_short(reason: str) -> str:
    """A reason without sorts and names, to be counted by."""
    while (shorter := re.sub(r" *\([^()]*\)", "", reason)) != reason:
        reason = shorter
    return re.sub(r" [A-Za-z]\d+\b", "", reason).strip()[:80]


def _why_not(run: Run, fed: FedTerm) -> str:
    """Why the run does not make the term; empty where it does."""
    if fed.left_out:
        return fed.left_out
    if not fed.theories <= run.scope.theories:
        return "of theories that the run does not draw on"
    if not all(map(run.draws_on, sorted(fed.features))):
        return "with features that the run does not draw on"
    return ""


def _draw_form(fed: FedTerm, chance: Chance) -> tuple[Term | None, bool]:
    """The whole term or a part of it, and whether its skeleton is fed."""
    if len(fed.parts) <= MAX_TERMS and not chance.happens(_PART_SHARE):
        return fed.term, chance.happens(_SKELETON_SHARE)
    return _draw_part(fed, chance), False


def _draw_part(fed: FedTerm, chance: Chance) -> Term | None:
    """A closed part of bounded size, mostly an atom (a formula that is no connective)."""
    for _ in range(_TRIES):
        part = chance.pick(fed.parts)
        if part.args and part.kind is not Kind.ANNOTATION and not part.sort.is_function:
            if (part.sort is BOOL or chance.happens(0.3)) and not free_variables(part):
                if len(list(islice(postorder([part]), MAX_TERMS + 1))) <= MAX_TERMS:
                    return part
    return None


class _Feeding:
    """Makes one term by calls."""

    def __init__(self, run: Run, fed: FedTerm, skeleton: bool) -> None:
        self.run = run
        self.skeleton = skeleton
        self.calls = 0
        self.made: dict[Term, ApiTerm] = {}
        self.functions: dict[Declaration, ApiTerm] = {}
        self.fed = fed
        self.sorts = OwnSorts(run, fed)

    def make(self, term: Term) -> ApiTerm:
        """The term as the run has it. The recursion is bounded: there are at most ``MAX_TERMS`` terms."""
        found = self.made.get(term)
        if found is None:
            found = self._fill_hole(term) or self._make_new(term)
            self.made[term] = found
        return found

    def _fill_hole(self, term: Term) -> ApiTerm | None:
        """For an atom of a skeleton, a formula of the run."""
        if not self.skeleton or term.sort is not BOOL or term.name in CONNECTIVES or term.kind is Kind.BINDER:
            return None
        if term.kind is Kind.ANNOTATION or not self.run.random.happens(_HOLE_SHARE):
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
        if term.kind is Kind.MATCH:
            return self._match(term)
        text = value_text(term)
        if text is not None:
            return self._value(term.sort, text)
        if term.kind is Kind.SYMBOL:
            return self._member(term) if is_member(term) else self._symbol(term)
        if term.kind is Kind.OPERATOR:
            args = [self.make(a) for a in term.args]
            if term.name == "@":
                return self._apply(term.sort, APPLY, args)
            return self._apply_operator(term.name, indices_of(term), args, self.sorts.own(term.sort))
        raise Unsupported("a term of the corpus that no call makes")

    def _sort(self, sort: Sort) -> ApiSort:
        return ensure_sort(self.run, self.sorts.own(sort))

    def _value(self, sort: Sort, text: str) -> ApiTerm:
        return self.run.make_term(MakeValue(self._sort(sort), text))

    # Symbols of the script

    def _symbol(self, term: Term) -> ApiTerm:
        declaration = term.op.declaration
        assert declaration is not None  # FedTerm.left_out
        if not declaration.params:
            return self._constant(term)
        self.run.require(Feature.FUNCTIONS)
        function = self.functions.get(declaration)
        if function is None:
            params = tuple([self._sort(p) for p in declaration.params])
            name = self.run.fresh_name("f")
            function = self.run.make_term(MakeFunction(name, params, self._sort(declaration.result)))
            self.functions[declaration] = function
        if not term.args:
            return function
        args = [self.make(a) for a in term.args]
        return self._apply(term.sort, APPLY, [function, *args])

    def _apply(self, sort: Sort, head: Head, args: Iterable[ApiTerm]) -> ApiTerm:
        return self.run.make_term(MakeTerm(self._sort(sort), head, tuple(args)))

    def _constant(self, term: Term) -> ApiTerm:
        sort = self.sorts.own(term.sort)
        if self.run.random.happens(_REUSED_SHARE):
            known = self.run.store.pick_closed(sort, self.run.random)
            if known is not None:
                return known
        if not allowed(self.run, "constant", sort):
            raise Unsupported(f"no constants of sort {sort}")
        if sort.is_function:
            return ensure_term(self.run, sort)
        return self.run.make_term(MakeConstant(ensure_sort(self.run, sort), self.run.fresh_name("c")))

    # Datatypes

    def _member(self, term: Term) -> ApiTerm:
        declaration = term.op.declaration
        assert declaration is not None  # is_member
        if declaration.params and not term.args:
            raise Unsupported("a member of a datatype that is not applied")
        if declaration.origin == "constructor":
            kind = HeadKind.TESTER if term.op.indices else HeadKind.CONSTRUCTOR
        else:
            kind = HeadKind.UPDATER if term.op.indices else HeadKind.SELECTOR
        datatype = term.sort if kind is HeadKind.CONSTRUCTOR else term.args[0].sort
        args = [self.make(a) for a in term.args]
        return self._apply_member(kind, declaration, datatype, term.sort, args)

    def _apply_member(
        self, kind: HeadKind, member: Declaration, datatype: Sort, result: Sort, args: Iterable[ApiTerm]
    ) -> ApiTerm:
        return self._apply(result, Head(kind, self.sorts.member(datatype, member)), args)

    def _match(self, term: Term) -> ApiTerm:
        """``(ite (is-A x) BODY (ite (is-B x) BODY ... BODY))``; the last case needs no test."""
        datatype = term.args[0].sort
        scrutinee = self.make(term.args[0])
        constructors = {c.declaration.name: c for d in self.fed.group(datatype) for c in d.constructors}
        cases: list[tuple[Declaration | None, ApiTerm]] = []
        for (name, variables), body in zip(term.patterns, term.args[1:], strict=True):
            outer = self._enter(variables)
            if not name:
                self.made[variables[0]] = scrutinee
                cases.append((None, self.make(body)))
                self._leave(outer, variables)
                break
            used = free_variables(body)
            for variable, selector in zip(variables, constructors[name].selectors, strict=True):
                if variable in used:
                    self.made[variable] = self._apply_member(
                        HeadKind.SELECTOR, selector, datatype, variable.sort, [scrutinee]
                    )
            cases.append((constructors[name].declaration, self.make(body)))
            self._leave(outer, variables)
        _, result = cases.pop()
        for constructor, made in reversed(cases):
            assert constructor is not None  # only the last case is for any value
            test = self._apply_member(HeadKind.TESTER, constructor, datatype, BOOL, [scrutinee])
            result = self._apply_operator("ite", (), [test, made, result], made.sort.sort)
        return result

    # Operators

    def _apply_operator(
        self, name: str, indices: tuple[int, ...], args: list[ApiTerm], result: Sort
    ) -> ApiTerm:
        run = self.run
        sorts = tuple([a.sort.sort for a in args])
        signature = signature_of(name, indices, sorts, result)
        if (
            (not args and name in _COMPARING)
            or signature is None
            or name in run.capabilities.without
            or not is_known(signature.only, run.engine.families)
            or not run.engine.takes(signature, sorts, result)
        ):
            meant = self._meant_by_few(name, args) if len(args) < 2 else None
            if meant is None:
                raise Unsupported(f"without {name}")
            return meant
        of_values = run.capabilities.value_arguments.get(name, ())
        if any(place in of_values and arg.kind is not TermKind.VALUE for place, arg in enumerate(args)):
            raise Unsupported(f"{name} of a term that is not a value")
        head = Head(HeadKind.OPERATOR, name, indices, None, signature.needs_as)
        return run.make_term(MakeTerm(ensure_sort(run, result), head, tuple(args)))

    def _meant_by_few(self, name: str, args: list[ApiTerm]) -> ApiTerm | None:
        """What ``(and)``, ``(+ x)`` or ``(distinct x)`` stands for; z3 takes them, few other solvers do."""
        if name in _COMPARING:
            return self._value(BOOL, "true")
        if args:
            return args[0] if name in _JOINING else None
        value = _OF_NONE.get(name)
        return None if value is None else self._value(BOOL, value)

    # Variables

    def _binder(self, term: Term) -> ApiTerm:
        if term.op.name not in self.run.capabilities.binders:
            raise Unsupported(f"without {term.op.name}")
        outer = self._enter(term.variables)
        variables = []
        for variable in term.variables:
            sort = self.sorts.own(variable.sort)
            if not allowed(self.run, "quantifier", sort):
                raise Unsupported(f"no variables of sort {sort}")
            name = self.run.fresh_name("x")
            variables.append(self.run.make_term(MakeVariable(ensure_sort(self.run, sort), name)))
            self.made[variable] = variables[-1]
        body = self.make(term.args[0])
        made = self.run.make_term(MakeBinder(self._sort(term.sort), term.op.name, tuple(variables), body))
        self._leave(outer, term.variables)
        bound = frozenset(variables)
        self.made = {t: a for t, a in self.made.items() if a.free.isdisjoint(bound)}
        return made

    def _enter(self, variables: Iterable[Term]) -> dict[Term, ApiTerm]:
        """Enter the scope of ``variables``; returns what :meth:`_leave` needs.

        Outer variables of the same names are hidden: terms made of those cannot be used inside.
        """
        outer = self.made
        self.made = self._without(variables)
        return outer

    def _leave(self, outer: dict[Term, ApiTerm], variables: Iterable[Term]) -> None:
        self.made = {**self._without(variables), **outer}

    def _without(self, variables: Iterable[Term]) -> dict[Term, ApiTerm]:
        hidden = set(variables)
        return {t: a for t, a in self.made.items() if hidden.isdisjoint(free_variables(t))}
