"""A finding under other options: what it does not need is left out; and whether it shows in a safe mode.

A test that runs a solver under options may show what shows without them. So before anything else is made of a
candidate, the options that its test added are taken away as far as it still shows; what is left is part of
its key, its command lines and its report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from base.errors import ExhumeError
from difftest.oracles.base import Candidate
from solvers.options import asked_options, option_table, split_option, why_refused
from solvers.registry import PROFILES
from solvers.specs import Solver
from solvers.tactics import shorter_rows


def leaner(solver: Solver) -> Iterator[Solver]:
    """The solver with less of what its test added to its options, the boldest first: without all of it,
    without one option, with one part less in a row of tactics.
    """
    if len(solver.mode) > 1:
        yield bare(solver)
    for option in solver.mode:
        yield solver.without_option(option)
    for option in solver.mode:
        for shorter in shorter_settings(solver.family, option):
            yield solver.with_options([shorter])


def shorter_settings(family: str, setting: str) -> Iterator[str]:
    """A setting whose value is a row of tactics, with shorter rows; nothing for others."""
    name, value = split_option(setting)
    if name in option_table(family).tactic_settings:
        for row in shorter_rows(value):
            yield f"{name}={row}"


def drop_options(
    solvers: Sequence[Solver],
    shows: Callable[[Sequence[Solver]], bool],
    lean: Callable[[Solver], Iterator[Solver]] = leaner,
) -> tuple[Solver, ...]:
    """``solvers`` without options that are not needed: ``lean`` gives one with fewer, ``shows`` decides."""
    kept = list(solvers)
    for place in range(len(kept)):
        changed = True
        while changed:
            changed = False
            for trial in lean(kept[place]):
                if shows([*kept[:place], trial, *kept[place + 1 :]]):
                    kept[place] = trial
                    changed = True
                    break
    return tuple(kept)


def renamed(candidate: Candidate, names: Mapping[str, str]) -> Candidate:
    """A candidate with solvers of other names, in its key, too."""

    def of(name: str) -> str:
        return names.get(name, name)

    kind, *rest = candidate.key.split("|")
    if rest:
        rest[0] = "+".join(map(of, rest[0].split("+")))
    return replace(
        candidate,
        solvers=tuple(map(of, candidate.solvers)),
        key="|".join([kind, *rest]),
        guilty=None if candidate.guilty is None else of(candidate.guilty),
    )


def bare(solver: Solver) -> Solver:
    """The solver without what its test added to its options."""
    for option in solver.mode:
        solver = solver.without_option(option)
    return solver


def in_safe_mode(solver: Solver) -> Solver | None:
    """The solver in its safe mode; None for those, and releases, that have none."""
    profile = PROFILES.get(solver.family)
    if profile is None or not profile.safe_mode:
        return None
    try:
        if why_refused(profile.safe_mode, asked_options(solver.family, solver.argv)):
            return None
    except ExhumeError:
        return None
    # In front of the others: an option that safe mode does not allow is then refused.
    option = profile.prefix + profile.safe_mode
    others = (check for check in solver.checks if check != option)
    return replace(solver.with_options([profile.safe_mode]), checks=(option, *others))


def stands_in_safe_mode(solvers: Sequence[Solver], shows: Callable[[Sequence[Solver]], bool]) -> bool | None:
    """Whether what ``solvers`` show, they show with each that has a safe mode in it; None where none has one.
    Options that safe mode refuses make it False: so do theories.
    """
    safe = [in_safe_mode(solver) or solver for solver in solvers]
    if safe == list(solvers):
        return None
    return shows(safe)
