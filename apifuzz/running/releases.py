"""What other releases of a solver do with the calls of a finding: its program is run with each release's
Python package; where there is no program, the solver's program is given the calls in SMT-LIB.
"""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import cast

from apifuzz.running.faults import Fault
from apifuzz.running.folder import SCRIPT, CallsFolder
from apifuzz.running.runs import ends_in
from base.documents import from_document
from base.errors import ExhumeError
from difftest.errors import DifftestError
from difftest.triage.expectation import observe
from difftest.triage.folder import FindingFolder, read_some
from difftest.triage.kinds import State, Subject
from difftest.triage.release_search import LookBack, look_back, release_of, subject_of
from solvers.errors import ReleaseNotFound, SolverMissing
from solvers.lookup import find_solver, find_solvers
from solvers.registry import DISTRIBUTIONS
from solvers.releases import fetch_release
from solvers.running.process import Limits, run

MOST_ASKED = 6
"""How many releases are asked when a finding is confirmed."""
MOST_SECONDS = 60.0
"""When that has taken so long, no further one is."""

# Other releases may be far slower; what has not shown it by then counts as not affected.
_LIMITS = Limits(seconds=20.0, memory=1 << 30, output=8 << 20)
_RUN = "import runpy, sys; sys.path.insert(0, sys.argv[1]); runpy.run_path(sys.argv[2], run_name='__main__')"


def try_program(fault: Fault, text: str, file: Path, family: str, release: str) -> State:
    """What the program ``text``, which ``file`` holds, does with the package of a release.

    A release that cannot be had, or that it is too new for, is skipped. EnvironmentProblem where it cannot be
    fetched.
    """
    try:
        package = fetch_release(DISTRIBUTIONS[family], release)
    except (ReleaseNotFound, SolverMissing):
        return State.SKIPPED
    ended = run([sys.executable, "-I", "-c", _RUN, str(package), str(file)], _LIMITS)
    if ends_in(fault, text, ended, exact=False):
        return State.AFFECTED
    if ended.ended == "timeout" or (ended.ended == "exit" and ended.code == 0):
        return State.FREE
    return State.SKIPPED


def _subject_of_program(fault: Fault, text: str, file: Path, family: str) -> Subject:
    look = partial(try_program, fault, text, file, family)
    return Subject(family, family, release_of(find_solver(family)), SCRIPT, text, look)


def ask_older(
    fault: Fault, text: str, family: str, most: int = MOST_ASKED, seconds: float = MOST_SECONDS
) -> LookBack:
    """Ask older releases of a solver whose installed one shows ``fault`` with the program ``text``."""
    with tempfile.TemporaryDirectory(prefix="exhume-older-") as folder:
        file = Path(folder, SCRIPT)
        file.write_text(text, "utf-8", "backslashreplace")
        try:
            subject = _subject_of_program(fault, text, file, family)
        except ExhumeError as problem:
            return LookBack([f"no older release of {family} was asked: {' '.join(str(problem).split())}"])
        asked = look_back(subject, most, seconds)
    if asked.states:
        asked.states = {subject.release: State.AFFECTED, **asked.states}
    return asked


def subject_of_calls(found: FindingFolder) -> Subject:
    """What releases are given of a finding about calls.

    DifftestError for one whose solver is not known or has no releases, and where neither a program nor a
    script shows it.
    """
    entry = found.culprit
    if entry is None:
        names = " and ".join(str(entry.get("name")) for entry in found.solvers)
        raise DifftestError(f"which of {names} is wrong is not known, so there is nothing to bisect")
    family = str(entry.get("family"))
    if family not in DISTRIBUTIONS:
        raise DifftestError(f"{entry.get('name')} is a command line: there are no releases of it to bisect")
    if text := read_some(found.path / SCRIPT):
        try:
            fault = from_document(found.data["fault"], Fault)
        except ValueError as problem:
            raise DifftestError(f"{found.path}: its fault cannot be read: {problem}") from problem
        return _subject_of_program(fault, text, (found.path / SCRIPT).absolute(), family)
    if not cast(CallsFolder, found).text_shows:
        raise DifftestError(
            f"{found.path}: no program and no SMT-LIB script shows it, so there is nothing to try"
        )
    expected = observe(found.formula, find_solvers([str(entry["spec"]) for entry in found.solvers]))
    solver = next(solver for solver in expected.solvers if solver.family == family)
    return subject_of(found.formula, found.file, expected, solver)
