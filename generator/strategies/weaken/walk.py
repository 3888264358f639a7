"""Walks: a formula changed step by step, every step in the same direction.

Each step first chooses a rule among those that apply somewhere, by the rules' weights, then one of the
places, then one of the rule's uses there (Algorithm 1 of the source with the rule chosen first). What applies
to a term is found once: terms are shared, so a step looks at new terms only.
"""

from __future__ import annotations

import itertools
import random
from bisect import bisect
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from generator.scopes import free_prefix, names_of
from generator.seeds.script import SeedScript
from generator.strategies.weaken.actions import Actions, Profile, default_actions
from generator.strategies.weaken.parity import steps
from generator.strategies.weaken.patterns import Builder, NoTerm
from generator.strategies.weaken.randomterms import RandomTerms
from generator.strategies.weaken.ruleset import Rule, common_theories
from generator.strategies.weaken.site import Site
from generator.targets import NO_TARGETS, AcceptedTerms, Targets
from smtlib import Kind, Sort, Term, print_term
from smtlib.application import Applications
from smtlib.environment import Environment

WEAKEN, KEEP, STRENGTHEN = 1, 0, -1
"""The direction of a walk; one that keeps uses equivalences alone."""

_TRIES = 40
"""Attempts of one step; nearly always the first or second succeeds."""

_GROWTH, _SLACK = 4, 200
"""An assertion grows to at most 4 times the seed's terms plus 200."""

_MOST_ASSERTIONS = 200
"""Of more assertions, a step looks at this many, drawn at random."""

_MOST_PLACES = 4000
"""Places of one assertion that are looked at; larger ones are looked at in part."""


@dataclass(slots=True, eq=False)
class _Place:
    """Occurrences of a term with one parity. ``above``: the places it is an argument of, and where."""

    term: Term
    parity: int
    above: list[tuple[_Place, int]] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class _Survey:
    """The places of an assertion, by profile and need."""

    groups: dict[tuple[Profile, int], list[_Place]]
    pool: dict[Sort, list[Term]]
    terms: int


@dataclass(frozen=True, slots=True)
class Applied:
    """One step: the rule, how many rules applied somewhere, and in which assertion it was done."""

    rule: str
    applicable: int
    assertion: int


class Walker:
    """Makes walks from one seed."""

    def __init__(
        self, script: SeedScript, actions: Actions | None = None, targets: Targets = NO_TARGETS
    ) -> None:
        self.script = script
        self.actions = actions or default_actions()
        self.table = script.table.copy()
        self.terms = RandomTerms(script, self.table)
        self.counts: Counter[str] = Counter()
        self._profiles: dict[Term, tuple[Profile, ...]] = {}
        self._surveys: dict[tuple[Term, int], _Survey] = {}
        self._numbers = itertools.count(1)
        self._prefix = free_prefix("w!", names_of(script))
        self.builder = Builder(Applications(Environment(common_theories()), self.table), self._fresh)
        self._functions = tuple(d for d in script.declarations if d.params)
        self._accepted = AcceptedTerms(targets, script)
        self._limit = _GROWTH * len(script.table) + _SLACK
        self._texts = dict(script.assertion_texts)

    def _fresh(self, sort: Sort) -> Term:
        return self.table.variable(f"{self._prefix}{next(self._numbers)}", sort)

    def text(self, assertions: Sequence[Term]) -> str:
        """The script with these assertions; most of them were printed for a step before."""
        return self.script.text(assertions, printed=self._printed)

    def _printed(self, term: Term) -> str:
        if term not in self._texts:
            self._texts[term] = print_term(term)
        return self._texts[term]

    def step(
        self, assertions: Sequence[Term], direction: int, chance: random.Random
    ) -> tuple[list[Term], Applied] | None:
        """``assertions`` after one step; None where no rule could be applied."""
        looked_at: Sequence[int] = range(len(assertions))
        if len(assertions) > _MOST_ASSERTIONS:
            looked_at = chance.sample(looked_at, _MOST_ASSERTIONS)
        surveys = {number: self._survey(assertions[number], direction) for number in looked_at}
        self.terms.use([s.pool for s in surveys.values()])
        keys = dict.fromkeys(key for survey in surveys.values() for key in survey.groups)
        rules = list(dict.fromkeys(rule for profile, need in keys for rule in profile.at(need)))
        applicable = len(rules)
        bounds = list(itertools.accumulate(rule.weight for rule in rules))
        for _ in range(_TRIES if rules else 0):
            rule = rules[min(bisect(bounds, chance.random() * bounds[-1]), applicable - 1)]
            made = self._try(rule, surveys, direction, chance)
            if made is not None:
                number, term = made
                changed = list(assertions)
                changed[number] = term
                return changed, Applied(rule.name, applicable, number)
        return None

    def _try(
        self,
        rule: Rule,
        surveys: Mapping[int, _Survey],
        direction: int,
        chance: random.Random,
    ) -> tuple[int, Term] | None:
        """The number of an assertion and what becomes of it by ``rule`` at a place drawn by chance."""
        choices = [
            (number, profile.at(need)[rule], places)
            for number, survey in surveys.items()
            for (profile, need), places in survey.groups.items()
            if rule in profile.at(need)
        ]
        number, actions, places = chance.choices(choices, [len(c[2]) for c in choices])[0]
        place = places[int(chance.random() * len(places))]
        action = actions[int(chance.random() * len(actions))]
        path, scope = _way_up(place, chance)
        try:
            term = action.apply(place.term, Site(self.builder, self.terms, self._functions, chance, scope))
        except NoTerm:
            self.counts[f"{rule.name}: nothing to choose"] += 1
            return None
        if term is place.term:
            return None
        if not self._accepted.accept(term):
            self.counts["refused by a target"] += 1
            return None
        for above, index in path:
            term = self.table.rebuild(above, (*above.args[:index], term, *above.args[index + 1 :]))
        if self._survey(term, direction).terms > self._limit:
            self.counts["grew too large"] += 1
            return None
        return number, term

    # What applies where

    def _survey(self, root: Term, direction: int) -> _Survey:
        known = self._surveys.get((root, direction))
        if known is not None:
            return known
        first = _Place(root, 1)
        places = {(root, 1): first}
        waiting = [first]
        terms: dict[Term, None] = {}
        groups: dict[tuple[Profile, int], list[_Place]] = {}
        for place in waiting:
            term, parity = place.term, place.parity
            terms[term] = None
            need = parity * direction
            # An annotation stays where it is: a :pattern means something right below its quantifier only.
            profiles = () if term.op.kind is Kind.ANNOTATION else self._profiles_of(term)
            for profile in profiles:
                if profile.at(need):
                    groups.setdefault((profile, need), []).append(place)
            if len(waiting) > _MOST_PLACES:
                continue
            for index, factor in steps(term):
                key = (term.args[index], parity * factor)
                below = places.get(key)
                if below is None:
                    below = places[key] = _Place(*key)
                    waiting.append(below)
                below.above.append((place, index))
        found = _Survey(groups, self.terms.pool(terms), len(terms))
        if len(self._surveys) > 500:
            self._surveys.clear()
        self._surveys[root, direction] = found
        return found

    def _profiles_of(self, term: Term) -> tuple[Profile, ...]:
        known = self._profiles.get(term)
        if known is None:
            known = self._profiles[term] = self.actions.profiles(term)
        return known


def _way_up(place: _Place, chance: random.Random) -> tuple[list[tuple[Term, int]], frozenset[Term]]:
    """One way from a place to the root: the terms above it, each with the argument it goes by; and the
    variables bound on the way."""
    path = []
    scope: set[Term] = set()
    while place.above:
        place, index = place.above[int(chance.random() * len(place.above))]
        term = place.term
        path.append((term, index))
        scope.update(term.bound_at(index))
    return path, frozenset(scope)
