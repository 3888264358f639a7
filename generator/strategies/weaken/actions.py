"""What can be done at a place: the uses of pattern rules, and the changes that functions make."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from generator.strategies.weaken.binders import CHANGES, Changer, Finder
from generator.strategies.weaken.conditions import holds
from generator.strategies.weaken.patterns import (
    Application,
    Bits,
    Match,
    NoTerm,
    Number,
    Run,
    Variable,
    match,
)
from generator.strategies.weaken.ruleset import (
    KEEPS,
    STRENGTHENS,
    WEAKENS,
    Rewrite,
    Rule,
    RuleSet,
    default_rules,
)
from generator.strategies.weaken.site import Site
from smtlib import Kind, Sort, SortError, Term
from smtlib.signature import evaluate_index
from smtlib.values import Value, literal_value

_CONSTANT_DRAWS = 12
_MOST_KEPT = 50_000


@dataclass(frozen=True, slots=True, eq=False)
class RuleUse:
    """A pattern rule, used one way."""

    number: int
    rule: Rule
    effect: int
    rewrite: Rewrite

    def applies(self, term: Term) -> bool:
        """Whether the pattern fits and its condition is not known to be false."""
        return self._matched(term, None) is not None

    def _matched(self, term: Term, chance: random.Random | None) -> Match | None:
        rewrite = self.rewrite
        law = rewrite.law
        found = Match(domains=law.domains, chance=chance)
        if not match(rewrite.source, term, found):
            return None
        if law.condition is not None and not rewrite.needs_drawn_constants:
            if not holds(law.condition, _values(found)):
                return None
        if law.where is not None and not law.ranges and not evaluate_index(law.where, found.sorts):
            return None
        return found

    def apply(self, term: Term, site: Site) -> Term:
        """The changed term. Raises :class:`NoTerm` where something needed for it cannot be found."""
        found = self._matched(term, site.chance) or self._matched(term, None)
        if found is None:
            raise NoTerm
        self._choose_indices(found, site.chance)
        try:
            self._choose_terms(found, site)
            made = site.builder.build(self.rewrite.target, found)
        except (SortError, KeyError) as error:
            raise NoTerm from error
        if made.sort is not term.sort:
            raise NoTerm
        return made

    def _choose_indices(self, found: Match, chance: random.Random) -> None:
        law = self.rewrite.law
        for name, (least, most) in law.ranges.items():
            if name in found.sorts:
                continue
            low, high = evaluate_index(least, found.sorts), evaluate_index(most, found.sorts)
            if low > high:
                raise NoTerm
            found.sorts[name] = chance.randint(low, high)
        if law.ranges and law.where is not None and not evaluate_index(law.where, found.sorts):
            raise NoTerm

    def _choose_terms(self, found: Match, site: Site) -> None:
        rewrite = self.rewrite
        for variable in rewrite.chosen:
            if not variable.constant:
                sort = self._sort_of(variable, found, site)
                found.terms[variable.name] = site.terms.term(sort, site.scope, site.chance)
        constants = [v for v in rewrite.chosen if v.constant]
        for _ in range(_CONSTANT_DRAWS if constants else 0):
            for variable in constants:
                sort = self._sort_of(variable, found, site)
                found.terms[variable.name] = site.terms.constant(sort, site.chance)
            if rewrite.law.condition is None or holds(rewrite.law.condition, _values(found)):
                return
        if constants:
            raise NoTerm

    def _sort_of(self, variable: Variable, found: Match, site: Site) -> Sort:
        """The sort of a variable that is chosen; a parameter that nothing fixes is chosen, too."""
        try:
            return variable.sort.instantiate(found.sorts)
        except KeyError:
            fitting = [s for s in site.terms.sorts() if found.copy().fits(variable.sort, s)]
            if not fitting:
                raise NoTerm from None
            sort = site.chance.choice(fitting)
            found.fits(variable.sort, sort)
            return sort


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """A rule applied by a function, for one of its effects."""

    number: int
    rule: Rule
    effect: int
    finder: Finder
    changer: Changer

    def applies(self, term: Term) -> bool:
        """Whether it is worth a try."""
        return self.effect in self.finder(term)

    def apply(self, term: Term, site: Site) -> Term:
        """The changed term. Raises :class:`NoTerm`."""
        site.effect = self.effect
        try:
            return self.changer(term, site)
        except SortError as error:
            raise NoTerm from error


Action: TypeAlias = RuleUse | Change


def _values(found: Match) -> dict[str, Value]:
    return {name: value for name, t in found.terms.items() if (value := literal_value(t)) is not None}


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """Actions that apply to the same terms, by what a place needs (see :meth:`at`)."""

    _actions: tuple[dict[Rule, list[Action]], ...]

    @classmethod
    def of(cls, actions: Sequence[Action]) -> Profile:
        """The profile of terms to which just these apply."""
        # The last one is at -1.
        found: tuple[dict[Rule, list[Action]], ...] = ({}, {}, {})
        for action in actions:
            for need in (0, 1, -1) if action.effect == KEEPS else (action.effect,):
                found[need].setdefault(action.rule, []).append(action)
        return cls(found)

    def at(self, need: int) -> dict[Rule, list[Action]]:
        """The actions by rule, where the place's parity times the walk's direction is ``need``."""
        return self._actions[need]


_Shape: TypeAlias = "tuple[tuple[Action, ...], tuple[Action, ...]]"
"""The actions for terms that look alike from outside: those that apply to all, and those that may."""


class Actions:
    """All actions, and which apply to a term. Terms of one shape are looked through once."""

    def __init__(self, rules: RuleSet) -> None:
        numbers = itertools.count()
        self.all: list[Action] = [RuleUse(next(numbers), r.rule, r.effect, r) for r in rules.rewrites]
        self._by_head: dict[str, list[Action]] = {}
        self._of_any_head: list[Action] = []
        for action, rewrite in zip(self.all, rules.rewrites, strict=True):
            source = rewrite.source
            self._file(action, (source.name,) if isinstance(source, Application) else ())
        for rule in rules.rules:
            if rule.by:
                heads, finder, changer = CHANGES[rule.by]
                for effect in (WEAKENS, KEEPS, STRENGTHENS):
                    change = Change(next(numbers), rule, effect, finder, changer)
                    self.all.append(change)
                    self._file(change, heads)
        self._shallow = frozenset(a.number for a in self.all if _is_shallow(a))
        self._shapes: dict[object, _Shape] = {}
        self._of_head: dict[tuple[int, ...], Profile] = {}
        self._of_sort: dict[tuple[Sort, bool], Profile] = {}

    def _file(self, action: Action, heads: tuple[str, ...]) -> None:
        for head in heads:
            self._by_head.setdefault(head, []).append(action)
        if not heads:
            self._of_any_head.append(action)

    def profiles(self, term: Term) -> tuple[Profile, ...]:
        """What applies to ``term``: by its sort, and by its head where something does. Equal ones are one."""
        kind = (term.sort, bool(term.args))
        by_sort = self._of_sort.get(kind)
        if by_sort is None:
            by_sort = self._of_sort[kind] = Profile.of([a for a in self._of_any_head if a.applies(term)])
        if term.op.name not in self._by_head:
            return (by_sort,)
        certain, possible = self._shape(term)
        actions = (*certain, *[a for a in possible if a.applies(term)])
        if not actions:
            return (by_sort,)
        key = tuple([a.number for a in actions])
        by_head = self._of_head.get(key)
        if by_head is None:
            if len(self._of_head) > _MOST_KEPT:
                self._of_head.clear()
            by_head = self._of_head[key] = Profile.of(actions)
        return (by_sort, by_head)

    def _shape(self, term: Term) -> _Shape:
        key = (term.op.name, term.op.kind, term.sort, tuple([(a.sort, _outside(a)) for a in term.args]))
        found = self._shapes.get(key)
        if found is None:
            fitting = [a for a in self._by_head[term.op.name] if _may_apply(a, term)]
            if len(self._shapes) > _MOST_KEPT:
                self._shapes.clear()
            certain = tuple(a for a in fitting if a.number in self._shallow and a.applies(term))
            possible = tuple(a for a in fitting if a.number not in self._shallow)
            found = self._shapes[key] = (certain, possible)
        return found


def _outside(term: Term) -> str:
    """What a pattern of depth two sees of an argument."""
    if term.op.kind is Kind.OPERATOR:
        return term.op.name
    return "0" if term.op.kind is Kind.LITERAL else ""


def _is_shallow(action: Action) -> bool:
    """Whether a term's shape alone decides if the action applies."""
    if isinstance(action, Change):
        return False
    source = action.rewrite.source
    if action.rewrite.law.condition is not None and not action.rewrite.needs_drawn_constants:
        return False
    if isinstance(source, Variable):
        return not source.constant
    assert isinstance(source, Application)
    names = [a.name for a in source.args if isinstance(a, Variable | Run)]
    if source.indices or source.qualifier or len(set(names)) < len(source.args):
        return False
    return not any(isinstance(a, Variable) and a.constant for a in source.args)


def _may_apply(action: Action, term: Term) -> bool:
    """Whether an action can apply to some term of the same shape."""
    if isinstance(action, Change):
        return True
    source = action.rewrite.source
    if not isinstance(source, Application) or source.has_runs:
        return True
    if term.op.kind is not Kind.OPERATOR or len(term.args) != len(source.args):
        return False
    for pattern, arg in zip(source.args, term.args, strict=True):
        if isinstance(pattern, Application):
            if _outside(arg) != pattern.name:
                return False
        elif isinstance(pattern, Variable):
            sort = pattern.sort
            if not sort.is_parameter and sort.name != arg.sort.name:
                return False
        elif isinstance(pattern, Number | Bits) and _outside(arg) != "0":
            return False
    return True


@lru_cache(maxsize=1)
def default_actions() -> Actions:
    """The actions of the shipped rules."""
    return Actions(default_rules())
