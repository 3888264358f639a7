"""The strategies by name. A new one is one file and one entry here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from base.nearest import did_you_mean, nearest
from generator.errors import GenerationError
from generator.library import Library
from generator.seeds.source import SeedSource
from generator.settings import Setting, Value, read_settings
from generator.strategies.enumeration import EnumerationBound, EnumerationStrategy
from generator.strategies.fusion import SETTINGS as FUSION_SETTINGS
from generator.strategies.fusion import FusionStrategy
from generator.strategies.mutation.strategy import COMMON_SETTINGS
from generator.strategies.opfuzz import OpFuzz
from generator.strategies.skeletons import SkeletonOptions, SkeletonStrategy
from generator.strategies.storm import SETTINGS as STORM_SETTINGS
from generator.strategies.storm import StormStrategy
from generator.strategies.typefuzz import TYPEFUZZ_SETTINGS, TypeFuzz
from generator.strategies.weaken import SETTINGS as WEAKEN_SETTINGS
from generator.strategies.weaken import WeakenStrategy
from generator.strategy import Strategy
from solvers.registry import REFERENCES

Need = Literal["library", "seeds", "answers"]
"""What a strategy is made from: a learned corpus, seeds, and known answers of the seeds."""


@dataclass(frozen=True, slots=True)
class StrategySettings:
    """What a user can set. Each strategy uses what concerns it.

    ``solvers`` are those that tests are for: what one of them does not know is not used. ``given`` are
    the strategy's own settings, as ``NAME=VALUE``.
    """

    seed: int = 1
    incremental: bool = False
    skeleton: int = 0
    solvers: tuple[str, ...] = REFERENCES
    given: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StrategyInputs:
    """What a strategy is made from. ``values`` are those of all its own settings."""

    settings: StrategySettings
    values: Mapping[str, Value] = field(default_factory=dict)
    given_library: Library | None = None
    given_seeds: SeedSource | None = None

    @property
    def library(self) -> Library:
        """The library of a strategy that needs one."""
        assert self.given_library is not None
        return self.given_library

    @property
    def seeds(self) -> SeedSource:
        """The seeds of a strategy that needs them."""
        assert self.given_seeds is not None
        return self.given_seeds


@dataclass(frozen=True, slots=True)
class StrategyEntry:
    """A strategy's name, what it does, takes and knows of the answers, and how it is made."""

    name: str
    about: str
    takes: str
    knows: str
    make: Callable[[StrategyInputs], Strategy]
    needs: frozenset[Need] = frozenset(("library",))
    settings: tuple[Setting, ...] = ()


def _skeletons(inputs: StrategyInputs) -> Strategy:
    options = SkeletonOptions(incremental=inputs.settings.incremental)
    return SkeletonStrategy(inputs.library, inputs.settings.seed, options)


def _enumerate(inputs: StrategyInputs) -> Strategy:
    library = inputs.library
    wanted = inputs.settings.skeleton or library.skeletons[0].id
    for skeleton in library.skeletons:
        if skeleton.id == wanted:
            return EnumerationStrategy(library, skeleton, EnumerationBound())
    raise GenerationError(f"the corpus has no usable skeleton {wanted}; 'exhume query skeletons' lists them")


def _typefuzz(inputs: StrategyInputs) -> Strategy:
    return TypeFuzz(inputs.seeds, inputs.settings.seed, inputs.values, inputs.settings.solvers)


def _opfuzz(inputs: StrategyInputs) -> Strategy:
    return OpFuzz(inputs.seeds, inputs.settings.seed, inputs.values, inputs.settings.solvers)


def _storm(inputs: StrategyInputs) -> Strategy:
    settings = inputs.settings
    return StormStrategy(inputs.seeds, settings.seed, inputs.values, settings.incremental, settings.solvers)


def _fusion(inputs: StrategyInputs) -> Strategy:
    return FusionStrategy(inputs.seeds, inputs.settings.seed, inputs.values, inputs.settings.solvers)


def _weaken(inputs: StrategyInputs) -> Strategy:
    return WeakenStrategy(inputs.seeds, inputs.settings.seed, inputs.values)


STRATEGIES: dict[str, StrategyEntry] = {
    entry.name: entry
    for entry in (
        StrategyEntry(
            "skeletons",
            "skeletons of past bugs filled with atoms of past bugs, guided by association rules",
            "a learned corpus",
            "nothing",
            _skeletons,
        ),
        StrategyEntry(
            "enumerate",
            "every filling of one skeleton up to a bound, each once",
            "a learned corpus, --skeleton",
            "nothing",
            _enumerate,
        ),
        StrategyEntry(
            "typefuzz",
            "generative type-aware mutation: subterms replaced by operators over terms at hand, in chains",
            "seeds",
            "nothing",
            _typefuzz,
            frozenset(("seeds",)),
            TYPEFUZZ_SETTINGS,
        ),
        StrategyEntry(
            "opfuzz",
            "type-aware operator mutation: an operator replaced by another of the same rank, in chains",
            "seeds",
            "nothing",
            _opfuzz,
            frozenset(("seeds",)),
            COMMON_SETTINGS,
        ),
        StrategyEntry(
            "storm",
            "the Boolean subterms of a seed, conjoined and negated as one model values them",
            "seeds",
            "sat",
            _storm,
            frozenset(("seeds",)),
            STORM_SETTINGS,
        ),
        StrategyEntry(
            "fusion",
            "two seeds of one answer joined by new variables that are functions of one variable of each",
            "seeds with known answers",
            "sat or unsat, the seeds' own",
            _fusion,
            frozenset(("seeds", "answers")),
            FUSION_SETTINGS,
        ),
        StrategyEntry(
            "weaken",
            "walks of weakenings from sat seeds, of strengthenings from unsat ones, by proved rules",
            "seeds with known answers; with --set unlabelled=chain any seeds",
            "sat or unsat, the seed's own; each mutant's parent",
            _weaken,
            frozenset(("seeds",)),
            WEAKEN_SETTINGS,
        ),
    )
}


def find_strategy(name: str) -> StrategyEntry:
    """The entry of this name. Raises :class:`GenerationError` with near names for an unknown one."""
    entry = STRATEGIES.get(name)
    if entry is None:
        hint = did_you_mean(nearest(name, STRATEGIES))
        raise GenerationError(f"unknown strategy {name}; known: {', '.join(STRATEGIES)}{hint}")
    return entry


def make_strategy(
    name: str, library: Library | None, settings: StrategySettings, seeds: SeedSource | None = None
) -> Strategy:
    """The strategy of this name. Raises :class:`GenerationError` for an unknown name or setting, and
    where what it needs is missing."""
    entry = find_strategy(name)
    values = read_settings(name, entry.settings, settings.given)
    if "library" in entry.needs and library is None:
        raise GenerationError(f"{name} needs a learned corpus: name one with --corpus")
    if "seeds" in entry.needs and seeds is None:
        raise GenerationError(f"{name} needs seeds: name a corpus, or a folder with --seeds")
    if "answers" in entry.needs and seeds is not None:
        seeds.require_answers(name)
    return entry.make(StrategyInputs(settings, values, library, seeds))
