"""Questions to a solver's library, many in one forked process; a crash or a hang loses only one answer.

A *task* is a function in ``solvers/SOLVER/tasks.py`` from a question to an answer, both JSON values. A
supervisor (:mod:`solvers.running.process`) loads the module and forks a process for each list of questions,
which writes a line per answer. If the process ends early, a new one continues after the question that ended
it.

The time limit of a question is CPU time, so a busy machine does not matter; the limit on wall-clock time is
six times as long. Memory is limited as for every run.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

from solvers.errors import RunnerLost
from solvers.running import _supervisor
from solvers.running.process import Limits, Run, Supervisor, signal_name

_ROOT = Path(__file__).resolve().parents[2]
_SLEEPING = 6.0
_OUTPUT = 64 << 20
_LATE = (signal.SIGPROF, signal.SIGALRM)
_MESSAGE = 400
_NO_MEMORY = 101


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """Why a question has no answer; ``detail`` is for people."""

    cause: Literal["timeout", "memory", "crash"]
    detail: str


class TaskProcess:
    """A process that runs one task of a module; use under ``with``, from one thread at a time.

    It starts on first use. A copy of this object in another process starts its own.
    """

    def __init__(
        self,
        module: str,
        arguments: Sequence[str],
        seconds: float = 5.0,
        memory: int = 3 << 30,
        folder: Path = _ROOT,
    ) -> None:
        """``module`` is in ``folder``; its function ``prepare`` turns ``arguments`` into an engine (see
        :func:`answering`). ``seconds`` is CPU time per question, ``memory`` is in bytes.
        """
        self._options = [str(folder), module, *arguments]
        self._seconds = seconds
        self._memory = memory
        self._supervisor: Supervisor | None = None
        self._owner = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self.close()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_supervisor": None}

    def ask(self, questions: Sequence[Any]) -> list[Any]:
        """The answer to each question, or :class:`NoAnswer`.

        Raises EnvironmentProblem if the library cannot be loaded, RunnerLost if the process is closed.
        """
        answers: list[Any] = []
        alone = False
        while len(answers) < len(questions):
            batch = questions[len(answers) :][: 1 if alone else None]
            found, missing = self._try(batch)
            answers += found
            # An earlier question in the same process may have caused a crash, so the question is asked again
            # alone.
            if missing and (not found or missing.cause == "timeout"):
                answers.append(missing)
                alone = False
            else:
                alone = missing is not None
        return answers

    def close(self) -> None:
        """End the process; a pending question in another thread gets no answer."""
        if self._supervisor is not None and self._owner == os.getpid():
            self._supervisor.close()

    def _try(self, questions: Sequence[Any]) -> tuple[list[Any], NoAnswer | None]:
        """The answers up to the first question without one, and why it has none."""
        if self._supervisor is None or self._owner != os.getpid():
            self._supervisor, self._owner = Supervisor(self._options), os.getpid()
        limits = Limits(_SLEEPING * self._seconds * len(questions), self._memory, _OUTPUT)
        body = json.dumps(list(questions)).encode()
        run = self._supervisor.evaluate(body, limits, options=[str(self._seconds)])
        lines = run.stdout.split("\n")[:-1]
        answers = [json.loads(line) for line in lines[: len(questions)]]
        return answers, None if len(answers) == len(questions) else self._why(run)

    def _why(self, run: Run) -> NoAnswer:
        if run.ended == "cancelled":
            raise RunnerLost("the process was ended before it had answered")
        if run.ended == "timeout" or run.signal in _LATE:
            return NoAnswer("timeout", f"no answer in {self._seconds:g} s")
        if run.ended == "memory" or run.code == _NO_MEMORY:
            return NoAnswer("memory", "out of memory")
        how = f"exit status {run.code}"
        if run.signal:
            how = signal_name(run.signal) or f"signal {run.signal}"
        if run.ended == "output":
            how = "it printed too much"
        message = run.stderr.strip()[-_MESSAGE:]
        return NoAnswer("crash", f"{how}: {message}" if message else how)


# In the forked process


def answering(task: Callable[[Any], Any]) -> Callable[[dict[str, Any], bytes], int]:
    """The engine that runs ``task``, for a supervisor's ``--engine``."""

    def engine(header: dict[str, Any], questions: bytes) -> int:
        answers = os.dup(1)
        os.dup2(2, 1)  # keeps the library's own output apart from the answers
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        seconds = float(header["options"][0])
        try:
            for question in json.loads(questions):
                signal.setitimer(signal.ITIMER_PROF, seconds)
                signal.setitimer(signal.ITIMER_REAL, _SLEEPING * seconds)
                _supervisor.write_all(answers, json.dumps(task(question)).encode() + b"\n")
        except MemoryError:
            return _NO_MEMORY
        return 0

    return engine
