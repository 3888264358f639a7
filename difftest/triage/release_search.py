"""Searches the releases of a solver: the first that shows a finding, and the first that is free of it again.

The releases are those that pip finds on the package index for this machine; each one tried is fetched into
the cache like any ``z3==4.8.5``. Both searches start from the release that the finding was made with and
assume that it is affected from one release on up to another. Releases that cannot be had, do not run here or
refuse the formula are skipped. What was tried is kept in the finding's ``bisect.json``.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from packaging.version import Version

from base.documents import from_document
from base.errors import ExhumeError
from base.files import put_json, put_text
from base.steps import Tick, nothing
from difftest.errors import DifftestError, NotShown
from difftest.triage.classes.base import Expectation
from difftest.triage.confirm import Confirmer
from difftest.triage.expectation import expectation_of_finding, read_formula
from difftest.triage.folder import BISECTED, FindingFolder
from difftest.triage.kinds import State, Subject
from solvers.errors import EnvironmentProblem, ReleaseNotFound, SolverMissing
from solvers.lookup import find_solver
from solvers.registry import DISTRIBUTIONS, PROFILES
from solvers.running.runner import Runner
from solvers.solver import Solver

_SCHEMA = 1
# Other releases may be far slower than the one that showed it, but what is not decided by then counts as not
# affected: they get 100 times what the test took, within these bounds. One that never ends costs all of it,
# in each release.
_FACTOR = 100.0
_LEAST_SECONDS = 5.0
_MOST_SECONDS = 20.0
_FOURTH_ZERO = re.compile(r"^(\d+\.\d+\.\d+)\.0$")


@dataclass(frozen=True, slots=True)
class BisectReport:
    """What a bisection found.

    ``tried`` is in the order of the releases. ``since_the_oldest`` says that the oldest one that runs here is
    affected already. ``first_fixed`` is None if the newest is affected.
    """

    solver: str
    release: str
    formula: str
    first_affected: str
    since_the_oldest: bool
    last_affected: str
    first_fixed: str | None
    tried: tuple[tuple[str, State], ...]

    def to_json(self) -> dict[str, Any]:
        """The document that ``bisect --json`` prints."""
        tried = [{"release": release, "state": str(state)} for release, state in self.tried]
        return {**asdict(self), "tried": tried}


def list_releases(family: str) -> list[str]:
    """The releases that pip finds for this machine, oldest first; EnvironmentProblem if it finds none.

    Those without a wheel are left out: to ask for one takes pip seconds, each time. A fourth number that is
    zero is left out, so that ``4.8.5.0`` and ``4.8.5`` are one entry of the cache.
    """
    distribution = DISTRIBUTIONS[family]
    command = [sys.executable, "-P", "-m", "pip", "index", "versions", distribution]
    if not PROFILES[family].any_python:
        command.append("--only-binary=:all:")
    command += ["--disable-pip-version-check", "--no-input"]
    result = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    found = re.search(r"^Available versions: (.+)$", result.stdout, re.M)
    if result.returncode or found is None:
        last = result.stderr.strip().rpartition("\n")[2] or "no message"
        raise EnvironmentProblem(f"pip cannot list the releases of {distribution} (no network?): {last}")
    return [_FOURTH_ZERO.sub(r"\1", version.strip()) for version in found.group(1).split(",")][::-1]


def find_release(family: str, release: str) -> Solver | None:
    """That release as a solver, or None if it cannot be had or run here."""
    try:
        solver = find_solver(f"{family}=={release}")
    except (ReleaseNotFound, SolverMissing):
        return None
    return None if solver.version() == "unknown" else solver


def subject_of_formula(found: FindingFolder) -> Subject:
    """What releases are given of a finding about a formula."""
    text = read_formula(found.path / found.file)
    return subject_of(text, found.file, expectation_of_finding(found.path))


def subject_of(text: str, name: str, expected: Expectation, solver: Solver | None = None) -> Subject:
    """The search for ``expected`` in a formula, which the file ``name`` holds, by releases of ``solver`` (the
    accused one, if it is not given).
    """
    solver = solver or searched_solver(expected)
    look = functools.partial(try_formula, text, expected, solver)
    return Subject(solver.name, solver.family, release_of(solver), name, text, look)


def search(
    folder: Path,
    subject: Subject,
    again: bool = False,
    on_try: Tick = nothing,
) -> BisectReport:
    """Search the releases, with what was tried before; what is found stands in the finding's ``bisect.json``.

    Where one ``again`` does not come to its end, what an earlier one found stays. NotShown if the subject's
    own release does not show the finding.
    """
    digest = _digest(subject.text)
    finished, states = _read_cache(folder, digest)
    if finished is not None and not again:
        return finished
    under_way = ReleaseSearch(subject.look, {} if again else states, on_try)
    releases = _known_releases(subject.family)
    try:
        report = _search_both_ways(subject, under_way, releases)
    except BaseException:  # Ctrl-C, too
        if finished is None:
            put_text(folder / BISECTED, kept_states(subject.text, under_way.states))
        raise
    done = {"complete": True, "states": under_way.states, "report": report.to_json()}
    put_json(folder / BISECTED, {"schema": _SCHEMA, "sha256": digest, **done})
    return report


def kept_states(text: str, states: Mapping[str, str]) -> str:
    """The text of a ``bisect.json`` of a search that is not finished."""
    document = {"schema": _SCHEMA, "sha256": _digest(text), "complete": False, "states": dict(states)}
    return json.dumps(document, indent=2) + "\n"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def try_formula(text: str, expected: Expectation, solver: Solver, release: str) -> State:
    """What a release of ``solver`` does with a formula."""
    found = find_release(solver.family, release)
    patience = min(_MOST_SECONDS, max(_LEAST_SECONDS, _FACTOR * expected.took))
    return State.SKIPPED if found is None else try_other(text, expected, solver, found, patience)


def try_other(
    text: str,
    expected: Expectation,
    solver: Solver,
    other: Solver,
    seconds: float,
    within: Runner | None = None,
) -> State:
    """What another solver does with a formula, in the place of ``solver`` and with its options; a run has
    ``seconds`` at least.
    """
    expected = replace(expected, exact=False, seconds=max(seconds, expected.seconds))
    # Its options are part of the finding.
    stand_in = replace(other, name=solver.name, checks=solver.checks)
    solvers = tuple(stand_in if s.name == solver.name else s for s in expected.solvers)
    with Confirmer(replace(expected, solvers=solvers), fast=False, within=within) as confirmer:
        if confirmer(text):
            return State.AFFECTED
        return State.SKIPPED if confirmer.refused else State.FREE


class Enough(Exception):
    """No further release is tried."""


@dataclass(slots=True)
class ReleaseSearch:
    """Tries releases, each once, by ``look``: at most ``most`` that run, and none after the time ``end``."""

    look: Callable[[str], State]
    states: dict[str, str] = field(default_factory=dict)
    on_try: Tick = nothing
    most: int | None = None
    end: float = math.inf

    def state(self, release: str) -> State:
        """What a release does with it."""
        if release not in self.states:
            ran = sum(state != State.SKIPPED for state in self.states.values())
            if (self.most is not None and ran >= self.most) or time.monotonic() > self.end:
                raise Enough
            self.states[release] = str(self.look(release))
            self.on_try(len(self.states), 0)
        return State(self.states[release])

    def edge(self, way: Sequence[str], nearest_first: bool = False) -> tuple[str | None, str | None]:
        """The farthest affected release on the ``way``, which begins beside an affected one, and the nearest
        one that is free; None where there is none.

        The far end comes first: most often it tells that there is a change at all. ``nearest_first`` goes
        there in growing steps instead.
        """
        affected, free = self._steps(way) if nearest_first else self._far_end(way)
        left = list(range(affected + 1, free))
        while left:
            place = left[len(left) // 2]
            state = self.state(way[place])
            if state is State.FREE:
                free, left = place, [n for n in left if n < place]
            elif state is State.AFFECTED:
                affected, left = place, [n for n in left if n > place]
            else:
                left.remove(place)
        return (
            None if affected < 0 else way[affected],
            way[free] if free < len(way) and self.states[way[free]] == State.FREE else None,
        )

    def _far_end(self, way: Sequence[str]) -> tuple[int, int]:
        for place in reversed(range(len(way))):
            state = self.state(way[place])
            if state is State.AFFECTED:
                return place, place + 1
            if state is State.FREE:
                return -1, place
        return -1, 0

    def _steps(self, way: Sequence[str]) -> tuple[int, int]:
        affected, place, step = -1, 0, 1
        while place < len(way):
            state = self.state(way[place])
            if state is State.FREE:
                return affected, place
            if state is State.AFFECTED:
                affected, place, step = place, place + step, 2 * step
            else:
                place += 1
        return affected, len(way)


def _search_both_ways(subject: Subject, under_way: ReleaseSearch, releases: Sequence[str]) -> BisectReport:
    """Search from the subject's release to the oldest and to the newest."""
    start = position(releases, subject.release)
    own = releases[start]
    # Where a run did not show what not every run does, the next may.
    if under_way.states.get(own) != State.AFFECTED:
        under_way.states.pop(own, None)
    if under_way.state(own) is not State.AFFECTED:
        build = f", only the build {subject.release} does" if "+" in subject.release else ""
        raise NotShown(f"{subject.family} {own} does not show the finding{build}")
    first, before = under_way.edge(releases[:start][::-1])
    last, after = under_way.edge(releases[start + 1 :])
    tried = tuple((r, State(under_way.states[r])) for r in releases if r in under_way.states)
    return BisectReport(
        *(subject.name, own, subject.file, first or own, before is None, last or own, after), tried
    )


@dataclass(slots=True)
class LookBack:
    """What older releases do, as far as they were asked: ``sentences`` for the evidence, and the ``states``
    of the releases that were tried, in that order.
    """

    sentences: list[str]
    states: dict[str, str] = field(default_factory=dict)


def look_back(subject: Subject, most: int, seconds: float) -> LookBack:
    """Ask at most ``most`` older releases, and none after so many ``seconds``: the one before first, then in
    growing steps back to one that does not show it, then between the two.

    Where none can be asked (no network), the only sentence says so.
    """
    under_way = ReleaseSearch(subject.look, most=most, end=time.monotonic() + seconds)
    first, is_complete, problem = None, False, ""
    try:
        releases = _known_releases(subject.family)
        older = releases[: position(releases, subject.release)][::-1]
        first, _ = under_way.edge(older, nearest_first=True)
        is_complete = True
    except Enough:
        pass
    except ExhumeError as error:
        problem = " ".join(str(error).split())[:300]
        if not under_way.states:
            return LookBack([f"no older release of {subject.family} was asked: {problem}"])
    said = _sentences(subject, under_way.states, first or subject.release, is_complete, problem)
    return LookBack(list(said), under_way.states)


def _sentences(
    subject: Subject, states: Mapping[str, str], first: str, is_complete: bool, problem: str
) -> Iterator[str]:
    """What was found out, in the order of asking."""
    family = subject.family
    shown = [release for release, state in states.items() if state == State.AFFECTED]
    free = [release for release, state in states.items() if state == State.FREE]
    if shown:
        yield f"{family} {', '.join(shown)} {'shows' if len(shown) == 1 else 'show'} it, too"
    if free:
        yield f"{family} {', '.join(free)} {'does' if len(free) == 1 else 'do'} not show it"
    if problem:
        yield f"no further release of {family} was asked: {problem}"
    elif is_complete and (shown or free):
        yield f"first affected release: {family} {first}{'' if free else ', the oldest that runs here'}"
    elif shown or free:
        yield "exhume bisect finds the first affected release"
    elif states:
        yield f"none of {len(states)} older releases of {family} that were tried runs the program here"
    elif is_complete:
        yield f"there is no older release of {family}"
    else:
        yield f"no older release of {family} was asked in time"


@functools.cache
def _listed(family: str) -> tuple[tuple[str, ...], str]:
    """The releases, or why they cannot be listed: asked once, as pip takes a second, and longer without a
    network.
    """
    try:
        return tuple(list_releases(family)), ""
    except EnvironmentProblem as problem:
        return (), str(problem)


def _known_releases(family: str) -> tuple[str, ...]:
    releases, problem = _listed(family)
    if problem:
        raise EnvironmentProblem(problem)
    return releases


def searched_solver(expected: Expectation) -> Solver:
    """The solver to search: the culprit, else the only one that is a release of its own."""
    for solver in expected.solvers:
        if solver.name == expected.culprit:
            return solver
    pinned = [solver for solver in expected.solvers if "==" in solver.spec and solver.family in DISTRIBUTIONS]
    if len(expected.solvers) == 1:
        return expected.solvers[0]
    if len(pinned) == 1:
        return pinned[0]
    names = " and ".join(solver.name for solver in expected.solvers)
    raise DifftestError(f"which of {names} is wrong is not known, so there is nothing to bisect")


def release_of(solver: Solver) -> str:
    """The release that a solver is; DifftestError if it has none."""
    if solver.release is None:
        raise DifftestError(f"{solver.name} is a command line: there are no releases of it to bisect")
    return solver.release


def position(releases: Sequence[str], release: str) -> int:
    """Where a release, or the one that a build is of, stands among those listed. DifftestError if nowhere."""
    # A build's label follows a plus. 4.8.5 and 4.8.5.0 are one release.
    for number, other in enumerate(releases):
        if Version(other) == Version(release.partition("+")[0]):
            return number
    raise DifftestError(f"the package index lists no release {release} for this machine")


def _read_cache(folder: Path, digest: str) -> tuple[BisectReport | None, dict[str, str]]:
    """The report of a finished search for what has this digest, and the states of the releases that were
    tried; nothing where the file is damaged.
    """
    try:
        data = json.loads((folder / BISECTED).read_text("utf-8"))
        if (data["schema"], data["sha256"]) != (_SCHEMA, digest):
            return None, {}
        states = {release: str(State(state)) for release, state in data["states"].items()}
        return (_from_json(data["report"]) if data["complete"] else None), states
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None, {}


def _from_json(data: dict[str, Any]) -> BisectReport:
    tried = [(entry["release"], entry["state"]) for entry in data["tried"]]
    return from_document({**data, "tried": tried}, BisectReport)
