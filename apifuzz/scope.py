"""What one run draws on: some of the theories that the solver knows, and of what goes beyond them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from apifuzz.chance import Chance
from apifuzz.interface import Feature, Option
from smtlib import default_theories

PRODUCERS = {
    "incremental": Feature.INCREMENTAL,
    "produce-models": Feature.MODELS,
    "produce-unsat-cores": Feature.UNSAT_CORES,
    "produce-unsat-assumptions": Feature.UNSAT_ASSUMPTIONS,
}
"""Where a solver lists one of these options, it has the feature only while the option is true."""

FOR_WITNESSES = ("produce-models", "produce-unsat-cores", "produce-unsat-assumptions")
"""Those without which there is nothing to ask for after a check; solvers that read SMT-LIB know them."""

_PRODUCED = dict(zip(PRODUCERS, (0.9, 0.8, 0.5, 0.5), strict=True))


def draw_producers(options: Sequence[Option], fuzzed: bool, chance: Chance) -> tuple[tuple[str, str], ...]:
    """Which features a run switches on: all where options are not ``fuzzed``, else most of them."""
    listed = [o.name for o in options if o.name in PRODUCERS]
    return tuple((name, "true") for name in listed if not fuzzed or chance.happens(_PRODUCED[name]))


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
    theories: Sequence[str],
    quantifiers: bool | None,
    chance: Chance,
    required: frozenset[Feature] = frozenset(),
) -> Scope:
    """A scope within what the solver knows: of ``theories`` those that it knows, or drawn ones where none are
    given. The features ``required`` are always on; ``quantifiers`` None leaves them to chance.
    """
    named = [name for name in theories if name in known]
    if not theories:
        named = _draw_theories(sorted(known - {"Core"}), chance)
    chosen = {"Core", *named}
    chosen.update(n for name in named for n in default_theories().theories[name].needs if n in known)
    features = {f for f, share in _FEATURES.items() if chance.happens(share)}
    if Feature.DATATYPES in features and chance.happens(0.4):
        features.add(Feature.PARAMETRIC_DATATYPES)
    if Feature.SORTS in features and chance.happens(0.4):
        features.add(Feature.SORT_CONSTRUCTORS)
    if chance.happens(_QUANTIFIERS) if quantifiers is None else quantifiers:
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
    left = [name for name in known if weights[name] == 1 or chance.happens(weights[name])]
    while left and len(drawn) < count:
        drawn.append(left.pop(chance.below(len(left))))
    return drawn


# The name of a logic that covers what a run draws on


STANDARD = frozenset(
    """ QF_UF QF_AX QF_DT QF_UFDT QF_BV QF_UFBV QF_ABV QF_AUFBV QF_NIA QF_NRA QF_NIRA QF_UFNIA QF_UFNRA
    QF_ANIA QF_AUFNIA QF_AUFNIRA QF_UFDTNIA QF_FP QF_BVFP QF_ABVFP QF_UFFP QF_AUFBVFP QF_S QF_SNIA UF BV UFBV
    ABV AUFBV NIA NRA UFNIA UFNRA UFNIRA AUFNIA AUFNIRA UFDT UFDTNIA UFDTNIRA FP BVFP ABVFP AUFBVFP
    """.split()
)
"""Logics of SMT-LIB with nonlinear arithmetic, where there is any."""

_LETTERS = (("ArraysEx", "A"), ("", "UF"), ("FixedSizeBitVectors", "BV"), ("FloatingPoint", "FP"), ("", "DT"))
_ARITHMETIC = frozenset(("Ints", "Reals", "Reals_Ints"))
_NAMED = frozenset(("Core", "UnicodeStrings", *(t for t, _ in _LETTERS if t), *_ARITHMETIC))
_ALL_SHARE = 0.3


def draw_logic(scope: Scope, higher_order: bool, chance: Chance) -> str:
    """The standard logic of what the scope has, or ``ALL``: ``HO_ALL`` where operators of the run (z3's
    arrays have some) take functions as arguments.
    """
    every = "HO_ALL" if higher_order else "ALL"
    if chance.happens(_ALL_SHARE) or not scope.theories <= _NAMED:
        return every
    name = ("" if scope.quantifiers else "QF_") + _name(scope)
    return name if name in STANDARD else every


def _name(scope: Scope) -> str:
    functions = not scope.features.isdisjoint((Feature.FUNCTIONS, Feature.SORTS))
    present = {"UF": functions, "DT": Feature.DATATYPES in scope.features}
    letters = [code for theory, code in _LETTERS if theory in scope.theories or present.get(code)]
    if "UnicodeStrings" in scope.theories:
        letters.append("S")
    numbers = ("I" if "Ints" in scope.theories else "") + ("R" if "Reals" in scope.theories else "")
    if numbers:
        letters.append(f"N{numbers}A")
    name = "".join(letters) or "UF"
    return "AX" if name == "A" else name
