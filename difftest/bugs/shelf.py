"""Releases of solvers: listed once, fetched on first use, run in fresh processes."""

from __future__ import annotations

import threading
from collections.abc import Callable

from base.errors import ExhumeError
from difftest.bugs.records import Seen, Trigger
from difftest.triage.release_search import list_releases
from solvers.errors import ReleaseNotFound, SolverMissing, UnknownSolver
from solvers.lookup import families_to_ask, find_solver
from solvers.registry import PROFILES
from solvers.running.outcomes import Outcome
from solvers.running.process import Limits
from solvers.running.runner import Runner
from solvers.running.script import Script
from solvers.solver import Solver

OPTION = "option not accepted"
RUN_SECONDS = 5.0
"""The limit of a run, where no other one is given."""


class Shelf:
    """The releases at hand. Threads may share it.

    ``problems`` has by spec why a release cannot be had or does not run: it is skipped, and tried again by
    the next build.
    """

    def __init__(
        self,
        listing: Callable[[str], list[str]] = list_releases,
        find: Callable[[str], Solver] = find_solver,
    ) -> None:
        self.problems: dict[str, str] = {}
        self._listing = listing
        self._find = find
        self._lists: dict[str, list[str]] = {}
        self._solvers: dict[str, Solver | None] = {}
        self._lock = threading.RLock()

    def releases(self, family: str) -> list[str]:
        """The releases of a family from the oldest that runs here; EnvironmentProblem if they cannot be
        listed.
        """
        with self._lock:
            if family not in self._lists:
                listed = self._listing(family)
                while listed and self._is_too_old(f"{family}=={listed[0]}"):
                    listed = listed[1:]
                self._lists[family] = listed
            return self._lists[family]

    def _is_too_old(self, spec: str) -> bool:
        try:
            return self._find(spec).version() == "unknown"
        except (ReleaseNotFound, SolverMissing):
            return True
        except ExhumeError:
            return False

    def solver(self, spec: str) -> Solver | None:
        """The release that a spec names, or None where it cannot be had or run, or refuses the options."""
        with self._lock:
            if spec not in self._solvers:
                self._solvers[spec] = self._have(spec)
            return self._solvers[spec]

    def _have(self, spec: str) -> Solver | None:
        try:
            solver = self._find(spec)
            solver.check_starts()
        except UnknownSolver as problem:
            self.problems[spec] = f"{OPTION}: {problem}"
        except ExhumeError as problem:
            self.problems[spec] = " ".join(str(problem).split())[:300]
        else:
            return solver
        return None

    def others(self, family: str) -> list[Solver]:
        """The installed solvers of other families, a vote each."""
        kin = PROFILES[family].kin
        found = (self.solver(name) for name in families_to_ask() if PROFILES[name].kin != kin)
        return [solver for solver in found if solver is not None]

    def run(self, trigger: Trigger, release: str, runner: Runner, seconds: float) -> Seen | None:
        """What a release does with a trigger, in a fresh process; None where it cannot be had.

        Memory and output are limited as in a hunt. The process has a folder of its own, which is deleted.
        """
        solver = self.solver(trigger.spec(release))
        return None if solver is None else run_text(solver, trigger.text, release, runner, seconds)


def run_text(solver: Solver, text: str, release: str, runner: Runner, seconds: float) -> Seen:
    """What a solver does with a text, in a fresh process."""
    script = Script.of(text)
    if script.file_command:
        return Seen(
            release=release, outcome=str(Outcome.REFUSED), detail=f"{script.file_command} names a file"
        )
    verdict, _ = runner.judge_file(solver, script, "formula.smt2", Limits(seconds=seconds))
    return Seen.of(release, verdict)
