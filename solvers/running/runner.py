"""Runs solvers on tests: in forked children of warm processes (the fast path), or in fresh processes."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Self

from solvers.errors import RunnerLost
from solvers.registry import PROFILES
from solvers.running.outcomes import Outcome, Verdict, judge
from solvers.running.process import Limits, Run, Supervisor
from solvers.running.script import Script
from solvers.specs import Solver, is_asked

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
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
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
        if self._scratch is not None:
            self._scratch.cleanup()

    def close(self) -> None:
        """End all processes; a current run in another thread, and any later run, ends as cancelled."""
        self._closed = True
        parts: list[Supervisor | Runner] = [self._plain, *self._engines.values(), *self._inner]
        for part in parts:
            part.close()

    def judge(self, solver: Solver, script: Script, limits: Limits) -> Verdict:
        """Run ``solver`` on ``script`` the fastest way and interpret the result.

        A script that names files to read or write is refused without a run, and so is one with strings that
        the solver's release cannot spell. The solver may get a changed script (``Solver.given``).
        """
        if script.file_command:
            why = f"not run: {script.file_command} names a file"
        elif not solver.can_read(script):
            why = "not run: this release has no spelling for a character of a string"
        else:
            try:
                return judge(solver.given(script), self.run(solver, script, limits), solver.family)
            except RunnerLost as lost:
                # The test killed its supervisor: this is counted, and other tests are not affected.
                why = f"{LOST}: {lost}"
        return Verdict(Outcome.REFUSED, (None,) * len(script.checks), 0.0, why)

    def judge_file(self, solver: Solver, script: Script, file: Path, limits: Limits) -> tuple[Verdict, Run]:
        """Run ``solver`` on ``file`` in a fresh process, with the command line that a report shows.

        If the solver gets a changed script (``Solver.given``), that is written next to ``file``.
        """
        run = self._start(solver, script, file, limits)
        return judge(solver.given(script), run, solver.family), run

    def run(self, solver: Solver, script: Script, limits: Limits) -> Run:
        """Run ``solver`` on ``script`` the fastest way."""
        # The library cannot read NUL bytes, nor text without commands, which may be anything.
        if not self.warm or solver.loadable is None or b"\0" in script.data or not script.commands:
            return self._start(solver, script, self._written(script), limits)
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
            return self._start(solver, script, self._written(script), limits)
        return engine.evaluate(given.data, limits, options=solver.options(script))

    def _engine(self, solver: Solver) -> Supervisor:
        command = engine_command(solver)
        engine = self._engines.get(command)
        if engine is None:
            engine = self._engines[command] = Supervisor(command)
            if self._closed:
                engine.close()
        return engine

    def _start(self, solver: Solver, script: Script, file: Path, limits: Limits) -> Run:
        command = solver.command(script, file.name)
        if (name := solver.given_file(script, file.name)) != file.name:
            file = file.with_name(name)
            file.write_bytes(solver.given(script).data)
        stdin = file if solver.reads_stdin else None
        return self._plain.execute(command, limits, cwd=file.parent, stdin=stdin)

    def _written(self, script: Script) -> Path:
        if self._scratch is None:
            self._scratch = tempfile.TemporaryDirectory(prefix="exhume-")
        file = Path(self._scratch.name) / "test.smt2"
        file.write_bytes(script.data)
        return file


def engine_command(solver: Solver) -> tuple[str, ...]:
    """What a supervisor needs to keep a solver loaded: all runs with the same command can share it."""
    kept = [check for check in solver.checks if check not in solver.mode and not is_asked(check)]
    profile = PROFILES[solver.family]
    file = profile.file("engine.py" if profile.library else "driver.py")
    assert file is not None and solver.loadable is not None, f"{solver.name} cannot be kept loaded"
    return (str(file.parent), file.stem, solver.loadable, *(kept if profile.library else ()))
