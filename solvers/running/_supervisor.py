"""The process between exhume and a solver: starts it, enforces its limits, and kills all of its processes.

It is a separate program (``_supervisor.py SCRATCH [--engine FOLDER MODULE ARGUMENT...]``) for three reasons:
it has one thread, so that it may fork and run code in the child; it is a *subreaper* (Linux), so that
processes that a solver leaves behind in any session become its children and are killed; and when exhume dies
for whatever reason, the pipe from it closes, and the supervisor kills the running solver, removes its working
folder ``SCRATCH`` and exits. With an engine it keeps the solver's library loaded and forks a child per test:
as isolated as a new process, without the start-up. For requests with ``share``, one child runs one test after
another (:class:`Shared`): faster still, and good enough to see which tests deserve a process of their own.

Requests arrive on standard input and replies go to standard output, one at a time, as frames: two big-endian
lengths (4 and 8 bytes), a JSON header, a body. It imports only the standard library, and little of it:
``pathlib`` and ``typing`` alone would take a quarter of the time in which it starts.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import os
import resource
import selectors
import signal
import struct
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, NoReturn

_FRAME = struct.Struct(">IQ")
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_TICK = 0.05
_PAGE = resource.getpagesize()
# Number of ticks between sums over the memory of the whole process tree instead of the first process only.
_TREE_TICKS = 4
# The largest file that a solver may write, in bytes.
_MAX_FILE = 256 << 20
# The number of tests that a shared child runs: what a solver does not free adds up.
_SHARED_TESTS = 100


def read_exactly(fd: int, size: int) -> bytes | None:
    """Read ``size`` bytes from ``fd``; None if the other side has closed it."""
    parts = []
    while size:
        part = os.read(fd, min(size, 1 << 20))
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def write_all(fd: int, data: bytes) -> None:
    """Write all of ``data`` to ``fd``."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def receive(fd: int) -> tuple[dict[str, Any], bytes] | None:
    """Read one frame; None at the end of the stream."""
    sizes = read_exactly(fd, _FRAME.size)
    if sizes is None:
        return None
    head, body = _FRAME.unpack(sizes)
    header = read_exactly(fd, head)
    content = read_exactly(fd, body)
    if header is None or content is None:
        return None
    return json.loads(header), content


def send(fd: int, header: dict[str, Any], body: bytes = b"") -> None:
    """Write one frame: the lengths of header and body, then both."""
    write_all(fd, _framed(header, body))


def _framed(header: dict[str, Any], body: bytes) -> bytes:
    packed = json.dumps(header).encode()
    return _FRAME.pack(len(packed), len(body)) + packed + body


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def load_engine(folder: str, module: str, *arguments: str) -> Callable[[dict[str, Any], bytes], int]:
    """The function that a forked child runs on a request: the result of ``prepare(arguments)`` of a module in
    ``folder``, which loads a solver's library before anything is forked.
    """
    sys.path.insert(0, folder)
    engine: Callable[[dict[str, Any], bytes], int] = importlib.import_module(module).prepare(arguments)
    return engine


def _child(
    header: dict[str, Any],
    body: bytes,
    engine: Callable[[dict[str, Any], bytes], int] | None,
    pipes: tuple[int, int, int],
) -> NoReturn:
    """Run a request in this process, a new one, with these as standard input (-1: the request's own), output
    and error.
    """
    code = 127
    try:
        os.setsid()
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if not header.get("log"):
            resource.setrlimit(resource.RLIMIT_FSIZE, (_MAX_FILE, _MAX_FILE))
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        os.dup2(pipes[1], 1)
        os.dup2(pipes[2], 2)
        if header.get("log"):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.dup2(os.open(header["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), 2)
        feed = pipes[0] if pipes[0] >= 0 else os.open(header.get("stdin") or os.devnull, os.O_RDONLY)
        os.dup2(feed, 0)
        os.closerange(3, 256)
        if header.get("cwd"):
            os.chdir(header["cwd"])
        if engine is not None and header.get("share"):
            _repeat(engine)
        elif engine is not None:
            code = engine(header, body)
        else:
            os.execvpe(header["argv"][0], header["argv"], header["env"])
    except OSError as problem:
        write_all(2, f"exhume: cannot start {header.get('argv', ['?'])[0]}: {problem.strerror}\n".encode())
    except Exception as problem:  # noqa: BLE001 (the child exits here in any case)
        # After a failure of the engine the child must not continue as a copy of the supervisor.
        write_all(2, f"exhume: engine failed: {type(problem).__name__}: {problem}\n".encode())
    finally:
        os._exit(code)


def _repeat(engine: Callable[[dict[str, Any], bytes], int]) -> None:
    """Run the requests that arrive on standard input, each followed by a line with its mark."""
    while (request := receive(0)) is not None:
        engine(*request)
        write_all(1, f"{request[0]['mark']}\n".encode())


def _read(file: str) -> bytes:
    """A short file of ``/proc``."""
    fd = os.open(file, os.O_RDONLY)
    try:
        return os.read(fd, 4096)
    finally:
        os.close(fd)


def _processes() -> Iterator[tuple[int, int, int]]:
    """Every process on the machine except zombies: (id, parent, resident bytes)."""
    with os.scandir("/proc") as entries:
        for entry in entries:
            if not entry.name.isdigit():
                continue
            try:
                fields = _read(f"/proc/{entry.name}/stat").rpartition(b")")[2].split()
            except OSError:
                continue
            if fields[0] != b"Z":
                yield int(entry.name), int(fields[1]), int(fields[21]) * _PAGE


def descendants(root: int) -> dict[int, int]:
    """The living descendants of ``root`` with their resident bytes (empty without ``/proc``)."""
    children: dict[int, list[tuple[int, int]]] = {}
    try:
        for pid, parent, resident in _processes():
            children.setdefault(parent, []).append((pid, resident))
    except OSError:
        return {}
    found: dict[int, int] = {}
    todo = [root]
    while todo:
        for pid, resident in children.get(todo.pop(), ()):
            found[pid] = resident
            todo.append(pid)
    return found


def _resident(pid: int) -> int:
    try:
        return int(_read(f"/proc/{pid}/statm").split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def sweep(group: int) -> None:
    """Kill the group and all descendants of this process, and wait until none is left."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        for pid in descendants(os.getpid()):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.002)


class Watch:
    """One running child: collects its output and ends it at the first limit that it exceeds.

    ``feed`` is written to a shared child, whose answer ends with a line that holds the ``mark``: ``ended`` is
    ``answered`` then.
    """

    def __init__(
        self,
        pid: int,
        readers: tuple[int, int],
        control: int,
        limits: dict[str, Any],
        feed: tuple[int, bytes] = (-1, b""),
        mark: bytes = b"",
    ) -> None:
        self.pid = pid
        self.control = control
        self.limits = limits
        self.kept: dict[int, list[bytes]] = {fd: [] for fd in readers}
        self.size = 0
        self.mark = mark
        self.feed, self.unwritten = feed[0], memoryview(feed[1])
        self.started = time.monotonic()
        self.ended = ""
        self.status: int | None = None
        self.selector = selectors.DefaultSelector()
        self.exit_fd = os.pidfd_open(pid) if hasattr(os, "pidfd_open") else -1
        for fd in (*readers, control, *([self.exit_fd] if self.exit_fd >= 0 else [])):
            self.selector.register(fd, selectors.EVENT_READ)
        if self.unwritten:
            self._write()

    def wait(self) -> float:
        """Wait until the child has ended or must be ended; returns its running time in seconds."""
        looks = 0
        while not self.ended:
            left = self.limits["seconds"] - (time.monotonic() - self.started)
            if left <= 0:
                self.ended = "timeout"
                break
            for key, _ in self.selector.select(min(left, _TICK)):
                self._handle(key.fd)
            # A child that prints much wakes this up often; its memory is still checked once per tick.
            if not self.ended and time.monotonic() - self.started > (looks + 1) * _TICK:
                looks += 1
                if self._memory(looks) > self.limits["memory"]:
                    self.ended = "memory"
            if self.exit_fd < 0 and not self.ended and self._has_exited():
                self.ended = "exit"
        return time.monotonic() - self.started

    def _handle(self, fd: int) -> None:
        if fd == self.control:
            self.ended = "cancelled"
        elif fd == self.exit_fd:
            self.ended = self.ended or "exit"
        elif fd == self.feed:
            self._write()
        elif self._take(fd) and self.mark and not self.ended and self._has_answered():
            self.ended = "answered"

    def _write(self) -> None:
        """Write what fits into the pipe."""
        with contextlib.suppress(BlockingIOError, BrokenPipeError):
            self.unwritten = self.unwritten[os.write(self.feed, self.unwritten) :]
            if not self.unwritten:
                if self.feed in self.selector.get_map():
                    self.selector.unregister(self.feed)
                return
        if self.feed not in self.selector.get_map():
            self.selector.register(self.feed, selectors.EVENT_WRITE)

    def _has_answered(self) -> bool:
        out = next(iter(self.kept))
        # A program may write the line in many parts.
        return self.mark in b"".join(self.kept[out][-40:]).rpartition(b"\n")[0]

    def _take(self, fd: int) -> bool:
        part = os.read(fd, 1 << 16)
        if not part:
            self.selector.unregister(fd)
            return False
        room = self.limits["output"] - self.size
        self.kept[fd].append(part[: max(room, 0)])
        self.size += len(part)
        if self.size > self.limits["output"]:
            self.ended = "output"
        return True

    def _memory(self, looks: int) -> int:
        if looks % _TREE_TICKS:
            return _resident(self.pid)
        return sum(descendants(os.getpid()).values())

    def _has_exited(self) -> bool:
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid:
            self.status = status
        return pid != 0

    def finish(self) -> None:
        """Kill the remaining processes, take the exit status, and read the rest of the pipes."""
        if self.ended != "exit":
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
        if self.status is None:
            self.status = os.waitpid(self.pid, 0)[1]
        sweep(self.pid)
        self.drain()
        for fd in self.kept:
            os.close(fd)
        self.release()

    def drain(self) -> None:
        """Read what there is to read."""
        for fd in self.kept:
            os.set_blocking(fd, False)
            with contextlib.suppress(BlockingIOError, KeyError):
                while self._take(fd):
                    pass

    def release(self) -> None:
        """Watch no longer."""
        self.selector.close()
        if self.exit_fd >= 0:
            os.close(self.exit_fd)

    def reply(self, seconds: float) -> tuple[dict[str, Any], bytes]:
        """What to answer: how it ended, and standard output, then error."""
        stdout, stderr = (b"".join(parts) for parts in self.kept.values())
        if self.ended == "answered":
            # Some programs print what they echo with its quotes.
            stdout = stdout.rpartition(self.mark)[0].removesuffix(b'"')
        answer = {"ended": self.ended, "status": self.status, "seconds": seconds, "stdout": len(stdout)}
        return answer, stdout + stderr


def start(
    header: dict[str, Any],
    body: bytes,
    engine: Callable[[dict[str, Any], bytes], int] | None,
    stdin: int = -1,
) -> tuple[int, tuple[int, int]]:
    """Start a child: its number, and where its output and errors can be read."""
    out, out_end = os.pipe()
    err, err_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        _child(header, body, engine, (stdin, out_end, err_end))
    os.close(out_end)
    os.close(err_end)
    return pid, (out, err)


def serve_one(
    header: dict[str, Any],
    body: bytes,
    engine: Callable[[dict[str, Any], bytes], int] | None,
    control: int,
) -> tuple[dict[str, Any], bytes]:
    """Run one request in a child; the reply says how it ended, its body is standard output, then error."""
    watch = Watch(*start(header, body, engine), control, header)
    seconds = watch.wait()
    watch.finish()
    return watch.reply(seconds)


class Shared:
    """A child that runs one request after another, until one shows anything but an answer, or for a hundred.

    A program reads its standard input; an engine reads requests from there.
    """

    def __init__(self, engine: Callable[[dict[str, Any], bytes], int] | None) -> None:
        self._engine = engine
        self._pid = 0
        self._feed = -1
        self._readers = (-1, -1)
        self._served = 0

    def serve(self, header: dict[str, Any], body: bytes, control: int) -> tuple[dict[str, Any], bytes]:
        """Run one request; the reply is that of ``serve_one``, but ``ended`` is ``answered`` if it was."""
        if not self._pid:
            stdin, self._feed = os.pipe()
            os.set_blocking(self._feed, False)
            self._pid, self._readers = start(header, body, self._engine, stdin)
            os.close(stdin)
            self._served = 0
        if self._engine is not None:
            body = _framed(header, body)
        mark = header["mark"].encode()
        watch = Watch(self._pid, self._readers, control, header, (self._feed, body), mark)
        seconds = watch.wait()
        self._served += 1
        watch.drain()
        small = _resident(self._pid) < header["memory"] // 2
        if watch.ended == "answered" and self._served < _SHARED_TESTS and small:
            watch.release()
        else:
            watch.finish()
            os.close(self._feed)
            self._pid = 0
        return watch.reply(seconds)


def main(scratch: str, *arguments: str) -> int:
    """Serve requests until standard input closes."""
    os.chdir(scratch)
    parent = os.getppid()
    try:
        return _serve(arguments)
    finally:
        # The parent removes the folder, unless it has died.
        if os.getppid() != parent:
            with contextlib.suppress(OSError), os.scandir(scratch) as entries:
                for left in entries:
                    os.unlink(left)  # noqa: PTH108
                os.rmdir(scratch)  # noqa: PTH106


def _serve(arguments: tuple[str, ...]) -> int:
    requests, replies = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    engine = None
    try:
        if arguments[:1] == ("--engine",):
            engine = load_engine(*arguments[1:])
    except Exception as problem:  # noqa: BLE001 (sent to the other side, which raises it)
        send(replies, {"problem": f"{type(problem).__name__}: {problem}"})
        return 1
    send(replies, {"problem": None})
    shared = Shared(engine)
    while (request := receive(requests)) is not None:
        if request[0].get("share"):
            reply, body = shared.serve(*request, requests)
        else:
            reply, body = serve_one(*request, engine, requests)
        if reply["ended"] == "cancelled":
            return 0
        send(replies, reply, body)
    return 0


def run() -> NoReturn:
    """Serve as a program."""
    try:
        sys.exit(main(*sys.argv[1:]))
    except BrokenPipeError:
        sys.exit(0)  # exhume has exited
