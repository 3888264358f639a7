"""Modes: solvers under options other than their defaults, chosen by the name of a test alone.

Most tests run in the default mode, which is what users run. In the others one solver at a time gets options:
first each setting that its file (``solvers/NAME/options.toml``) tries, alone; then two or three of them
together, and for z3 rows of tactics. One at a time, so that what differs is that solver's doing. Nothing but
the seed and the test's name goes into the choice, so a test has the same modes in every worker and when it is
confirmed.
"""

from __future__ import annotations

import functools
import hashlib
import random
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from difftest.errors import DifftestError
from solvers.errors import EnvironmentProblem, UnknownSolver
from solvers.option_file import OptionClass, split_option
from solvers.options import asked_options, option_table, takes, why_refused
from solvers.registry import PROFILES
from solvers.solver import Solver
from solvers.tactics import COMMAND, random_row, read_tactic, tactic_names

# Measured (docs/solvers.md): at this share of tests under options a hunt still decides as many tests a second
# as without, within what two runs differ by.
DEFAULT_SHARE = 0.25
# Of four tests under options one is under tactics, where the solver has them; of eight others one under an
# option of a young engine.
_TACTIC_EVERY = 4
_YOUNG_EVERY = 8


class ModeKind(StrEnum):
    """What a hunt may run solvers under: only their defaults; settings under which answers count, young ones
    among them; z3's tactics; both; and both with settings that the solvers' authors call unfinished, for
    crashes and invalid models.
    """

    DEFAULT = "default"
    OPTIONS = "options"
    TACTICS = "tactics"
    ALL = "all"
    EXPERIMENTAL = "experimental"


@dataclass(frozen=True, slots=True)
class ModeList:
    """What can be tried on one solver: settings ``name=value``, others that are ``young`` or
    ``experimental``, tactics to go first and last in a row, and the names of the settings that such a row can
    be the value of.

    ``refused`` are those of its file that this release does not know, each with the reason.
    """

    settings: tuple[str, ...]
    young: tuple[str, ...]
    experimental: tuple[str, ...]
    first_tactics: tuple[str, ...]
    last_tactics: tuple[str, ...]
    tactic_settings: tuple[str, ...]
    refused: tuple[tuple[str, str], ...]

    def shared(self, other: ModeList) -> ModeList:
        """What can be tried on both solvers."""
        names = ("settings", "young", "experimental", "first_tactics", "last_tactics", "tactic_settings")
        both = {name: tuple(o for o in getattr(self, name) if o in getattr(other, name)) for name in names}
        return ModeList(**both, refused=self.refused)

    def without(self, names: Collection[str]) -> ModeList:
        """The list without the settings of these names."""

        def left(settings: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(setting for setting in settings if split_option(setting)[0] not in names)

        return replace(
            self,
            settings=left(self.settings),
            young=left(self.young),
            experimental=left(self.experimental),
            tactic_settings=left(self.tactic_settings),
        )


def mode_list(solver: Solver) -> ModeList:
    """What can be tried on ``solver``, asked of it once: no option that its spec sets. Empty for one given by
    a command line.
    """
    if solver.family not in PROFILES:
        return ModeList((), (), (), (), (), (), ())
    return _mode_list(solver.family, solver.argv).without(_names_set(solver))


def _names_set(solver: Solver) -> set[str]:
    """The names of the options that a solver's spec sets."""
    return {split_option(option)[0] for option in solver.spec_options}


@functools.cache
def _mode_list(family: str, argv: tuple[str, ...]) -> ModeList:
    profile, table = PROFILES[family], option_table(family)
    try:
        asked, tactics = asked_options(family, argv), profile.ask_tactics(argv)
    except EnvironmentProblem as problem:  # as with some old releases: they can be hunted all the same
        return ModeList((), (), (), (), (), (), tuple((setting, str(problem)) for setting in table.tried()))
    problems = {setting: why_refused(setting, asked) for setting in table.tried()}
    classes = {setting: table.class_of(setting) for setting, why in problems.items() if why is None}
    refused = [(setting, why) for setting, why in problems.items() if why is not None]
    by = tuple(name for name in table.tactic_settings if name == COMMAND or name in asked)

    def known(listed: Iterable[str]) -> tuple[str, ...]:
        return tuple(t for t in listed if tactic_names(read_tactic(t)) <= tactics)

    first, last = known(table.first_tactics), known(table.last_tactics)
    refused += [(t, "no such tactic") for t in table.first_tactics if tactics and t not in first]
    return ModeList(
        tuple(setting for setting, found in classes.items() if found is not None and found.is_trusted),
        tuple(setting for setting, found in classes.items() if found is OptionClass.YOUNG),
        tuple(setting for setting, found in classes.items() if found is OptionClass.EXPERIMENTAL),
        first,
        last,
        by if last else (),
        tuple(refused),
    )


Options = tuple[tuple[str, ...], ...]
"""What a test adds to the options of each solver of a hunt."""


def for_test(solvers: Sequence[Solver], options: Options, own: Sequence[str]) -> tuple[Solver, ...]:
    """The solvers for one test: with what ``Modes.choose`` chose, else with the test's ``own`` options, as
    far as all that are known by name have them and no spec sets them.
    """
    if not options and own:
        known = [solver for solver in solvers if solver.family in PROFILES]
        taken = tuple(o for o in own if all(_takes(solver, o) for solver in known))
        options = tuple(taken if solver in known else () for solver in solvers)
    if not options:
        return tuple(solvers)
    return tuple(solver.with_options(added) for solver, added in zip(solvers, options, strict=True))


def _takes(solver: Solver, option: str) -> bool:
    """Whether a solver has an option that its spec does not set, and a spec can name it."""
    if split_option(option)[0] in _names_set(solver):
        return False
    try:
        solver.with_options([option])
    except UnknownSolver:
        return False
    return takes(solver.family, solver.argv, option)


def base_name(name: str, names: Collection[str]) -> str:
    """Which of the solvers ``names`` the solver ``name`` is, whatever options a test added to it."""
    if name in names:
        return name
    fitting = [n for n in names if name.startswith(n[:-1] + "," if n.endswith("]") else n + "[")]
    return max(fitting, key=len, default=name)


class Modes:
    """The modes of one hunt: ``share`` of its tests run one of ``solvers`` under options of ``kinds``.

    The base that another solver is compared with gets the options of that one, and these are such that
    both have them. The settings of the options ``first`` come before others. ``by_work``: without those
    under which a run depends on time.
    """

    def __init__(
        self,
        solvers: Sequence[Solver],
        kinds: ModeKind = ModeKind.DEFAULT,
        seed: int = 0,
        share: float = DEFAULT_SHARE,
        first: Collection[str] = (),
        by_work: bool = False,
    ) -> None:
        if not 0 <= share <= 1:
            raise DifftestError(f"the share of tests under options must be from 0 to 1, not {share}")
        self.solvers = tuple(solvers)
        self.kinds = kinds
        self.seed = seed
        self.first = frozenset(first)
        self.by_work = by_work
        self.share = 0.0 if kinds is ModeKind.DEFAULT else share
        self._lists: dict[str, ModeList] = {}
        self.refused: dict[str, tuple[tuple[str, str], ...]] = {}
        """The settings of the mode files that a solver does not know, by solver name; the hunt reports them
        once.
        """
        if self.share:
            bases = [mode_list(solver) for solver in self.solvers if solver.is_base]
            for solver in (solver for solver in self.solvers if not solver.is_base):
                found = functools.reduce(ModeList.shared, bases, mode_list(solver))
                if self._rows(found) or self._singles(found):
                    self._lists[solver.name] = found
                elif found.settings:
                    continue  # there is nothing to try of these kinds
                if found.refused:
                    self.refused[solver.name] = found.refused

    def choose(self, strategy: str, test_class: str, index: int) -> Options:
        """What a test adds to the options of each solver, in their order; empty where it adds nothing."""
        able = [solver for solver in self.solvers if solver.name in self._lists]
        rank = int((index + 1) * self.share)
        if not able or rank == int(index * self.share):
            return ()
        turn, place = divmod(rank - 1, len(able))
        chosen = able[place]
        options = self.options_for(chosen, f"{strategy}/{test_class}", turn)
        return tuple(options if solver is chosen or solver.is_base else () for solver in self.solvers)

    def options_for(self, solver: Solver, part: str, turn: int) -> tuple[str, ...]:
        """The options of a solver's ``turn``-th test under options within a part of the hunt."""
        found = self._lists[solver.name]
        source = _source(self.seed, solver.name, part, turn)
        singles = self._singles(found)
        young = found.young if singles else ()
        if self.by_work:
            threaded = option_table(solver.family).threaded
            young = tuple(setting for setting in young if split_option(setting)[0] not in threaded)
        if self._rows(found) and (not singles or turn % _TACTIC_EVERY == _TACTIC_EVERY - 1):
            row = random_row(found.first_tactics, found.last_tactics, source)
            return (f"{source.choice(found.tactic_settings)}={row}",)
        if self._rows(found):
            turn -= turn // _TACTIC_EVERY
        if young:
            if turn % _YOUNG_EVERY == _YOUNG_EVERY - 1:
                return (source.choice(young),)
            turn -= turn // _YOUNG_EVERY
        if turn < len(singles):
            return (_shuffled(singles, self.first, self.seed, solver.name, part)[turn],)
        return _together(singles, source)

    def _singles(self, found: ModeList) -> tuple[str, ...]:
        if self.kinds in (ModeKind.DEFAULT, ModeKind.TACTICS):
            return ()
        return found.settings + (found.experimental if self.kinds is ModeKind.EXPERIMENTAL else ())

    def _rows(self, found: ModeList) -> bool:
        return self.kinds not in (ModeKind.DEFAULT, ModeKind.OPTIONS) and bool(found.tactic_settings)


def _source(*parts: object) -> random.Random:
    """Randomness that depends on nothing but the parts."""
    digest = hashlib.sha256("\0".join(map(str, parts)).encode()).digest()
    return random.Random(int.from_bytes(digest[:8], "big"))


@functools.lru_cache(maxsize=256)
def _shuffled(settings: tuple[str, ...], first: frozenset[str], *parts: object) -> list[str]:
    order = list(settings)
    _source(*parts).shuffle(order)
    return sorted(order, key=lambda setting: split_option(setting)[0] not in first)


def _together(settings: tuple[str, ...], source: random.Random) -> tuple[str, ...]:
    """Two or three settings of different names."""
    count = source.choice((2, 2, 3))
    picked: dict[str, str] = {}
    for setting in source.sample(settings, min(len(settings), 4 * count)):
        picked.setdefault(split_option(setting)[0], setting)
        if len(picked) == count:
            break
    return tuple(picked.values())
