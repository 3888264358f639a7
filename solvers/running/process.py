"""Runs solvers through supervisor processes: the exhume side.

Memory is limited by checking the resident size of the process every 50 ms, and of all its descendants every
200 ms, not by RLIMIT_AS: with limited address space a solver crashes in odd places, which would count as its
bug; sanitizer builds do not start; and the limit does not include children. The price is that a process can
exceed its limit for 50 ms. The same holds for tasks (:mod:`solvers.running.tasks`).
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self

from msgspec import Struct, structs

import solvers
from base.cache import cache_folder
from solvers.errors import EnvironmentProblem, RunnerLost
from solvers.running import _supervisor
from solvers.running import orphans as _orphans

Ended = Literal["exit", "timeout", "memory", "output", "cancelled", "answered"]

_SECRET = re.compile(
    r"token|secret|passw|credential|cookie|api_?key|private_?key|access_?key|auth|^(gh|github|gitlab|aws|azure)_",
    re.I,
)
_URL_WITH_LOGIN = re.compile(r"://[^/\s]*@")
# Seconds that a reply may take beyond the solver's limit before its supervisor counts as lost (killing,
# reaping, a busy machine).
_GRACE = 30.0
_LOADING = 60.0
# The milliseconds that poll() can wait.
_LONGEST_POLL = 2**31 - 1
# Runs _supervisor.py, the first argument, as a module: Python keeps no compiled form of programs.
_START = (
    "import sys; sys.argv.pop(0); sys.path.insert(0, sys.argv[0].rpartition('/')[0]); import _supervisor;"
    " sys.path.pop(0); _supervisor.run()"
)


class Limits(Struct, frozen=True):
    """Limits of one run: wall-clock ``seconds``, resident ``memory`` and ``output``, both in bytes."""

    seconds: float = 10.0
    memory: int = 2 << 30
    output: int = 4 << 20


class Run(Struct, frozen=True):
    """The result of one run; ``signal`` is set if a signal ended it, ``code`` if it exited. Where a process
    runs several texts, ``answered`` is the end of one.
    """

    ended: Ended
    code: int | None
    signal: int | None
    stdout: str
    stderr: str
    seconds: float


def clean_environment(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment for a solver: ours, without anything that looks like a token or password."""
    source = os.environ if environment is None else environment
    return {
        name: value
        for name, value in source.items()
        if not _SECRET.search(name) and not _URL_WITH_LOGIN.search(value)
    }


class Supervisor:
    """A supervisor process, started on first use; use under ``with``, from one thread at a time.

    ``engine`` is a folder, a module in it, and the arguments of the module's function ``prepare``, which
    returns the function that a forked child runs on a request; without an engine it can only run programs.
    Its request has ``share`` where another request may follow in the same child.
    ``close`` may be called from another thread: a current run then ends as cancelled.
    """

    def __init__(self, engine: Sequence[str] = ()) -> None:
        self._arguments = ["--engine", *engine] if engine else []
        # Installed packages are for engines.
        self._flags = ["-I"] if engine else ["-I", "-S"]
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False
        self._mark = _orphans.new_mark()

    @cached_property
    def folder(self) -> Path:
        """The working folder of all that it runs, emptied after each run: no file of the user is in it."""
        made = tempfile.mkdtemp(prefix="exhume-")
        weakref.finalize(self, _remove, made, os.getpid())
        return Path(made)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def execute(
        self,
        argv: Sequence[str],
        limits: Limits,
        cwd: Path | None = None,
        stdin: Path | None = None,
        log: Path | None = None,
    ) -> Run:
        """Run a program in ``cwd`` (default: ``folder``) with ``stdin`` (default: empty) and wait until it
        ends.

        With a ``log`` it is no solver: its errors go to this file, its other output is dropped, and the files
        that it writes may have any size.
        """
        return self._request(
            {
                "argv": list(argv),
                "cwd": str(cwd) if cwd else None,
                "stdin": str(stdin) if stdin else None,
                "log": str(log) if log else None,
                "env": self._environment(),
            },
            limits,
        )

    def evaluate(
        self, text: bytes, limits: Limits, chunks: Sequence[Sequence[int]] = (), options: Sequence[str] = ()
    ) -> Run:
        """Pass ``text`` to the engine in a forked child and wait until it ends."""
        return self._request({"chunks": list(chunks), "options": list(options)}, limits, text)

    def share(
        self,
        text: bytes,
        limits: Limits,
        chunks: Sequence[Sequence[int]] = (),
        options: Sequence[str] = (),
        argv: Sequence[str] = (),
    ) -> Run:
        """Pass ``text`` to a child that has run other texts before: the engine, or the program ``argv``. A
        supervisor that gets such requests may get no others.

        ``ended`` is ``answered`` if the child has run all of it and can run another text. Else the child has
        ended, for whatever reason, and the result says only whether it took too long.
        """
        mark = f"exhume-{secrets.token_hex(8)}"
        header: dict[str, Any] = {"share": True, "mark": mark}
        if argv:
            header |= {"argv": list(argv), "env": self._environment()}
            text += f'\n(echo "{mark}")\n(reset)\n'.encode()
        else:
            header |= {"chunks": list(chunks), "options": list(options)}
        return self._request(header, limits, text)

    def close(self) -> None:
        """End the process and, through it, all that it runs."""
        self._closed = True
        process, self._process = self._process, None
        if process is not None:
            _end(process)

    def _environment(self) -> dict[str, str]:
        # Absolute, as the process runs in another folder.
        folders = {
            "EXHUME_CACHE": str(cache_folder()),
            "EXHUME_SOLVERS": os.pathsep.join(solvers.__path__[1:]),
        }
        return {**clean_environment(), **folders, _orphans.NAME: self._mark}

    def _request(self, header: dict[str, Any], limits: Limits, body: bytes = b"") -> Run:
        try:
            for _ in range(2):
                answer = self._attempt({**header, **structs.asdict(limits)}, body)
                if answer is not None:
                    return answer
                if self._closed:
                    return Run("cancelled", None, signal.SIGKILL, "", "", 0.0)
            raise RunnerLost("the process that runs the solvers ended unexpectedly, twice")
        finally:
            _empty(self.folder)

    def _attempt(self, header: dict[str, Any], body: bytes) -> Run | None:
        process = self._ready()
        if process is None or process.stdin is None or process.stdout is None:
            return None
        try:
            _supervisor.send(process.stdin.fileno(), header, body)
            reply = _receive(process.stdout.fileno(), header["seconds"] + _GRACE)
        except (OSError, ValueError):
            # Broken pipe, or closed under us by another thread.
            reply = None
        if reply is None:
            self._process = None
            self._lost(process)
            return None
        return _as_run(*reply)

    def _lost(self, process: subprocess.Popen[bytes]) -> None:
        """End a supervisor that exited or does not answer, and the processes that it left."""
        _end(process)
        if not self._closed:
            _orphans.kill_marked(self._mark)

    def _ready(self) -> subprocess.Popen[bytes] | None:
        if self._process is None and not self._closed:
            process = subprocess.Popen(
                [
                    *(sys.executable, *self._flags, "-c", _START, _supervisor.__file__),
                    *(str(self.folder), *self._arguments),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=0,
                env=self._environment(),
                # Outside the terminal's process group: Ctrl-C goes to exhume, which then closes the
                # supervisor.
                start_new_session=True,
            )
            ready = _receive(process.stdout.fileno(), _LOADING) if process.stdout else None
            problem = ready[0]["problem"] if ready else "it ended or did not answer"
            if problem:
                self._lost(process)
                if process.returncode == -signal.SIGKILL:
                    return None  # killed from outside: the next attempt may succeed
                what = "/".join(self._arguments[1:3]) or "the runner"
                raise EnvironmentProblem(f"cannot load {what} in a process: {problem}")
            self._process = process
            if self._closed:  # meanwhile, by another thread
                self.close()
        return self._process


def _remove(folder: str, owner: int) -> None:
    # Not by a forked copy of the process.
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


def _empty(folder: Path) -> None:
    for left in folder.iterdir():
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)


def signal_name(number: int) -> str:
    """``SIGABRT``; empty where it has no name, as most real-time signals."""
    return next((known.name for known in signal.Signals if known == number), "")


def _receive(fd: int, seconds: float) -> tuple[dict[str, Any], bytes] | None:
    # select() takes no descriptor above 1023, and a hunt with many jobs has more.
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return _supervisor.receive(fd) if poll.poll(min(seconds * 1000, _LONGEST_POLL)) else None


def _end(process: subprocess.Popen[bytes]) -> None:
    # Closing the pipe tells the supervisor to stop; it is killed only if it does not.
    if process.stdin:
        with contextlib.suppress(OSError):
            process.stdin.close()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout:
        process.stdout.close()


def _as_run(header: dict[str, Any], body: bytes) -> Run:
    status: int = header["status"] if header["ended"] != "answered" else 0
    by_signal = os.WIFSIGNALED(status)
    cut = header["stdout"]
    return Run(
        ended=header["ended"],
        code=None if by_signal else os.WEXITSTATUS(status),
        signal=os.WTERMSIG(status) if by_signal else None,
        stdout=body[:cut].decode("utf-8", "replace"),
        stderr=body[cut:].decode("utf-8", "replace"),
        seconds=header["seconds"],
    )


def run(
    argv: Sequence[str], limits: Limits | None = None, cwd: Path | None = None, stdin: Path | None = None
) -> Run:
    """Run one program under limits in its own supervisor; none of its processes is left running."""
    with Supervisor() as supervisor:
        return supervisor.execute(argv, limits or Limits(), cwd, stdin)
