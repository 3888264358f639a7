"""The strategies by name. A new one is one file and one entry here."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass

from generator.enumeration import EnumerationBound, EnumerationStrategy
from generator.errors import GenerationError
from generator.library import Library
from generator.skeletons import SkeletonOptions, SkeletonStrategy
from generator.strategy import Strategy


@dataclass(frozen=True, slots=True)
class StrategySettings:
    """What a user can set. Each strategy uses what concerns it."""

    seed: int = 1
    incremental: bool = False
    skeleton: int = 0


@dataclass(frozen=True, slots=True)
class StrategyEntry:
    """A strategy's name, what it does, takes and knows of the answers, and how it is made."""

    name: str
    about: str
    takes: str
    knows: str
    make: Callable[[Library, StrategySettings], Strategy]


def _skeletons(library: Library, settings: StrategySettings) -> Strategy:
    return SkeletonStrategy(library, settings.seed, SkeletonOptions(incremental=settings.incremental))


def _enumerate(library: Library, settings: StrategySettings) -> Strategy:
    wanted = settings.skeleton or library.skeletons[0].id
    for skeleton in library.skeletons:
        if skeleton.id == wanted:
            return EnumerationStrategy(library, skeleton, EnumerationBound())
    raise GenerationError(f"the corpus has no usable skeleton {wanted}; 'exhume query skeletons' lists them")


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
    )
}


def make_strategy(name: str, library: Library, settings: StrategySettings) -> Strategy:
    """The strategy of this name. Raises :class:`GenerationError` with near names for an unknown one."""
    entry = STRATEGIES.get(name)
    if entry is None:
        near = difflib.get_close_matches(name, STRATEGIES, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise GenerationError(f"unknown strategy {name}; known: {', '.join(STRATEGIES)}{hint}")
    return entry.make(library, settings)
