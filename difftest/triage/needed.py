"""Which of its solvers' options a finding takes: what it shows without is left out, one by one."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from difftest.triage.classes.base import Expectation
from difftest.triage.confirm import Confirmer
from difftest.triage.variants import shorter_settings
from solvers.specs import Solver


def needed_options(expected: Expectation, text: str) -> dict[str, tuple[str, ...]]:
    """The options that it takes, by solver: each is left out once, and stays out if it still shows; then rows
    of tactics get shorter part by part.
    """
    needed: dict[str, tuple[str, ...]] = {}
    solvers = list(expected.solvers)
    for place, solver in enumerate(expected.solvers):
        for change in _without_one(solver):
            trial = [*solvers[:place], change(solvers[place]), *solvers[place + 1 :]]
            if trial[place] == solvers[place]:
                continue
            with Confirmer(replace(expected, solvers=tuple(trial)), fast=False) as confirmer:
                if confirmer(text):
                    solvers = trial
        while (shorter := _shown_shorter(expected, solvers, place, text)) is not None:
            solvers[place] = shorter
        needed[solver.name] = _options_of(solvers[place])
    return needed


def with_options(expected: Expectation, needed: dict[str, tuple[str, ...]]) -> list[Solver]:
    """The solvers with only the options that it takes; command lines of the user's stay as they are."""
    return [
        replace(solver, checks=needed[solver.name]) if solver.family != "other" else solver
        for solver in expected.solvers
    ]


def _shown_shorter(expected: Expectation, solvers: Sequence[Solver], place: int, text: str) -> Solver | None:
    """One solver with a shorter row of tactics among its options, if that still shows it."""
    solver = solvers[place]
    for option in solver.checks:
        for shorter in shorter_settings(solver.family, option):
            checks = tuple(shorter if check == option else check for check in solver.checks)
            trial = replace(solver, checks=checks)
            every = (*solvers[:place], trial, *solvers[place + 1 :])
            with Confirmer(replace(expected, solvers=every), fast=False) as confirmer:
                if confirmer(text):
                    return trial
    return None


def _options_of(solver: Solver) -> tuple[str, ...]:
    written = solver.argv[1:] if solver.family == "other" else ()
    return (*(part for part in written if _is_option(part)), *solver.checks)


def _is_option(part: str) -> bool:
    return len(part) > 1 and part.startswith("-")


def _without_one(solver: Solver) -> list[Callable[[Solver], Solver]]:
    def leave_check(option: str) -> Callable[[Solver], Solver]:
        return lambda s: replace(s, checks=tuple(check for check in s.checks if check != option))

    def leave_argument(option: str) -> Callable[[Solver], Solver]:
        return lambda s: replace(s, argv=(s.argv[0], *(part for part in s.argv[1:] if part != option)))

    found = [leave_check(option) for option in solver.checks]
    # Of the user's own command lines only those are touched that start a solver and nothing in between.
    if solver.family == "other" and not _is_interpreter(solver.argv[0]):
        found += [leave_argument(part) for part in solver.argv[1:] if _is_option(part)]
    return found


def _is_interpreter(program: str) -> bool:
    return (
        re.match(r"(?:python|sh\b|bash|env|perl|ruby|node|java|timeout|docker|wine)", Path(program).name)
        is not None
    )
