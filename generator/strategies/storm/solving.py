"""Asking solvers in a process of their own, with answers kept by the hash of the question.

z3 and cvc5 count their work (``rlimit``), so an answer is the same on every machine; time and memory
limits are for what hangs or explodes all the same. Answers are kept in ``EXHUME_CACHE`` or the platform's
cache folder, under ``valuations``: asking costs some tens of milliseconds, a test a fraction of one.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
import struct
import subprocess
import sys
import tempfile
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from base.cache import cache_folder, keep_cached, load_cached
from generator.errors import GenerationError

SECONDS = 2.0
MEGABYTES = 3000

_WORKER = Path(__file__).with_name("_worker.py")
_FORMAT = "1"


class SolvingProcess:
    """The worker process, started when it is first needed; :meth:`ask` may be called from one thread.

    A copy in a forked process starts a worker of its own.
    """

    def __init__(self, seconds: float = SECONDS, megabytes: int = MEGABYTES) -> None:
        self._limits = (seconds, megabytes)
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to ``request``: from the cache, else from the worker. ``failed`` says why there is none.

        Raises :class:`GenerationError` where the solvers cannot be imported.
        """
        data = json.dumps(request, sort_keys=True).encode("utf-8", "replace")
        kept = _kept_in(sha256(_versions() + data).hexdigest())
        found = load_cached(kept)
        if found is not None:
            return found
        reply = self._ask(data)
        # Failures, too, for every process that makes tests is to make the same.
        keep_cached(kept, reply)
        return reply

    def _ask(self, data: bytes) -> dict[str, Any]:
        process = self._started()
        assert process.stdin and process.stdout
        try:
            process.stdin.write(struct.pack("<I", len(data)) + data)
            process.stdin.flush()
            size = process.stdout.read(4)
            reply = process.stdout.read(struct.unpack("<I", size)[0]) if len(size) == 4 else b""
        except OSError:
            reply = b""
        if reply:
            found = json.loads(reply)
            assert isinstance(found, dict)
            return found
        said = self._end()
        raise GenerationError(f"the process that values formulas died: {said or 'without a word'}")

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._owner != os.getpid():
            # -P: the folder of the script, full of our modules' names, stays off the import path.
            command = [sys.executable, "-P", str(_WORKER), *map(str, self._limits)]
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=tempfile.gettempdir(),
            )
            self._owner = os.getpid()
        return self._process

    def _end(self) -> str:
        """End the process; the last line it said."""
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
            return ""
        process.kill()
        said = process.stderr.read().decode("utf-8", "replace").strip() if process.stderr else ""
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        process.wait()
        return said.splitlines()[-1] if said else ""

    def close(self) -> None:
        """End the worker."""
        self._end()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self._end()

    def __getstate__(self) -> dict[str, Any]:
        return {"_limits": self._limits, "_process": None, "_owner": 0}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


@cache
def _versions() -> bytes:
    """What the answers depend on besides the question."""
    try:
        wheels = [importlib.metadata.version(name) for name in ("z3-solver", "cvc5")]
    except importlib.metadata.PackageNotFoundError as error:
        raise GenerationError(f"the package {error.name} is not installed") from error
    return " ".join([_FORMAT, *wheels, sha256(_WORKER.read_bytes()).hexdigest(), ""]).encode()


def _kept_in(digest: str) -> Path:
    return cache_folder() / "valuations" / digest[:2] / f"{digest[2:]}.json"
