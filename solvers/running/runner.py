"""Runs solvers on tests: in forked children of warm processes (the fast path), or in fresh processes."""

from __future__ import annotations

import re
from typing import Self

from solvers.errors import RunnerLost
from solvers.registry import PROFILES
from solvers.running.outcomes import Outcome, Verdict, judge
from solvers.running.process import Limits, Run, Supervisor
from solvers.running.script import Script
from solvers.solver import Solver, run_file
from solvers.specs import is_asked

UNSUPPORTED = re.compile(r"^unsupported\b|option value cannot be modified after initialization", re.MULTILINE)
"""What a library says to a command that its program may know, and to an option that comes too late for it."""

LOST = "runner lost"
"""How the detail of a verdict begins if there was no run to judge: its supervisor was killed."""


class Runner:
    """Runs solvers for one worker, one run at a time; use under ``with``.

    It has a supervisor for each solver that can be kept loaded and one for programs; each starts on first
    use. ``warm=False`` starts a program for every run. ``close`` may be called from another thread; it also
    closes the runners made ``within`` this one.

    Each run has a process of its own; see :class:`solvers.running.screener.Screener` for runs that do not.
    """

    def __init__(self, warm: bool = True, within: Runner | None = None) -> None:
        self.warm = warm
        self._closed = False
        self._inner: list[Runner] = []
        self._plain = Supervisor()
        self._engines: dict[tuple[str, ...], Supervisor] = {}
        self._outer = within
        if within is not None:
            within._inner.append(self)
            if within._closed:
                self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        if self._outer is not None:
            self._outer._inner.remove(self)

    def close(self) -> None:
        """End all processes; a current run in another thread, and any later run, ends as cancelled."""
        self._closed = True
        parts: list[Supervisor | Runner] = [self._plain, *self._engines.values(), *self._inner]
        for part in parts:
            part.close()

    def judge(self, solver: Solver, script: Script, limits: Limits) -> Verdict:
        """Run ``solver`` on ``script`` the fastest way and interpret the result.

        The solver may get a changed script (``Solver.given``).
        """
        try:
            return judge(solver.given(script), self.run(solver, script, limits), solver.family)
        except RunnerLost as lost:
            # The test killed its supervisor: this is counted, and other tests are not affected.
            return Verdict(Outcome.REFUSED, (None,) * len(script.checks), 0.0, f"{LOST}: {lost}")

    def judge_file(self, solver: Solver, script: Script, name: str, limits: Limits) -> tuple[Verdict, Run]:
        """Run ``solver`` on a file of this name in a fresh process, with the command line of a report."""
        run = self._start(solver, script, name, limits)
        return judge(solver.given(script), run, solver.family), run

    def run(self, solver: Solver, script: Script, limits: Limits) -> Run:
        """Run ``solver`` on ``script`` the fastest way.

        A script that names files is refused without a run, and so is one with strings that the solver's
        release cannot spell.
        """
        # The library cannot read NUL bytes, nor text without commands, which may be anything.
        is_loaded = self.warm and solver.loadable is not None and b"\0" not in script.data and script.commands
        if not is_loaded or _why_not_run(solver, script):
            return self._start(solver, script, "test.smt2", limits)
        engine = self._engine(solver)
        given = solver.given(script)
        if PROFILES[solver.family].library:
            # Its options are set when it is loaded; those of a mode are sent with the text.
            added = tuple(option for option in solver.mode if not is_asked(option))
            run = engine.evaluate(given.data, limits, chunks=given.chunks(), options=added)
            if UNSUPPORTED.search(run.stdout) is None:
                return run
            # The libraries of old releases do not know all commands that their programs do: those for
            # optimisation, for one.
            return self._start(solver, script, "test.smt2", limits)
        return engine.evaluate(given.data, limits, options=solver.options(script))

    def _engine(self, solver: Solver) -> Supervisor:
        command = engine_command(solver)
        engine = self._engines.get(command)
        if engine is None:
            engine = self._engines[command] = Supervisor(command)
            if self._closed:
                engine.close()
        return engine

    def _start(self, solver: Solver, script: Script, name: str, limits: Limits) -> Run:
        if why := _why_not_run(solver, script):
            return Run("exit", 1, None, f'(error "not run: {why}")\n', "", 0.0)
        return run_file(self._plain, solver, script, name, limits)


def _why_not_run(solver: Solver, script: Script) -> str | None:
    if script.file_command:
        return f"{script.file_command} names a file"
    return None if solver.can_read(script) else "this release has no spelling for a character of a string"


def engine_command(solver: Solver) -> tuple[str, ...]:
    """What a supervisor needs to keep a solver loaded: all runs with the same command can share it."""
    kept = [check for check in solver.checks if check not in solver.mode and not is_asked(check)]
    profile = PROFILES[solver.family]
    file = profile.file("engine.py" if profile.library else "driver.py")
    assert file is not None and solver.loadable is not None, f"{solver.name} cannot be kept loaded"
    return (str(file.parent), file.stem, solver.loadable, *(kept if profile.library else ()))
