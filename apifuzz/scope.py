"""What one run draws on: some of the theories that the solver knows, and of what goes beyond them."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field

from apifuzz.interface import Feature

NEEDS: dict[str, tuple[str, ...]] = {
    "UnicodeStrings": ("Ints",),
    "Sequences": ("Ints",),
    "Bags": ("Ints",),
    "FiniteSets": ("Ints",),
    "Reals_Ints": ("Ints", "Reals"),
    "Transcendental": ("Reals",),
    "FloatingPoint": ("FixedSizeBitVectors",),
    "Tuples": ("Sets",),
}
"""Theories without which another has little to say."""

RARE = {"Transcendental": 0.15, "SeparationLogic": 0.15, "Z3Extras": 0.5, "Lists": 0.5}
"""How much more seldom than others a theory is drawn: what is made of it is often undecided."""

_SHARES = (0.3, 0.35, 0.2, 0.1, 0.05)
"""How often a run draws one theory, two, ...: what is added to Core, before what these need."""
_QUANTIFIERS = 0.25
_FEATURES = {Feature.FUNCTIONS: 0.5, Feature.SORTS: 0.3, Feature.DATATYPES: 0.25}


@dataclass(frozen=True, slots=True)
class Scope:
    """The theories (by the names of the theory files) and features that a run draws on."""

    theories: frozenset[str] = field(default_factory=frozenset)
    features: frozenset[Feature] = field(default_factory=frozenset)

    @property
    def quantifiers(self) -> bool:
        """Whether the run makes quantifiers."""
        return Feature.QUANTIFIERS in self.features

    def settings(self) -> list[tuple[str, str]]:
        """The scope as settings of a trace."""
        return [
            ("theories", f"({' '.join(sorted(self.theories))})"),
            ("features", f"({' '.join(sorted(self.features))})"),
        ]


def draw_scope(
    known: frozenset[str],
    known_features: frozenset[Feature],
    theories: Iterable[str],
    quantifiers: bool | None,
    chance: random.Random,
    wanted: frozenset[Feature] = frozenset(),
) -> Scope:
    """A scope within what the solver knows. ``theories``, where any are given, are taken as they are, the
    features ``wanted`` are drawn on in any case; ``quantifiers`` None leaves them to chance.
    """
    named = [name for name in theories if name in known]
    if not named:
        named = _draw_theories(sorted(known - {"Core"}), chance)
    chosen = {"Core", *named}
    chosen.update(n for name in named for n in NEEDS.get(name, ()) if n in known)
    features = {f for f, share in _FEATURES.items() if chance.random() < share}
    if Feature.DATATYPES in features and chance.random() < 0.4:
        features.add(Feature.PARAMETRIC_DATATYPES)
    if Feature.SORTS in features and chance.random() < 0.4:
        features.add(Feature.SORT_CONSTRUCTORS)
    if chance.random() < _QUANTIFIERS if quantifiers is None else quantifiers:
        features.add(Feature.QUANTIFIERS)
    return Scope(frozenset(chosen), frozenset((features | wanted) & known_features))


def _draw_theories(known: list[str], chance: random.Random) -> list[str]:
    count = 1
    share = chance.random()
    for part in _SHARES:
        if share < part:
            break
        share -= part
        count += 1
    drawn: list[str] = []
    left = [name for name in known if name not in RARE or chance.random() < RARE[name]]
    while left and len(drawn) < count:
        drawn.append(left.pop(int(chance.random() * len(left))))
    return drawn
