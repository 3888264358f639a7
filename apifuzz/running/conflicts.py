"""Options that a solver does not take together: found by trying, to be kept in the solver's profile.

Settings are tried in groups, with a check of one formula. A group that the solver complains of is narrowed to
the fewest that it still complains of; what a profile knows already is refused by the engine and not found
again.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from apifuzz.interface import Option, OptionKind
from apifuzz.running.faults import REJECTED
from apifuzz.running.runs import RUN_LIMITS, Runner
from apifuzz.trace import quote_name, quote_word
from solvers.running.process import Limits

Setting = tuple[str, str]
"""An option and its value."""

GROUP = 12
"""So many settings are tried at once."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """The fewest settings that the solver does not take together (one: alone), and what it says."""

    settings: tuple[Setting, ...]
    message: str

    def as_toml(self) -> str:
        """A pair as an entry of a profile; others as a comment."""
        shown = [json.dumps(f"{name}={value}") for name, value in self.settings]
        if len(shown) != 2:
            return f"# {' '.join(shown)}: {self.message}\n"
        return f"[[conflicts]]\nsetting = {shown[0]}\nwith = {shown[1]}\nwhy = {json.dumps(self.message)}\n"


def settings_of(options: Sequence[Option]) -> list[Setting]:
    """What to try of each option: every value but the default, of numbers those at the ends."""
    return [(o.name, value) for o in options for value in dict.fromkeys(_values(o)) if value != o.default]


def _values(option: Option) -> Iterator[str]:
    if option.kind is OptionKind.BOOL:
        yield from ("true", "false")
    elif option.choices:
        yield from option.choices
    elif option.kind is OptionKind.INT:
        low = int(option.low or 0)
        yield from (str(low), str(low + 1))
    elif option.kind is OptionKind.FLOAT:
        yield f"{option.low or 0:.3f}"


def complaint(runner: Runner, settings: Sequence[Setting], logic: str, limits: Limits = RUN_LIMITS) -> str:
    """What the solver says against these settings when it is to check something; empty where nothing."""
    lines = [f"exhume-trace 1 {quote_name(runner.setup.label)} 1", "1 new"]
    # The logic first, as runs have it: some settings go with some logics only.
    lines += [f"1 set-logic {logic}"] if logic else []
    lines += [f"1 set-option {quote_name(name)} {quote_word(value)}" for name, value in settings]
    lines += ["1 make-sort Bool", "return s1", "1 make-constant s1 p", "return t1"]
    lines += ["1 assert t1", "1 check-sat"]
    result = runner.replay("".join(f"{line}\n" for line in lines), limits)
    if result.fault is not None:
        return result.fault.detail if result.fault.kind == REJECTED else ""
    refused = (why for _, why in result.refused if not why.startswith(("set-option:", "set-logic:")))
    return result.detail or next(refused, "")


def learn(
    complain: Callable[[Sequence[Setting]], str], settings: Sequence[Setting], rounds: int, seed: int
) -> Iterator[Conflict]:
    """The conflicts among ``settings`` as they are found: of each alone, then of groups in so many rounds."""
    usable = []
    for setting in settings:
        message = complain((setting,))
        if message:
            yield Conflict((setting,), message)
        else:
            usable.append(setting)
    known: set[frozenset[Setting]] = set()
    chance = random.Random(seed)
    for _ in range(rounds):
        for group in _groups(usable, chance):
            message = complain(group)
            while message:
                fewest, message = _narrowed(complain, group, message)
                if frozenset(fewest) not in known:
                    known.add(frozenset(fewest))
                    yield Conflict(tuple(sorted(fewest)), message)
                group.remove(fewest[-1])
                message = complain(group)


def _groups(settings: Sequence[Setting], chance: random.Random) -> Iterator[list[Setting]]:
    """All settings in groups in which no option is twice, in an order of chance."""
    left = list(settings)
    chance.shuffle(left)
    while left:
        group: dict[str, str] = {}
        later = []
        for name, value in left:
            if len(group) < GROUP and name not in group:
                group[name] = value
            else:
                later.append((name, value))
        left = later
        yield list(group.items())


def _narrowed(
    complain: Callable[[Sequence[Setting]], str], group: Sequence[Setting], message: str
) -> tuple[list[Setting], str]:
    """The fewest of the group that are complained of, and how: one after the other is left out."""
    left = list(group)
    for setting in group:
        fewer = [s for s in left if s != setting]
        told = complain(fewer)
        if told:
            left, message = fewer, told
    return left, message


def pairs_met(settings: Sequence[Setting], rounds: int, seed: int) -> float:
    """Which share of all pairs of settings of different options is in some group of so many rounds."""
    chance = random.Random(seed)
    met = {frozenset(p) for _ in range(rounds) for g in _groups(settings, chance) for p in combinations(g, 2)}
    total = sum(1 for a, b in combinations(settings, 2) if a[0] != b[0])
    return len(met) / total if total else 1.0
