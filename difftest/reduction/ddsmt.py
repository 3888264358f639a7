"""ddSMT, driven by our own check: it runs a tiny client per formula, which asks this process over a socket.

So the solvers stay loaded and are forked per formula, and a check costs the start of a bare Python instead of
that of exhume. Whatever is accepted is kept here at once: ddSMT may be ended at any time.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from difftest.reduction import _client
from solvers.running.process import clean_environment

Check = Callable[[str], bool]
_ACCEPT_TICK = 0.2
_END_GRACE = 5.0
# Of a socket, in bytes: Linux takes 107, macOS 103.
_LONGEST_PATH = 100


def is_installed() -> bool:
    """Whether ddSMT can be run here (the extra ``reduce``)."""
    return importlib.util.find_spec("ddsmt") is not None


def reduce_with_ddsmt(text: str, check: Check, seconds: float, per_check: float) -> tuple[str, int, bool]:
    """Run ddSMT on ``text`` for at most ``seconds``: the smallest text it got accepted, how many checks that
    took, and whether it came to its end.

    ``check`` is called from another thread, one call at a time; what it raises is raised here. Where the path
    of the folder for temporary files is too long for a socket, nothing is tried.
    """
    with tempfile.TemporaryDirectory(prefix="exhume-ddsmt-") as name:
        folder = Path(name)
        if len(os.fsencode(folder / "socket")) > _LONGEST_PATH:
            return text, 0, False
        (folder / "in.smt2").write_text(text, "utf-8", "surrogateescape")
        with _Server(folder / "socket", text, check) as server:
            # ddSMT runs a copy of the program, which works for a script and not for an interpreter.
            client = [sys.executable, "-I", "-S", _client.__file__, str(server.path)]
            program = folder / "check"
            program.write_text(f'#!/bin/sh\nexec {shlex.join(client)} "$@"\n', "utf-8")
            program.chmod(0o755)
            finished = _run_ddsmt(folder, program, seconds, per_check, server)
        if server.error is not None:
            raise server.error
        return server.smallest, server.checks, finished


def _run_ddsmt(folder: Path, program: Path, seconds: float, per_check: float, server: _Server) -> bool:
    command = [sys.executable, "-P", "-c", "import sys; from ddsmt.__main__ import main; sys.exit(main())"]
    command += ["-q", "-q", "-j", "1", "--ignore-output", "--timeout", str(per_check)]
    command += [str(folder / "in.smt2"), str(folder / "out.smt2"), str(program)]
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**clean_environment(), "TMPDIR": str(folder)},
        start_new_session=True,
    )
    deadline = time.monotonic() + seconds
    try:
        while time.monotonic() < deadline and server.error is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return process.wait(_ACCEPT_TICK) == 0
        return False
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End ddSMT and what it started (it has a session of its own)."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_END_GRACE)
            if number == signal.SIGKILL:
                return


class _Server:
    """Answers the clients from a thread, one after the other; use under ``with``."""

    def __init__(self, path: Path, text: str, check: Check) -> None:
        self.path = path
        self.smallest = text
        self.checks = 0
        self.error: Exception | None = None
        self._check = check
        self._stop = threading.Event()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._thread = threading.Thread(target=self._serve, name="exhume-reducer", daemon=True)

    def __enter__(self) -> _Server:
        self._socket.bind(str(self.path))
        self._socket.listen()
        self._socket.settimeout(_ACCEPT_TICK)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._socket.close()

    def _serve(self) -> None:
        while not self._stop.is_set():
            try:
                client, _ = self._socket.accept()
            except TimeoutError:
                continue
            with client:
                try:
                    self._answer(client)
                except Exception as error:  # noqa: BLE001 (raised again where the reduction waits)
                    self.error = error
                    return

    def _answer(self, client: socket.socket) -> None:
        client.settimeout(_END_GRACE)
        try:
            asked = b"".join(iter(lambda: client.recv(4096), b""))
            text = Path(os.fsdecode(asked)).read_bytes().decode("utf-8", "surrogateescape")
        except OSError:
            # The client or its file is gone: ddSMT did not wait any longer.
            return
        self.checks += 1
        holds = self._check(text)
        if holds and len(text) < len(self.smallest):
            self.smallest = text
        with contextlib.suppress(OSError):
            client.sendall(b"0" if holds else b"1")
