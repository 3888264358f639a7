"""Bisection: the first release of a solver that a finding affects, and the first that is free of it again.

The releases are those that pip finds on the package index for this machine; each one tried is fetched into
the cache like any ``z3==4.8.5``. Both searches start from the release that the finding was made with and
assume that it is affected from one release on up to another. Releases that cannot be had, do not run here or
refuse the formula are skipped. What was tried is kept in the finding's ``bisect.json``.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from packaging.version import Version

from base.files import put_json
from difftest.errors import DifftestError
from difftest.triage.confirm import Confirmer
from difftest.triage.expectation import (
    Expectation,
    NotShown,
    expectation_of_finding,
    read_finding,
    read_formula,
)
from difftest.triage.folders import FORMULA
from difftest.triage.reports import rewrite_report
from solvers.errors import EnvironmentProblem, ReleaseNotFound, SolverMissing
from solvers.specs import DISTRIBUTIONS, Solver, find_solver

CACHE = "bisect.json"
_SCHEMA = 1
_REDUCED = "reduced.smt2"
# Other releases may be far slower; what is not decided by then counts as not affected.
_SECONDS = 20.0


class State(StrEnum):
    """What a release does with the formula."""

    AFFECTED = "affected"
    FREE = "free"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class BisectReport:
    """What a bisection found.

    ``tried`` is in the order of the releases. ``first_affected`` is None where no release could be told;
    ``since_the_oldest`` says that the oldest one that runs here is affected already. ``first_fixed`` is None
    where the newest is affected.
    """

    solver: str
    release: str
    formula: str
    first_affected: str | None
    since_the_oldest: bool
    last_affected: str | None
    first_fixed: str | None
    tried: tuple[tuple[str, State], ...]

    def to_json(self) -> dict[str, Any]:
        """The document that ``bisect --json`` prints."""
        return {
            "solver": self.solver,
            "release": self.release,
            "formula": self.formula,
            "first_affected": self.first_affected,
            "since_the_oldest": self.since_the_oldest,
            "last_affected": self.last_affected,
            "first_fixed": self.first_fixed,
            "tried": [{"release": release, "state": str(state)} for release, state in self.tried],
        }


def list_releases(distribution: str) -> list[str]:
    """The releases that pip finds for this machine, oldest first; EnvironmentProblem if it finds none."""
    command = [sys.executable, "-m", "pip", "index", "versions", distribution]
    command += ["--disable-pip-version-check", "--no-input"]
    result = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    found = re.search(r"^Available versions: (.+)$", result.stdout, re.M)
    if result.returncode or found is None:
        last = result.stderr.strip().rpartition("\n")[2] or "no message"
        raise EnvironmentProblem(f"pip cannot list the releases of {distribution} (no network?): {last}")
    return [version.strip() for version in found.group(1).split(",")][::-1]


def find_release(family: str, release: str) -> Solver | None:
    """That release as a solver, or None if it cannot be had or run here."""
    try:
        solver = find_solver(f"{family}=={release}")
    except (ReleaseNotFound, SolverMissing):
        return None
    return None if solver.version() == "unknown" else solver


def bisect(
    folder: Path,
    again: bool = False,
    on_try: Callable[[int, int], None] = lambda done, most: None,
) -> BisectReport:
    """Search the releases of a finding's guilty solver; a finished search is not done twice unless ``again``.

    The reduced formula is used where there is one that was confirmed. Raises DifftestError for a finding
    whose solver has no releases, NotShown if its own release does not show it.
    """
    data = read_finding(folder)
    reduced = folder / _REDUCED
    use_reduced = bool(data.get("reduced", {}).get("confirmed")) and reduced.is_file()
    file = reduced if use_reduced else folder / FORMULA
    text = read_formula(file)
    expected = expectation_of_finding(folder)
    solver = accused(expected)
    family, release = release_of(solver)

    def look(release: str) -> State:
        return try_formula(text, expected, solver, family, release)

    report = search(folder, Subject(solver.name, family, release, file.name, text, look), again, on_try)
    rewrite_report(folder)
    return report


@dataclass(frozen=True, slots=True)
class Subject:
    """What is searched: the ``release`` of a solver that shows the finding, of which ``family``, by the
    ``text`` of ``file``; ``look`` says what another release does with that.
    """

    name: str
    family: str
    release: str
    file: str
    text: str
    look: Callable[[str], State]


def search(
    folder: Path,
    subject: Subject,
    again: bool = False,
    on_try: Callable[[int, int], None] = lambda done, most: None,
) -> BisectReport:
    """Search the releases, with what was tried before; what is found stands in the finding's ``bisect.json``.

    NotShown if the subject's own release does not show the finding.
    """
    digest = _digest(subject.text)
    kept = {} if again else _read_cache(folder, digest)
    if kept.get("complete"):
        return _from_json(kept["report"])
    under_way = _Search(subject, dict(kept.get("states", {})), on_try)
    releases = list_releases(DISTRIBUTIONS[subject.family])
    try:
        report = under_way.run(releases)
    finally:
        keep_states(folder, subject.text, under_way.states)
    done = {"complete": True, "states": under_way.states, "report": report.to_json()}
    put_json(folder / CACHE, {"schema": _SCHEMA, "sha256": digest, **done})
    return report


def keep_states(folder: Path, text: str, states: Mapping[str, str]) -> None:
    """Leave what releases do with ``text`` in a folder, for a search that is not finished."""
    document = {"schema": _SCHEMA, "sha256": _digest(text), "complete": False, "states": dict(states)}
    put_json(folder / CACHE, document)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def try_formula(text: str, expected: Expectation, solver: Solver, family: str, release: str) -> State:
    """What a release of ``solver`` does with a formula."""
    found = find_release(family, release)
    if found is None:
        return State.SKIPPED
    expected = replace(expected, exact=False, seconds=max(_SECONDS, expected.seconds))
    # Its options are part of the finding.
    stand_in = replace(found, name=solver.name, checks=solver.checks)
    solvers = tuple(stand_in if s.name == solver.name else s for s in expected.solvers)
    with Confirmer(replace(expected, solvers=solvers), fast=False) as confirmer:
        if confirmer(text):
            return State.AFFECTED
        return State.SKIPPED if confirmer.refused else State.FREE


class _Search:
    """Tries releases, each once."""

    def __init__(self, subject: Subject, states: dict[str, str], on_try: Callable[[int, int], None]) -> None:
        self.states = states
        self._subject = subject
        self._on_try = on_try

    def run(self, releases: Sequence[str]) -> BisectReport:
        """Both searches, from the subject's release."""
        subject = self._subject
        start = position(releases, subject.release)
        if self._state(releases[start]) is not State.AFFECTED:
            raise NotShown(f"{subject.family} {releases[start]} does not show the finding")
        first, before = self._edge(releases, start, range(start - 1, -1, -1))
        last, after = self._edge(releases, start, range(start + 1, len(releases)))
        tried = tuple((r, State(self.states[r])) for r in releases if r in self.states)
        return BisectReport(
            subject.name, releases[start], subject.file, releases[first], before is None, releases[last],
            None if after is None else releases[after], tried,
        )  # fmt: skip

    def _edge(self, releases: Sequence[str], start: int, way: range) -> tuple[int, int | None]:
        """The farthest affected release on the ``way`` and the nearest one that is free (None: none is)."""
        places = list(way)
        near, known_free = -1, None
        # The end first: most often it tells that there is a change at all.
        far = len(places)
        for index in range(len(places) - 1, -1, -1):
            state = self._state(releases[places[index]])
            if state is State.SKIPPED:
                continue
            if state is State.AFFECTED:
                return places[index], None
            far = known_free = index
            break
        while far - near > 1:
            middle = self._nearest_that_runs(releases, places, near, far)
            if middle is None:
                break
            if self._state(releases[places[middle]]) is State.AFFECTED:
                near = middle
            else:
                far = known_free = middle
        reached = start if near < 0 else places[near]
        return reached, None if known_free is None else places[known_free]

    def _nearest_that_runs(
        self, releases: Sequence[str], places: Sequence[int], near: int, far: int
    ) -> int | None:
        middle = (near + far) // 2
        for index in sorted(range(near + 1, far), key=lambda i: abs(i - middle)):
            if self._state(releases[places[index]]) is not State.SKIPPED:
                return index
        return None

    def _state(self, release: str) -> State:
        if release not in self.states:
            self.states[release] = str(self._subject.look(release))
            self._on_try(len(self.states), 0)
        return State(self.states[release])


def accused(expected: Expectation) -> Solver:
    """The solver to search: the guilty one, else the only one that is a release of its own."""
    for solver in expected.solvers:
        if solver.name == expected.guilty:
            return solver
    pinned = [solver for solver in expected.solvers if "==" in solver.spec and solver.family in DISTRIBUTIONS]
    if len(expected.solvers) == 1:
        return expected.solvers[0]
    if len(pinned) == 1:
        return pinned[0]
    names = " and ".join(solver.name for solver in expected.solvers)
    raise DifftestError(f"which of {names} is wrong is not known, so there is nothing to bisect")


def release_of(solver: Solver) -> tuple[str, str]:
    """The family of a solver and the release it is; DifftestError if it has no releases."""
    if solver.release is None:
        raise DifftestError(f"{solver.name} is a command line: there are no releases of it to bisect")
    return solver.family, solver.release


def position(releases: Sequence[str], release: str) -> int:
    """Where a release stands among those listed; DifftestError if it does not."""
    # 4.8.5 and 4.8.5.0 are one release.
    for number, other in enumerate(releases):
        if Version(other) == Version(release):
            return number
    raise DifftestError(f"the package index lists no release {release} for this machine")


def _read_cache(folder: Path, digest: str) -> dict[str, Any]:
    try:
        data = json.loads((folder / CACHE).read_text("utf-8"))
        return dict(data) if data["schema"] == _SCHEMA and data["sha256"] == digest else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _from_json(data: dict[str, Any]) -> BisectReport:
    tried = tuple((entry["release"], State(entry["state"])) for entry in data["tried"])
    return BisectReport(**{**data, "tried": tried})
