"""What a strategy's file declares: its name, what it does, what it is made from and how."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal

from generator.library import Library
from generator.seeds.source import SeedSource
from generator.settings import Setting, Value
from generator.strategy import Strategy
from generator.targets import Targets, targets_for
from solvers.registry import REFERENCES
from solvers.specs import specs_by_kin

Need = Literal["library", "seeds", "answers", "answers by default"]
"""What a strategy is made from: a learned corpus, seeds, and known answers of the seeds, always or unless a
setting says otherwise.
"""


@dataclass(frozen=True, slots=True)
class StrategySettings:
    """What a user can set. Each strategy uses what concerns it.

    ``solvers`` are those that tests are for: what one of them does not know is not used. ``given`` are
    the strategy's own settings, as ``NAME=VALUE``. ``alone``: some tests are for one of the solvers alone.
    """

    seed: int = 1
    skeleton: int = 0
    solvers: tuple[str, ...] = REFERENCES
    given: tuple[str, ...] = ()
    alone: bool = False


@dataclass(frozen=True, slots=True)
class StrategyInputs:
    """What a strategy is made from. ``values`` are those of all its own settings."""

    settings: StrategySettings
    values: Mapping[str, Value] = field(default_factory=dict)
    given_library: Library | None = None
    given_seeds: SeedSource | None = None

    @property
    def targets(self) -> Targets:
        """The solvers that tests are for, to be asked what they accept."""
        return targets_for(self.settings.solvers)

    @property
    def families(self) -> frozenset[str]:
        """These solvers without their releases."""
        return frozenset(specs_by_kin(self.settings.solvers))

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
    """A strategy's name, what it does, takes and knows of the answers, and how it is made. ``only`` are the
    solvers (``kin``) that its tests are for; empty: all. ``is_endless``: there is a test for every index.
    """

    name: str
    about: str
    takes: str
    knows: str
    make: Callable[[StrategyInputs], Strategy]
    needs: frozenset[Need] = frozenset(("library",))
    settings: tuple[Setting, ...] = ()
    only: tuple[str, ...] = ()
    is_endless: bool = True

    def is_for(self, kinds: Collection[str]) -> bool:
        """Whether its tests are for one of these solvers."""
        return not self.only or not set(self.only).isdisjoint(kinds)
