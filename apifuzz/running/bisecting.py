"""Bisection of findings of API fuzzing: the program is run with each release's Python package; where there is
no program, the solver's program is given the calls in SMT-LIB.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from apifuzz.running.faults import Fault
from apifuzz.running.folder import REDUCED, SCRIPT, CallsFolder
from apifuzz.running.older import try_program
from apifuzz.running.report import rewrite_report
from difftest.errors import DifftestError
from difftest.triage.bisect import BisectReport, State, Subject, release_of, search, try_formula
from difftest.triage.expectation import observe
from difftest.triage.reading import read_some
from solvers.specs import DISTRIBUTIONS, find_solvers


def bisect_calls(
    folder: Path,
    again: bool = False,
    on_try: Callable[[int, int], None] = lambda done, most: None,
) -> BisectReport:
    """Search the releases of a finding's guilty solver; a finished search is not done twice unless ``again``.

    Raises DifftestError for a finding whose solver is not known or has no releases, and where neither a
    program nor a script shows it; NotShown if its own release does not show it.
    """
    found = CallsFolder.read(folder)
    entry = found.guilty
    if entry is None:
        names = " and ".join(str(entry.get("name")) for entry in found.solvers)
        raise DifftestError(f"which of {names} is wrong is not known, so there is nothing to bisect")
    family = str(entry.get("family"))
    if family not in DISTRIBUTIONS:
        raise DifftestError(f"{entry.get('name')} is a command line: there are no releases of it to bisect")
    report = search(folder, _subject(found, family), again, on_try)
    rewrite_report(folder)
    return report


def _subject(found: CallsFolder, family: str) -> Subject:
    if text := read_some(found.path / SCRIPT):
        fault = Fault.from_json(found.data["fault"])
        file = (found.path / SCRIPT).absolute()
        _, release = release_of(find_solvers([family])[0])

        def ask(release: str) -> State:
            return try_program(fault, text, file, family, release)

        return Subject(family, family, release, SCRIPT, text, ask)
    if not (found.data.get("text_shows") or (found.path / REDUCED).is_file()):
        raise DifftestError(
            f"{found.path}: no program and no SMT-LIB script shows it, so there is nothing to try"
        )
    expected = observe(found.formula, find_solvers([str(entry["spec"]) for entry in found.solvers]))
    solver = next(solver for solver in expected.solvers if solver.family == family)
    family, release = release_of(solver)

    def look(release: str) -> State:
        return try_formula(found.formula, expected, solver, family, release)

    return Subject(solver.name, family, release, found.file, found.formula, look)
