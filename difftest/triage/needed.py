"""Which of its solvers' options a finding takes: what it shows without is left out, one by one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from difftest.triage.classes.base import Expectation
from difftest.triage.confirm import Confirmer
from difftest.triage.variants import drop_options, shorter_settings
from solvers.specs import Solver


def with_needed_options(expected: Expectation, text: str) -> tuple[Solver, ...]:
    """The solvers with only the options that it takes to show it."""

    def shows(trial: Sequence[Solver]) -> bool:
        with Confirmer(replace(expected, solvers=tuple(trial)), fast=False) as confirmer:
            return confirmer(text)

    return drop_options(expected.solvers, shows, _leaner)


def options_of(solver: Solver) -> tuple[str, ...]:
    """The options of a solver, also those in a command line of the user's."""
    written = solver.argv[1:] if solver.family == "other" else ()
    return (*(part for part in written if _is_option(part)), *solver.checks)


def _leaner(solver: Solver) -> Iterator[Solver]:
    """The solver, by the same name, without one of its options, or with a shorter sequence of tactics."""
    for option in solver.checks:
        yield replace(solver, checks=tuple(check for check in solver.checks if check != option))
    # Of the user's own command lines only those are touched that start a solver and nothing in between.
    if solver.family == "other" and not _is_interpreter(solver.argv[0]):
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


def _is_interpreter(program: str) -> bool:
    return (
        re.match(r"(?:python|sh\b|bash|env|perl|ruby|node|java|timeout|docker|wine)", Path(program).name)
        is not None
    )
