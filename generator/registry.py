"""The strategies by name: every module of ``generator.strategies`` that declares an ``ENTRY``, and those that
installed packages declare as entry points of the group ``exhume.strategies``.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import entry_points

from base.modules import declared_in
from base.nearest import did_you_mean, nearest
from generator import strategies
from generator.declaring import StrategyEntry, StrategyInputs, StrategySettings
from generator.errors import GenerationError
from generator.library import Library
from generator.seeds.source import SeedSource
from generator.settings import read_settings
from generator.strategy import Strategy

ENTRY_POINTS = "exhume.strategies"


def _installed() -> Iterator[StrategyEntry]:
    """Those of other packages. One that cannot be loaded says so when it is to be made: most commands need no
    strategy.
    """
    for point in entry_points(group=ENTRY_POINTS):
        try:
            entry = point.load()
            if not isinstance(entry, StrategyEntry):
                raise TypeError(f"expected a StrategyEntry, got {type(entry).__name__}")
        except Exception as problem:  # noqa: BLE001 (whatever another package raises)
            entry = _broken(point.name, f"{point.value} cannot be loaded: {problem}")
        yield entry


def _broken(name: str, problem: str) -> StrategyEntry:
    def make(_: StrategyInputs) -> Strategy:
        raise GenerationError(f"strategy {name} of {problem}; remove or repair its package")

    return StrategyEntry(name, problem, "nothing", "nothing", make, needs=frozenset())


def find_strategies() -> dict[str, StrategyEntry]:
    """All strategies by name. Raises :class:`GenerationError` where two have the same name."""
    found: dict[str, StrategyEntry] = {}
    for entry in sorted(
        (*declared_in(strategies.__name__, "ENTRY"), *_installed()), key=lambda entry: entry.name
    ):
        if entry.name in found:
            raise GenerationError(f"two strategies are called {entry.name}; remove the package of one")
        found[entry.name] = entry
    return found


STRATEGIES: dict[str, StrategyEntry] = find_strategies()
OF_HUNTS = ("all", "api")
"""Names that hunts take for more than a strategy of this package."""


def find_strategy(name: str) -> StrategyEntry:
    """The entry of this name. Raises :class:`GenerationError` with near names for an unknown one."""
    entry = STRATEGIES.get(name)
    if entry is None:
        known = ", ".join(STRATEGIES)
        if name in OF_HUNTS:
            raise GenerationError(f"strategy {name} is only for hunt; others are {known}")
        hint = did_you_mean(nearest(name, (*STRATEGIES, *OF_HUNTS)))
        raise GenerationError(
            f"unknown strategy {name}; known: {known}, and in a hunt {', '.join(OF_HUNTS)}{hint}"
        )
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
    inputs = StrategyInputs(settings, values, library, seeds)
    if seeds is not None:
        seeds.targets = inputs.targets
        if "answers" in entry.needs:
            seeds.require_answers(name)
    return entry.make(inputs)
