"""The strategy ``skeletons``: history-driven skeleton enumeration.

Source: Sun et al., "Validating SMT Solvers via Skeleton Enumeration Empowered by Historical
Bug-Triggering Inputs" (ICSE 2023), Algorithm 1 and Section III-B/C: skeletons of past bugs are filled
with atoms of past bugs; an association rule whose antecedent the atoms so far meet, and that was not used
yet in this skeleton, picks the next atom, else chance does; symbols are renamed apart by sort, then variables
of equal sorts are translocated; binders get variables of the atoms below them, or new ones.

Everything that costs was done when the corpus was learned. Making a test is choosing and joining.
"""

from __future__ import annotations

import bisect
import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from generator.declaring import StrategyEntry, StrategyInputs
from generator.levels import CHECK, INCREMENTAL, is_incremental, on_levels
from generator.library import Library, RuleTemplate
from generator.naming import Declarations
from generator.seeds.script import UNBINDABLE
from generator.settings import Setting
from generator.strategy import GeneratedTest
from generator.targets import NO_TARGETS, AcceptedParts, Targets
from generator.templates import AtomTemplate, Rank, SkeletonTemplate
from generator.text import header

_T = TypeVar("_T")

ASSERTION_COUNTS = ((1, 0.15), (2, 0.20), (3, 0.42), (4, 0.15), (5, 0.08))
"""How many assertions a test has, and how often: 1 to 5, mostly 3, on average 2.8 (Section III-C)."""

THEME_SHARES = {"one": (0.97,), "mixed": (0.97, 0.75, 0.5)}
"""Share of free choices that stay in the test's theme; where there are several, drawn per test. Every
further theory costs decided tests: of 500 tests, z3 and cvc5 both decided 91 % of those in one theory within
a second, 72 % in two, 59 % in three."""

SETTINGS = (
    Setting(
        "themes", "one", "whether each test uses one theory, or some mix several", choices=(*THEME_SHARES,)
    ),
    INCREMENTAL,
)

_COUPLED_SHARE = 0.5
"""Share of choices within the theme that look for an atom with a symbol of a rank in use: bit-vectors
of different widths, or arrays of different sorts, say nothing about each other."""

_FEW = 4
"""Where fewer atoms than this have such a symbol, the whole theme is drawn from."""

_SIMPLE_SHARE = 0.45
"""Share of tests whose skeletons have no quantifier; else about nine tests in ten would have one."""

_UNBOUND_SHARE = 0.35
"""Share of binders whose variable does not occur below (the paper's motivating bug had one)."""

_SHARES = (0.5, 0.75, 0.92)
"""How often a slot takes a symbol in use rather than a new one; drawn per test."""

_CROWDS = (2, 4, 7)
"""With this many symbols of a rank in use no more are made; drawn per test. Published formulas have few: 2 at
the median, 12 at the ninth decile."""

_REPEAT_SHARE = 0.05
"""Share of such meetings in which two slots of one atom do get the same symbol."""

_LARGE = 6
"""Skeletons with more holes than this are drawn less often, by the square: tests stay small (III-C)."""

_SMALLER_SHARE = 0.6
"""Share of free choices that take the smaller of two atoms drawn."""

_GROUND_REDRAWN = 0.7
"""Share of free choices of an atom without a symbol that are drawn again: such an atom is true or false."""

_REDRAWN = 20
"""How often another part is drawn where a target refuses the one drawn; then a known accepted one is used."""


@dataclass(slots=True)
class _Placed:
    """An atom in a hole, with the names that fill its slots."""

    atom: AtomTemplate
    names: list[str]


@dataclass(frozen=True, slots=True)
class _Theme:
    """Atoms that a test draws from, and those of them with a slot of each rank.

    ``accepted`` are some that the targets accept, ``bound`` some that they accept below quantifiers; no
    atom where everything is accepted.
    """

    atoms: Sequence[AtomTemplate]
    by_rank: dict[Rank, list[AtomTemplate]]
    accepted: Sequence[AtomTemplate]
    bound: Sequence[AtomTemplate]

    @classmethod
    def of(
        cls,
        atoms: Sequence[AtomTemplate],
        accepted: Sequence[AtomTemplate],
        bound: Sequence[AtomTemplate],
    ) -> _Theme:
        by_rank: dict[Rank, list[AtomTemplate]] = {}
        for atom in atoms:
            for rank in dict.fromkeys(atom.ranks):
                by_rank.setdefault(rank, []).append(atom)
        return cls(
            atoms,
            {rank: found for rank, found in by_rank.items() if len(found) >= _FEW},
            accepted,
            bound,
        )

    def coupled(self, ranks: Sequence[Rank], chance: Callable[[], float]) -> Sequence[AtomTemplate]:
        """Atoms with a slot of one of these ranks, or all."""
        return self.by_rank.get(ranks[int(chance() * len(ranks))], self.atoms)


@dataclass(slots=True)
class _Draft:
    """What one test has come to so far."""

    declarations: Declarations
    theme: _Theme
    theme_share: float
    share: float
    crowd: int
    is_incremental: bool
    ranks: list[Rank] = field(default_factory=list)
    atoms: list[int] = field(default_factory=list)
    rules: list[int] = field(default_factory=list)
    issues: dict[str, None] = field(default_factory=dict)
    bound: bool = False
    """Whether the test has quantifiers."""


class SkeletonStrategy:
    """Makes test ``index`` from ``(seed, index)`` and the library alone.

    ``themes`` is a key of :data:`THEME_SHARES`, ``incremental`` the share of tests with push, pop and several
    check-sat.
    """

    name = "skeletons"

    def __init__(
        self,
        library: Library,
        seed: int,
        targets: Targets = NO_TARGETS,
        *,
        themes: str = "one",
        incremental: float = 0.0,
    ) -> None:
        self.library = library
        self.seed = seed
        self._theme_shares = THEME_SHARES[themes]
        self._incremental = incremental
        given = {"themes": themes, "incremental": incremental}
        self.settings = {s.name: given[s.name] for s in SETTINGS if given[s.name] != s.default}
        """The settings that are not the defaults."""
        self._asks = bool(targets)
        self._parts = AcceptedParts(targets)
        self._all = _weighted(library.skeletons)
        self._simple = _weighted(
            [s for s in library.skeletons if not s.skeleton.binders] or library.skeletons
        )
        self._count_bounds = list(itertools.accumulate(share for _, share in ASSERTION_COUNTS))

    @cached_property
    def _by_theory(self) -> dict[str, _Theme]:
        """What tests draw from. Made for the first test: the targets are asked about samples."""
        parts = self._parts
        groups = self.library.themes()
        samples = parts.settle(
            lambda: [
                (parts.sample(atoms, parts.accept_atom), parts.sample(atoms, parts.accept_bound_atom))
                for _, atoms in groups
            ]
        )
        found = {name: _Theme.of(atoms, *some) for (name, atoms), some in zip(groups, samples, strict=True)}
        if self._asks:
            # Where nothing is accepted at all, the hunt says so.
            found = {name: theme for name, theme in found.items() if theme.accepted} or found
        return found

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """The theories that lead tests; ``class_of`` returns the one that a test has."""
        return tuple(self._by_theory)

    @cached_property
    def _theme_bounds(self) -> list[float]:
        """A theme's weight grows slower than its size, so that small theories get their turn."""
        return list(itertools.accumulate(len(theme.atoms) ** 0.5 for theme in self._by_theory.values()))

    @cached_property
    def _accepted_skeletons(self) -> list[SkeletonTemplate]:
        parts = self._parts
        return parts.settle(lambda: parts.sample(self.library.skeletons, parts.accept_skeleton))

    @property
    def fingerprint(self) -> str:
        """Names the corpus that the tests come from."""
        return self.library.fingerprint

    def generate(self, start: int, stop: int) -> Iterator[GeneratedTest]:
        """Yield the tests with ``start <= index < stop``."""
        for index in range(start, stop):
            yield self.test(index)

    def class_of(self, index: int) -> str:
        """The leading theory of the test of this index, without making the test."""
        chance = random.Random((self.seed << 40) ^ index).random
        return self.classes[_pick(self._theme_bounds, chance)]

    def test(self, index: int) -> GeneratedTest:
        """The test of this index."""
        return self._parts.settle(lambda: self._test(index)) if self._asks else self._test(index)

    def _test(self, index: int) -> GeneratedTest:
        rng = random.Random((self.seed << 40) ^ index)
        chance = rng.random
        theme = self._by_theory[self.classes[_pick(self._theme_bounds, chance)]]
        # class_of draws the theme alone, so it comes first.
        draft = _Draft(
            Declarations(),
            theme,
            _one_of(self._theme_shares, chance),
            _SHARES[int(chance() * len(_SHARES))],
            _CROWDS[int(chance() * len(_CROWDS))],
            is_incremental(self._incremental, chance),
        )
        count = ASSERTION_COUNTS[_pick(self._count_bounds, chance)][0]
        if draft.is_incremental:
            count = min(10, count * 2)
        simple = chance() < _SIMPLE_SHARE or bool(draft.theme.accepted and not draft.theme.bound)
        pool, bounds = self._simple if simple else self._all
        skeletons = [pool[_pick(bounds, chance)] for _ in range(count)]
        if self._asks:
            draw, accepts = lambda: pool[_pick(bounds, chance)], self._parts.accept_skeleton
            skeletons = [
                _accepted(drawn, draw, accepts, self._accepted_skeletons, chance) for drawn in skeletons
            ]
            draft.bound = any(s.skeleton.binders for s in skeletons)
        lines = [f"(assert {self._fill(skeleton, draft, chance)})\n" for skeleton in skeletons]
        body = "".join(on_levels(lines, chance) if draft.is_incremental else [*lines, CHECK])
        for skeleton in skeletons:
            draft.issues.setdefault(skeleton.issue)
        draft.issues.pop("", None)
        numbers = tuple(s.id for s in skeletons)
        came_from = (numbers, draft.atoms, draft.rules, draft.issues)
        head = header(self.library.fingerprint, self.seed, index, self.name, *came_from, self.settings)
        text = f"{head}(set-logic ALL)\n{draft.declarations.text()}{body}"
        return GeneratedTest(
            index, text, self.name, numbers, tuple(draft.atoms), tuple(draft.rules), tuple(draft.issues)
        )

    # Filling a skeleton (Algorithm 1, Populate)

    def _fill(self, skeleton: SkeletonTemplate, draft: _Draft, chance: Callable[[], float]) -> str:
        """The skeleton's formula with atoms in its holes and variables in its binders."""
        atoms = self._choose_atoms(skeleton.skeleton.holes, draft, chance)
        placed = [_Placed(atom, self._choose_names(atom, draft, chance)) for atom in atoms]
        bound = self._populate_binders(skeleton, placed, draft, chance)
        declarations = draft.declarations
        for position, occupant in enumerate(placed):
            hidden = {name for q in skeleton.enclosing[position] for name, _ in bound[q]}
            declarations.use(occupant.atom.atom.prelude, occupant.names, hidden)
            draft.atoms.append(occupant.atom.id)
            draft.issues.setdefault(occupant.atom.issue)
        binders = [" ".join([f"({name} {sort})" for name, sort in pairs]) for pairs in bound]
        return skeleton.skeleton.fill([p.atom.atom.join(p.names) for p in placed], binders)

    def _choose_atoms(self, count: int, draft: _Draft, chance: Callable[[], float]) -> list[AtomTemplate]:
        """Atoms for ``count`` holes: by a rule that is met and not used yet, else by chance."""
        library = self.library
        chosen: list[AtomTemplate] = []
        abstract: set[int] = set()
        used: set[int] = set()
        met: list[RuleTemplate] = []
        for _ in range(count):
            atom = None
            while met and atom is None:
                rule = met.pop(int(chance() * len(met)))
                used.add(rule.id)
                atom = self._atom_of_rule(rule, abstract, draft.bound, chance)
                if atom is not None:
                    draft.rules.append(rule.id)
            if atom is None:
                atom = self._random_atom(draft, chance)
            chosen.append(atom)
            draft.ranks.extend(atom.ranks)
            signature = atom.signature
            if signature not in abstract:
                abstract.add(signature)
                met.extend(
                    rule
                    for rule in library.rules_by_signature.get(signature, ())
                    if rule.id not in used and rule.antecedent <= abstract
                )
        return chosen

    def _random_atom(self, draft: _Draft, chance: Callable[[], float]) -> AtomTemplate:
        """An atom that the targets accept."""
        drawn = self._any_atom(draft, chance)
        if not self._asks:
            return drawn
        accepts, known = self._parts.accept_atom, draft.theme.accepted
        if draft.bound:
            accepts, known = self._parts.accept_bound_atom, draft.theme.bound
        return _accepted(drawn, lambda: self._any_atom(draft, chance), accepts, known, chance)

    def _any_atom(self, draft: _Draft, chance: Callable[[], float]) -> AtomTemplate:
        if chance() >= draft.theme_share:
            pool: Sequence[AtomTemplate] = self.library.atoms
        elif draft.ranks and chance() < _COUPLED_SHARE:
            pool = draft.theme.coupled(draft.ranks, chance)
        else:
            pool = draft.theme.atoms
        atom = pool[int(chance() * len(pool))]
        if not atom.ranks and chance() < _GROUND_REDRAWN:
            atom = pool[int(chance() * len(pool))]
        if chance() < _SMALLER_SHARE:
            other = pool[int(chance() * len(pool))]
            if other.ranks and other.atom.size < atom.atom.size:
                return other
        return atom

    def _atom_of_rule(
        self, rule: RuleTemplate, abstract: set[int], bound: bool, chance: Callable[[], float]
    ) -> AtomTemplate | None:
        """An atom with a signature of the rule's consequent, one not placed yet where there is one."""
        missing = [s for s in rule.consequent if s not in abstract] or list(rule.consequent)
        pool = self.library.by_signature.get(missing[int(chance() * len(missing))])
        atom = pool[int(chance() * len(pool))] if pool else None
        if atom is None or not self._asks:
            return atom
        accepts = self._parts.accept_bound_atom if bound else self._parts.accept_atom
        return atom if accepts(atom) else None

    @staticmethod
    def _choose_names(atom: AtomTemplate, draft: _Draft, chance: Callable[[], float]) -> list[str]:
        """Symbols for an atom's slots: new ones, or by translocation ones of the same rank in use."""
        names: list[str] = []
        declarations = draft.declarations
        # The same symbol in two slots of one atom says little, (= x x), and nothing in (distinct x x).
        apart = atom.atom.segments[0].startswith("(distinct")
        for rank in atom.ranks:
            known = declarations.of_rank(rank)
            crowded = len(known) >= draft.crowd
            if known and (crowded or chance() < draft.share):
                name = known[int(chance() * len(known))]
                if name in names and (apart or chance() >= _REPEAT_SHARE):
                    name = next((n for n in known if n not in names), name if crowded and not apart else "")
                if name:
                    names.append(name)
                    continue
            names.append(declarations.new(rank))
        return names

    def _populate_binders(
        self, skeleton: SkeletonTemplate, placed: list[_Placed], draft: _Draft, chance: Callable[[], float]
    ) -> list[list[tuple[str, str]]]:
        """Per quantifier its variables: name and sort, outermost quantifier first."""
        bound: list[list[tuple[str, str]]] = []
        taken: list[set[str]] = []
        for number, binder in enumerate(skeleton.skeleton.binders):
            below = placed[binder.first_hole : binder.end_hole]
            outer = {name for q in skeleton.outer(number) for name in taken[q]}
            candidates = _candidates(below, outer)
            pairs: list[tuple[str, str]] = []
            for _ in range(binder.variables):
                if candidates and chance() >= _UNBOUND_SHARE:
                    pairs.append(candidates.pop(_early(len(candidates), chance)))
                else:
                    pairs.append((draft.declarations.new_bound(), self._any_sort(below, chance)))
            bound.append(pairs)
            taken.append({name for name, _ in pairs})
        return bound

    @staticmethod
    def _any_sort(below: list[_Placed], chance: Callable[[], float]) -> str:
        """A sort for a variable that does not occur: one of those below the binder, else Bool."""
        sorts = [rank[1] for p in below for rank in p.atom.ranks if not rank[0] and rank[1] not in UNBINDABLE]
        return sorts[int(chance() * len(sorts))] if sorts else "Bool"


def _weighted(skeletons: Sequence[SkeletonTemplate]) -> tuple[Sequence[SkeletonTemplate], list[float]]:
    """Skeletons with accumulated weights: large ones are drawn less often."""
    weights = (min(1.0, (_LARGE / max(1, s.skeleton.holes)) ** 2) for s in skeletons)
    return skeletons, list(itertools.accumulate(weights))


def _pick(bounds: list[float], chance: Callable[[], float]) -> int:
    """An index drawn by accumulated weights."""
    return min(bisect.bisect(bounds, chance() * bounds[-1]), len(bounds) - 1)


def _one_of(values: Sequence[_T], chance: Callable[[], float]) -> _T:
    """One of ``values``; a single one is not drawn, so that tests without a choice stay what they are."""
    return values[int(chance() * len(values))] if len(values) > 1 else values[0]


def _accepted(
    drawn: _T,
    draw: Callable[[], _T],
    accepts: Callable[[_T], bool],
    known: Sequence[_T],
    chance: Callable[[], float],
) -> _T:
    """``drawn`` if it is accepted, else another one; after some draws one of ``known``, if there are any."""
    for _ in range(_REDRAWN):
        if accepts(drawn):
            return drawn
        drawn = draw()
    return known[int(chance() * len(known))] if known else drawn


def _early(count: int, chance: Callable[[], float]) -> int:
    """An index below ``count``, small ones more often."""
    return int(chance() * chance() * count)


def _candidates(below: list[_Placed], outer: set[str]) -> list[tuple[str, str]]:
    """Variables a binder can take: those of the atoms below, not bound further out; once bound ones first."""
    found: dict[tuple[str, str], bool] = {}
    for occupant in below:
        atom = occupant.atom
        for name, rank, was_bound in zip(occupant.names, atom.ranks, atom.bound, strict=True):
            if not rank[0] and name not in outer and rank[1] not in UNBINDABLE:
                pair = (name, rank[1])
                found[pair] = found.get(pair, False) or was_bound
    return sorted(found, key=lambda pair: not found[pair])


def _make(inputs: StrategyInputs) -> SkeletonStrategy:
    return SkeletonStrategy(
        inputs.library,
        inputs.settings.seed,
        inputs.targets,
        themes=str(inputs.values["themes"]),
        incremental=float(inputs.values["incremental"]),
    )


ENTRY = StrategyEntry(
    "skeletons",
    "skeletons of past bugs filled with atoms of past bugs, guided by association rules",
    "a learned corpus",
    "nothing",
    _make,
    settings=SETTINGS,
)
