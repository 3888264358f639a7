"""Which of its solvers' options a finding takes: what it does not need is left out; and whether it shows in a
safe mode.

A test that runs a solver under options may show what shows without them. So before anything else is made of a
candidate, the options that its test added are left out as far as it still shows; what is left is part of its
key, its command lines and its report. After reduction all options are tried, also the user's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from difftest.triage.classes.base import Expectation
from difftest.triage.confirm import Confirmer
from solvers.option_file import split_option
from solvers.options import option_table, takes
from solvers.registry import PROFILES
from solvers.solver import Solver
from solvers.tactics import shorter_rows

_INTERPRETER = re.compile(r"python|sh\b|bash|env|perl|ruby|node|java|timeout|docker|wine")


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


def bare(solver: Solver) -> Solver:
    """The solver without what its test added to its options."""
    for option in solver.mode:
        solver = solver.without_option(option)
    return solver


def in_safe_mode(solver: Solver) -> Solver | None:
    """The solver in its safe mode; None for those, and releases, that have none."""
    profile, safe = PROFILES.get(solver.family), None
    if profile is not None and profile.safe_mode and takes(solver.family, solver.argv, profile.safe_mode):
        # In front of the others: an option that safe mode does not allow is then refused.
        option = profile.prefix + profile.safe_mode
        others = (check for check in solver.checks if check != option)
        safe = replace(solver.with_options([profile.safe_mode]), checks=(option, *others))
    return safe


def stands_in_safe_mode(solvers: Sequence[Solver], shows: Callable[[Sequence[Solver]], bool]) -> bool | None:
    """Whether what ``solvers`` show, they show with each that has a safe mode in it; None where none has one.
    Options that safe mode refuses make it False: so do theories.
    """
    safe = [in_safe_mode(solver) or solver for solver in solvers]
    return None if safe == list(solvers) else shows(safe)


def with_needed_options(expected: Expectation, text: str) -> tuple[Solver, ...]:
    """The solvers with only the options that it takes to show it."""
    return drop_options(expected.solvers, _shown_by(expected, text), _leaner)


def shows_in_safe_mode(expected: Expectation, text: str) -> bool | None:
    """Whether ``text`` shows it with each solver that has a safe mode in it; None if none has one."""
    return stands_in_safe_mode(expected.solvers, _shown_by(expected, text))


def _shown_by(expected: Expectation, text: str) -> Callable[[Sequence[Solver]], bool]:
    """Whether fresh processes of other solvers, in place of those expected, show it."""

    def shows(trial: Sequence[Solver]) -> bool:
        # An expectation refers to solvers by name.
        pairs = zip(trial, expected.solvers, strict=True)
        solvers = tuple(replace(other, name=solver.name) for other, solver in pairs)
        with Confirmer(replace(expected, solvers=solvers), fast=False) as confirmer:
            return confirmer(text)

    return shows


def options_of(solver: Solver) -> tuple[str, ...]:
    """The options of a solver, also those in a command line of the user's."""
    written = solver.argv[1:] if solver.family == "other" else ()
    return (*(part for part in written if _is_option(part)), *solver.checks)


def _leaner(solver: Solver) -> Iterator[Solver]:
    """The solver, by the same name, without one of its options, or with a shorter sequence of tactics."""
    for option in solver.checks:
        yield replace(solver, checks=tuple(check for check in solver.checks if check != option))
    # Of the user's own command lines only those are touched that start a solver and nothing in between.
    if solver.family == "other" and not _INTERPRETER.match(Path(solver.argv[0]).name):
        for option in filter(_is_option, solver.argv[1:]):
            yield replace(
                solver, argv=(solver.argv[0], *(part for part in solver.argv[1:] if part != option))
            )
    for option in solver.checks:
        for shorter in shorter_settings(solver.family, option):
            checks = tuple(shorter if check == option else check for check in solver.checks)
            yield replace(solver, checks=checks)


def _is_option(part: str) -> bool:
    return len(part) > 1 and part.startswith("-")
