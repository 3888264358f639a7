"""Runs of many tests in one process: to see which deserve a run of their own."""

from __future__ import annotations

import contextlib
import re

from msgspec import structs
from packaging.version import Version

from solvers.errors import RunnerLost
from solvers.registry import PROFILES
from solvers.running.outcomes import Outcome, judge
from solvers.running.process import Limits, Run, Supervisor
from solvers.running.runner import UNSUPPORTED, Runner, engine_command
from solvers.running.script import Script
from solvers.solver import Solver
from solvers.specs import is_asked

# What these commands do may outlast (reset).
_LASTING = frozenset({"set-option", "exit", "reset"})
_BLANK = re.compile(rb"(?:\s|;[^\n]*(?:\n|\Z))*\Z")
_TRIAL = b"(set-logic ALL)(declare-const x Int)(assert (> x 1))(check-sat)"
_TRIAL_SECONDS = 5.0
# What a run of its own gets in addition, where a shared process has shown something: it has to start.
_START_SECONDS = 0.05


class Screener(Runner):
    """A runner that shares a process among scripts where it can; closed with the runner it is ``within``.

    A small script takes a solver a few milliseconds, and a new process for it as many or more. So a process
    runs one script after another, with ``(reset)`` in between, or with new objects of the solver's interface.
    What it answers, and that it takes too long, counts. Whatever else shows (errors, crashes, invalid models)
    is left to a run by ``within``, in a process of its own. What a solver does wrong in a new process alone
    is missed.
    """

    def __init__(self, within: Runner) -> None:
        super().__init__(within.warm, within)
        self._own = within
        self._shared: dict[tuple[str, ...], Supervisor | None] = {}

    def close(self) -> None:
        """End the shared processes; see ``Runner.close``."""
        super().close()
        for supervisor in filter(None, list(self._shared.values())):
            supervisor.close()

    def run(self, solver: Solver, script: Script, limits: Limits) -> Run:
        """Run ``solver`` on ``script`` in a shared process, else in one of its own."""
        if self.warm and _may_share(solver, script) and (supervisor := self._process(solver)) is not None:
            with contextlib.suppress(RunnerLost):
                run = _share(supervisor, solver, script, limits)
                if run.ended == "timeout":
                    return run
                if _is_clean(run) and _is_harmless(run, solver, script):
                    return structs.replace(run, ended="exit")
                limits = structs.replace(limits, seconds=limits.seconds + _START_SECONDS)
        return self._own.run(solver, script, limits)

    def _process(self, solver: Solver) -> Supervisor | None:
        """The shared process of a solver; None if it cannot run one script after another."""
        command = () if solver.loadable is None else engine_command(solver)
        key = (solver.base_name, *command)
        if key not in self._shared:
            supervisor = Supervisor(command)
            is_able = _can_share(supervisor, solver)
            self._shared[key] = supervisor if is_able else None
            if self._closed or not is_able:
                supervisor.close()
        return self._shared[key]


def _may_share(solver: Solver, script: Script) -> bool:
    """Whether a run on the script leaves a process as it was."""
    commands = script.commands
    return (
        bool(commands)
        and _LASTING.isdisjoint([command.name for command in commands])
        # What follows an unbalanced parenthesis would swallow (reset).
        and _BLANK.match(script.data, commands[-1].end) is not None
        and b"\0" not in script.data
        and not script.file_command
        and solver.can_read(script)
        and all(map(is_asked, solver.mode))
    )


def _can_share(supervisor: Supervisor, solver: Solver) -> bool:
    """Whether a solver answers two scripts in a row."""
    since = PROFILES[solver.kin].repeats_since if solver.kin in PROFILES else ""
    if not since or (solver.release is not None and Version(solver.release) < Version(since)):
        return False
    if not {"{}", "-"}.isdisjoint(solver.argv):
        return False
    with contextlib.suppress(RunnerLost):
        limits = Limits(seconds=_TRIAL_SECONDS)
        runs = [_share(supervisor, solver, Script(_TRIAL), limits) for _ in range(2)]
        return all(_is_clean(run) and run.stdout.split() == ["sat"] for run in runs)
    return False


def _share(supervisor: Supervisor, solver: Solver, script: Script, limits: Limits) -> Run:
    given = solver.given(script)
    if solver.loadable is None:
        argv = [*solver.argv, *solver.options(script), *PROFILES[solver.kin].on_input]
        return supervisor.share(given.data, limits, argv=argv)
    if PROFILES[solver.family].library:
        return supervisor.share(given.data, limits, given.chunks())
    return supervisor.share(given.data, limits, options=solver.options(script))


def _is_clean(run: Run) -> bool:
    return run.ended == "answered" and not run.stderr and not UNSUPPORTED.search(run.stdout)


def _is_harmless(run: Run, solver: Solver, script: Script) -> bool:
    outcome = judge(solver.given(script), run, solver.family).outcome
    return outcome in (Outcome.OK, Outcome.UNKNOWN, Outcome.TIMEOUT)
