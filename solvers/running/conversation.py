"""A process that reads SMT-LIB commands on its standard input and answers each on its standard output."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import resource
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial

from solvers.running.process import clean_environment, signal_name

SECONDS = 20.0
"""How long one answer may take. The limits of a whole run are set by its runner."""
MAX_ANSWER = 4 << 20
"""Longer answers are refused, in bytes."""

_STDERR_KEPT = 4000
_ECHO = "exhume"
_PR_SET_PDEATHSIG = 1
_MAX_FILE = 16 << 20
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None

# What matters for where an s-expression ends; strings and quoted symbols may hold parentheses.
_PIECE = re.compile(rb'"[^"]*(?:""[^"]*)*"(?=[^"])|\|[^|]*\||;[^\n]*\n|[()]|[^\s()"|;]+(?=[\s()";|])|\s+')
# Inside parentheses, words need not be distinguished.
_INNER = re.compile(rb'[^()"|;]+|"[^"]*"|\|[^|]*\||;[^\n]*\n|[()]')


class Ended(Exception):
    """The process has ended: ``signal`` killed it, or None; ``said`` is the end of its standard error."""

    def __init__(self, code: int, said: str) -> None:
        self.signal = -code if code < 0 else None
        how = (signal_name(-code) or f"signal {-code}") if code < 0 else f"exit status {code}"
        super().__init__(f"the solver ended ({how}){': ' + said if said else ''}")
        self.said = said


class NoAnswer(Exception):
    """The process does not answer in time, or at too great length; it is killed."""


class Conversation:
    """Starts ``argv`` (no shell) in a session of its own; ends it with all of its process group in ``close``.

    When this process dies, the kernel kills the other one (Linux).
    """

    def __init__(self, argv: Sequence[str], seconds: float = SECONDS, cpu_seconds: int | None = None) -> None:
        """``cpu_seconds`` is what the process may use in all: then the kernel ends it.

        Raises OSError where the program cannot be started.
        """
        self._seconds = seconds
        self._process = subprocess.Popen(
            list(argv),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=clean_environment(),
            start_new_session=True,
            preexec_fn=partial(_confine, cpu_seconds),
        )
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._in = self._process.stdin.fileno()
        self._out = self._process.stdout.fileno()
        self._err = self._process.stderr.fileno()
        self._said = b""
        self._read = b""
        self._selector = selectors.DefaultSelector()
        for fd in (self._out, self._err):
            os.set_blocking(fd, False)
            self._selector.register(fd, selectors.EVENT_READ)
        os.set_blocking(self._in, False)

    def ask(self, command: str) -> str:
        """The answer to one command: one s-expression. Raises Ended or NoAnswer."""
        deadline = self._say(command)
        return self._next(deadline)

    def ask_perhaps(self, command: str) -> str:
        """The answer to a command that some solvers leave without one; that is ``success``."""
        deadline = self._say(f'{command}\n(echo "{_ECHO}")')
        answer = self._next(deadline)
        if answer.strip('"') == _ECHO:
            return "success"
        self._next(deadline)
        return answer

    def _say(self, commands: str) -> float:
        """Write them, and forget what was left to read; until when an answer is awaited."""
        self._read = b""
        deadline = time.monotonic() + self._seconds
        self._write(commands.encode() + b"\n", deadline)
        return deadline

    def _next(self, deadline: float) -> str:
        scanner = _Scanner()
        while True:
            answer = scanner.take(self._read)
            if answer is not None:
                self._read = self._read[scanner.end :]
                return answer.decode("utf-8", "replace")
            if not self._wait(deadline):
                raise self._ending()

    def _write(self, data: bytes, deadline: float) -> None:
        view = memoryview(data)
        self._selector.register(self._in, selectors.EVENT_WRITE)
        try:
            while view:
                try:
                    view = view[os.write(self._in, view) :]
                except BlockingIOError:
                    if not self._wait(deadline):
                        return  # It closed its output, and may never read the rest.
                except BrokenPipeError:
                    return  # It may have answered before it ended.
        finally:
            with contextlib.suppress(KeyError):  # closed, since the time is over
                self._selector.unregister(self._in)

    def _wait(self, deadline: float) -> bool:
        """Wait for something to read, or for room to write; whether the process can still answer."""
        if self._out not in self._selector.get_map():
            return False
        left = deadline - time.monotonic()
        if left <= 0:
            self.close()
            raise NoAnswer(f"no answer within {self._seconds:g} seconds")
        for key, events in self._selector.select(left):
            if not events & selectors.EVENT_READ:
                continue
            with contextlib.suppress(BlockingIOError):
                part = os.read(key.fd, 1 << 16)
                if key.fd == self._err:
                    self._said = (self._said + part)[-_STDERR_KEPT:]
                else:
                    self._read += part
                if not part:
                    self._selector.unregister(key.fd)
        if len(self._read) > MAX_ANSWER:
            self.close()
            raise NoAnswer(f"an answer of more than {MAX_ANSWER} bytes")
        return True

    def _ending(self) -> Ended:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)  # It closed its output: the status follows.
        code = self._process.poll()
        if code is not None and self._err in self._selector.get_map():
            with contextlib.suppress(BlockingIOError):
                self._said = (self._said + os.read(self._err, 1 << 16))[-_STDERR_KEPT:]
        self.close()
        return Ended(
            self._process.returncode if code is None else code, self._said.decode("utf-8", "replace")
        )

    def close(self) -> None:
        """Kill the process and its group, and take its status."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._selector.close()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()


def _confine(cpu_seconds: int | None) -> None:
    """In the new process, before the program: die with the parent, leave no core, write no large files."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_MAX_FILE, _MAX_FILE))
    if cpu_seconds is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))


class _Scanner:
    """Finds the end of the first s-expression of a text that grows."""

    def __init__(self) -> None:
        self._start: int | None = None
        self.end = 0
        self._depth = 0

    def take(self, text: bytes) -> bytes | None:
        """The first s-expression, or None while it is not complete."""
        while True:
            found = (_INNER if self._depth else _PIECE).match(text, self.end)
            if found is None:
                return None
            piece = found[0]
            self.end = found.end()
            if piece.isspace() or piece[:1] == b";":
                continue
            if self._start is None:
                self._start = found.start()
            if piece == b"(":
                self._depth += 1
            elif piece == b")":
                self._depth -= 1
            if self._depth <= 0:
                return text[self._start : self.end]
