"""The stack of a crash, as gdb sees it, if it is installed.

Most crashes by a signal print no place. Their stack has it: the wheels of z3 and cvc5 have symbols.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from msgspec import structs

from difftest.oracles.base import Candidate
from difftest.triage.classes.base import Expectation
from difftest.triage.key import Key
from solvers.errors import RunnerLost
from solvers.running.crash_places import function_of, stack_of
from solvers.running.process import Limits, Run, run
from solvers.running.runner import Runner
from solvers.running.script import Script
from solvers.solver import Solver

_GDB = (
    *("-q", "-batch", "-nx", "-iex", "set auto-load off", "-iex", "set debuginfod enabled off"),
    *("-ex", "set width 0", "-ex", "set print frame-arguments none"),
)
# z3 ends with an exit code after a failed assertion.
_STOP_AT_EXIT = ("-ex", "set breakpoint pending on", "-ex", "break exit", "-ex", "break _exit")
_MOST_FRAMES = 40
# A stack of more frames is a recursion without end.
_RECURSION = 400
_MOST_SHOWN = 12
_FILE = "input.smt2"
# In seconds: gdb reads the symbols first.
_LOADING = 15.0
_LIMITS = Limits(seconds=60.0, memory=4 << 30, output=1 << 20)


def stack_seen(argv: Sequence[str], folder: Path) -> tuple[str, ...]:
    """The functions of a crash of a command in ``folder``, the innermost first; nothing without gdb. The last
    word may be ``<FILE``.
    """
    for stops in ((), _STOP_AT_EXIT):
        before = _under_gdb(_MOST_FRAMES, *stops)
        if before and (names := stack_of(run_in(folder, argv, before).stdout)):
            return tuple(names[:_MOST_SHOWN])
    return ()


def run_in(folder: Path, argv: Sequence[str], before: Sequence[str] = ()) -> Run:
    """A run in ``folder`` of a command whose last word may be ``<FILE``, with other words before it."""
    *first, last = argv
    if last.startswith("<"):
        return run([*before, *first], _LIMITS, cwd=folder, stdin=folder / last[1:])
    return run([*before, *argv], _LIMITS, cwd=folder)


def function_that_dies(solver: Solver, text: str, seconds: float, runner: Runner) -> str | None:
    """The function in which a solver dies by a signal on ``text`` within ``seconds``, in a fresh process of
    the ``runner``. None without gdb, or if the stack does not say it.
    """

    def run_again(before: Sequence[str], limits: Limits) -> Run:
        debugged = replace(solver, argv=(*before, *solver.argv))
        return runner.judge_file(debugged, Script.of(text), _FILE, limits)[1]

    return function_seen(run_again, seconds)


def function_seen(run_again: Callable[[Sequence[str], Limits], Run], seconds: float) -> str | None:
    """The same for a run of any process: ``run_again`` runs it with the words of gdb before its command."""
    before = _under_gdb(_RECURSION)
    if not before:
        return None
    with contextlib.suppress(RunnerLost):
        seen = run_again(before, structs.replace(_LIMITS, seconds=_LOADING + seconds))
        function = function_of(seen.stdout, _RECURSION)
        # ``|`` stands between the parts of keys.
        return function and function.replace("|", "/")
    return None


def key_by_function(candidate: Candidate, expected: Expectation, text: str, runner: Runner) -> str | None:
    """The key of a death by a signal, by the function in which the solver dies on the reduced ``text``:
    operators and options say nothing more. None for any other candidate, or if the function is not known.
    """
    key = Key.read(candidate.key)
    if candidate.finding_class != "crash" or not key.where or not key.where[0].startswith("signal "):
        return None
    function = function_that_dies(expected.accused, text, expected.seconds, runner)
    if function is None:
        return None
    where = (f"{key.where[0]} in {function}",)
    return str(Key(key.finding_class, key.solver_alone, where))


def _under_gdb(frames: int, *stops: str) -> tuple[str, ...]:
    """The words before a command that let gdb print the innermost ``frames`` of a death; none without gdb."""
    gdb = shutil.which("gdb")
    return () if gdb is None else (gdb, *_GDB, *stops, "-ex", "run", "-ex", f"backtrace {frames}", "--args")
