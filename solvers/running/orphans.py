"""Finds processes that a killed exhume process left behind, by a mark in their environment.

A supervisor kills what it started, even if exhume dies. If the supervisor itself is killed, the kernel kills
its solver, but not the solver's own children. So every process below a supervisor has ``EXHUME_SUPERVISOR``
in its environment: the PID namespace, the supervisor's owner (process id and start time, since ids are
reused), and a number.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil

NAME = "EXHUME_SUPERVISOR"
_NUMBERS = itertools.count()


def new_mark() -> str:
    """A mark for one supervisor of this process."""
    return f"{_namespace()}.{os.getpid()}.{_started(os.getpid())}.{next(_NUMBERS)}"


def kill_marked(mark: str) -> int:
    """Kill all processes with this mark; returns how many there were."""
    return _kill(lambda found: found == mark)


def kill_orphans() -> int:
    """Kill all marked processes whose owner has exited; returns how many there were."""
    return _kill(_is_orphan)


def _is_orphan(mark: str) -> bool:
    namespace, *owner = mark.split(".")
    if namespace != _namespace() or len(owner) != 3 or not owner[0].isdigit():
        return False
    return _started(int(owner[0])) != owner[1]


def _kill(is_meant: Callable[[str], bool]) -> int:
    count = 0
    # Repeated until none is left: a process may have forked in the meantime.
    for _ in range(10):
        found = [process for process, mark in _marked() if is_meant(mark)]
        for process in found:
            with contextlib.suppress(psutil.Error):
                process.kill()
        count += len(found)
        if not found:
            break
    return count


def _marked() -> Iterator[tuple[psutil.Process, str]]:
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.pid != os.getpid() and (mark := process.environ().get(NAME)):
                yield process, mark


@functools.cache
def _namespace() -> str:
    try:
        return str(Path("/proc/self/ns/pid").stat().st_ino)
    except OSError:
        return "0"


def _started(pid: int) -> str:
    """When a process started, in the kernel's ticks; empty if it has exited or is a zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("latin-1").rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]
