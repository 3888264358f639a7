"""The strategy ``enumerate``: every filling of one skeleton up to a bound, each once, in a fixed order.

The holes run over the first ``atoms`` atoms of the library (the most frequent ones) that the targets accept,
the symbols of each rank over all ways to identify slots with each other (restricted growth strings, so that
no two fillings differ by renaming only, before binders are chosen) with at most ``symbols`` different ones,
and each binder over the variables below it and one that does not occur. Test ``index`` is the index-th of
this order, so an enumeration is resumed by the number it had reached.

Source of the growth strings: Zhang et al., "Skeletal Program Enumeration for Rigorous Compiler Testing"
(PLDI 2017), which the paper of the strategy ``skeletons`` builds on.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from generator.declaring import StrategyEntry, StrategyInputs
from generator.errors import GenerationError
from generator.library import Library
from generator.naming import Declarations
from generator.seeds.script import UNBINDABLE
from generator.strategy import GeneratedTest
from generator.targets import NO_TARGETS, AcceptedParts, Targets
from generator.templates import AtomTemplate, Rank, SkeletonTemplate
from generator.text import header

_Binder = tuple[str, str]
_Plan = tuple[Sequence[AtomTemplate], list[list[str]], list[list[_Binder]]]


ATOMS, SYMBOLS = 4, 3
"""How far an enumeration goes: atoms tried per hole, different symbols per rank."""


class EnumerationStrategy:
    """All fillings of one skeleton within a bound."""

    name = "enumerate"

    def __init__(
        self,
        library: Library,
        skeleton: SkeletonTemplate,
        targets: Targets = NO_TARGETS,
        atoms: int = ATOMS,
        symbols: int = SYMBOLS,
    ) -> None:
        self.library = library
        self.skeleton = skeleton
        self._atoms = atoms
        self._symbols = symbols
        self._parts = AcceptedParts(targets)
        self._rest: tuple[int, Iterator[_Plan]] | None = None
        """How many fillings the last range went through, and those behind it."""

    def __getstate__(self) -> dict[str, object]:
        """What workers are sent: all but the fillings that are under way."""
        return {**self.__dict__, "_rest": None}

    @property
    def fingerprint(self) -> str:
        """Names the corpus that the tests come from."""
        return self.library.fingerprint

    def generate(self, start: int = 0, stop: int | None = None) -> Iterator[GeneratedTest]:
        """Yield the fillings from number ``start`` on, up to ``stop`` or the end."""
        # Continue where the last range ended: starting from 0 for each range would be quadratic.
        reached, plans = self._rest or (0, self._plans())
        if reached > start:
            reached, plans = 0, self._plans()
        self._rest = None
        end = None if stop is None else max(start, stop) - reached
        for index, plan in enumerate(itertools.islice(plans, start - reached, end), start):
            yield self._test(index, *plan)
        if end is not None:
            self._rest = (reached + end, plans)

    def _plans(self) -> Iterator[_Plan]:
        parts = self._parts
        accepts = parts.accept_bound_atom if self.skeleton.skeleton.binders else parts.accept_atom
        pool = list(itertools.islice(filter(accepts, self.library.atoms), self._atoms))
        for atoms in itertools.product(pool, repeat=self.skeleton.skeleton.holes):
            for names in self._namings(atoms):
                for binders in self._binders(atoms, names):
                    yield atoms, names, binders

    def _namings(self, atoms: Sequence[AtomTemplate]) -> Iterator[list[list[str]]]:
        """All ways to give the atoms' slots symbols, up to renaming."""
        slots: dict[Rank, list[tuple[int, int]]] = {}
        for position, atom in enumerate(atoms):
            for slot, rank in enumerate(atom.ranks):
                slots.setdefault(rank, []).append((position, slot))
        for picked in _products([len(places) for places in slots.values()], self._symbols):
            names = [[""] * len(atom.ranks) for atom in atoms]
            for number, (rank, places) in enumerate(slots.items()):
                prefix = "f" if rank[0] else "x"
                for block, (position, slot) in zip(picked[number], places, strict=True):
                    names[position][slot] = f"{prefix}{number}_{block}"
            yield names

    def _binders(
        self, atoms: Sequence[AtomTemplate], names: list[list[str]]
    ) -> Iterator[list[list[_Binder]]]:
        """All ways to choose the variables of the binders, those of the last one changing fastest."""
        count = len(self.skeleton.skeleton.binders)
        chosen: list[list[_Binder]] = []
        # For each binder up to one its choices: there may be more binders than calls can be nested.
        choices = [self._choices(0, atoms, names, chosen)] if count else []
        if not count:
            yield []
        while choices:
            del chosen[len(choices) - 1 :]
            picked = next(choices[-1], None)
            if picked is None:
                choices.pop()
                continue
            chosen.append(picked)
            if len(chosen) == count:
                yield list(chosen)
            else:
                choices.append(self._choices(len(chosen), atoms, names, chosen))

    def _choices(
        self,
        quantifier: int,
        atoms: Sequence[AtomTemplate],
        names: list[list[str]],
        chosen: list[list[_Binder]],
    ) -> Iterator[list[_Binder]]:
        """The ways to choose the variables of a binder, where those before it are ``chosen``."""
        binder = self.skeleton.skeleton.binders[quantifier]
        taken = {name for q in self.skeleton.outer(quantifier) for name, _ in chosen[q]}
        candidates: dict[_Binder, None] = {}
        for position in range(binder.first_hole, binder.end_hole):
            for name, (params, sort) in zip(names[position], atoms[position].ranks, strict=True):
                if not params and name not in taken and sort not in UNBINDABLE:
                    candidates.setdefault((name, sort))
        fallback = next(iter(candidates), ("", "Bool"))[1]
        fresh = [(f"z{quantifier}_{i}", fallback) for i in range(binder.variables)]
        for count in range(min(binder.variables, len(candidates)), -1, -1):
            for picked in itertools.permutations(candidates, count):
                yield [*picked, *fresh[count:]]

    def _test(
        self, index: int, atoms: Sequence[AtomTemplate], names: list[list[str]], binders: list[list[_Binder]]
    ) -> GeneratedTest:
        declarations = Declarations()
        issues = {self.skeleton.issue: None}
        for position, atom in enumerate(atoms):
            hidden = {name for q in self.skeleton.enclosing[position] for name, _ in binders[q]}
            for name, rank in zip(names[position], atom.ranks, strict=True):
                declarations.add(name, rank)
            declarations.use(atom.atom.prelude, names[position], hidden)
            issues.setdefault(atom.issue)
        issues.pop("", None)
        formula = self.skeleton.skeleton.fill(
            [atom.atom.join(chosen) for atom, chosen in zip(atoms, names, strict=True)],
            [" ".join(f"({name} {sort})" for name, sort in pairs) for pairs in binders],
        )
        identifiers = tuple(atom.id for atom in atoms)
        text = (
            header(
                self.library.fingerprint, 0, index, self.name, (self.skeleton.id,), identifiers, (), issues
            )
            + f"(set-logic ALL)\n{declarations.text()}(assert {formula})\n(check-sat)\n"
        )
        return GeneratedTest(index, text, self.name, (self.skeleton.id,), identifiers, (), tuple(issues))


def _products(lengths: Sequence[int], blocks: int) -> Iterator[list[tuple[int, ...]]]:
    """All ways to choose a growth string of each length, the last one changing fastest; none is kept."""
    if not lengths:
        yield []
        return
    for first in _growth_strings(lengths[0], blocks):
        for others in _products(lengths[1:], blocks):
            yield [first, *others]


def _growth_strings(length: int, blocks: int) -> Iterator[tuple[int, ...]]:
    """Restricted growth strings: each entry at most one above the largest before it, below ``blocks``."""
    string = [0] * length
    while True:
        yield tuple(string)
        limits = [min(largest + 1, blocks - 1) for largest in itertools.accumulate(string, max)]
        place = length - 1
        while place > 0 and string[place] == limits[place - 1]:
            place -= 1
        if place <= 0:
            return
        string[place:] = [string[place] + 1, *[0] * (length - place - 1)]


def _make(inputs: StrategyInputs) -> EnumerationStrategy:
    library = inputs.library
    chosen = inputs.settings.skeleton or library.skeletons[0].id
    for skeleton in library.skeletons:
        if skeleton.id == chosen:
            return EnumerationStrategy(library, skeleton, inputs.targets)
    raise GenerationError(f"the corpus has no usable skeleton {chosen}; 'exhume query skeletons' lists them")


ENTRY = StrategyEntry(
    "enumerate",
    "every filling of one skeleton up to a bound, each once",
    "a learned corpus, --skeleton",
    "nothing",
    _make,
    is_endless=False,
)
