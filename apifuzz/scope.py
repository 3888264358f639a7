"""What one run draws on: some of the theories that the solver knows, and of what goes beyond them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from apifuzz.chance import Chance
from apifuzz.interface import Feature
from smtlib import default_theories

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
    chance: Chance,
    required: frozenset[Feature] = frozenset(),
) -> Scope:
    """A scope within what the solver knows. ``theories``, where any are given, are taken as they are, the
    features ``required`` are always on; ``quantifiers`` None leaves them to chance.
    """
    named = [name for name in theories if name in known]
    if not named:
        named = _draw_theories(sorted(known - {"Core"}), chance)
    chosen = {"Core", *named}
    chosen.update(n for name in named for n in default_theories().theories[name].needs if n in known)
    features = {f for f, share in _FEATURES.items() if chance.random() < share}
    if Feature.DATATYPES in features and chance.random() < 0.4:
        features.add(Feature.PARAMETRIC_DATATYPES)
    if Feature.SORTS in features and chance.random() < 0.4:
        features.add(Feature.SORT_CONSTRUCTORS)
    if chance.random() < _QUANTIFIERS if quantifiers is None else quantifiers:
        features.add(Feature.QUANTIFIERS)
    return Scope(frozenset(chosen), frozenset((features | required) & known_features))


def _draw_theories(known: list[str], chance: Chance) -> list[str]:
    count = 1
    share = chance.random()
    for part in _SHARES:
        if share < part:
            break
        share -= part
        count += 1
    drawn: list[str] = []
    weights = {name: default_theories().theories[name].weight for name in known}
    left = [name for name in known if weights[name] == 1 or chance.random() < weights[name]]
    while left and len(drawn) < count:
        drawn.append(left.pop(chance.below(len(left))))
    return drawn
