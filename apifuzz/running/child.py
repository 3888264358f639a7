"""What happens inside the process of a run: the engine is made, a run drawn or a trace repeated.

It is an engine of a supervisor (``prepare``), which forks a child per run, and a program of its own that does
the same once in a fresh process. What is written to the trace's file is there whatever becomes of the
process; how the run ended goes to standard output as one JSON document, and what the solver prints to
standard error.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import faulthandler
import gc
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from apifuzz.driving import generate, new_run, replay
from apifuzz.engine import KEPT, Engine
from apifuzz.feeding.terms import Feed
from apifuzz.programs.recording import Recorder
from apifuzz.run import Drawing, Ending, Settings
from apifuzz.running.setup import Setup
from apifuzz.trace import TraceError, read_trace
from base.documents import from_document, to_document


def prepare(arguments: list[str]) -> Callable[[dict[str, Any], bytes], int]:
    """The engine of a setup (JSON) and a corpus (a file, or empty), both loaded for all that is forked."""
    setup, corpus = Setup(**json.loads(arguments[0])), arguments[1]
    feed = None
    if corpus:
        from apifuzz.feeding.loading import load_feed

        feed = load_feed(Path(corpus))
    # The model, the theories, the solver's options, the kinds of arguments: made once, not in every fork.
    run = new_run(setup.make(), Settings(), 0)
    run.prepare()
    for call in run.actions.values():
        call.prepare()
    # Python runs code faster the second time: this run is only printed.
    generate(Setup("smtlib").make(), Settings(), 0, lambda text: None)
    gc.collect()
    # What is loaded stays shared with the children: their collector does not touch it.
    gc.freeze()
    atexit.register(gc.unfreeze)
    return lambda head, body: perform(setup, feed, json.loads(body))


def perform(setup: Setup, feed: Feed | None, request: dict[str, Any]) -> int:
    """Do what is asked: ``describe``, ``generate``, ``replay`` or ``repeat``; the exit status is 0."""
    channel = os.dup(1)
    os.dup2(2, 1)
    faulthandler.enable(2, all_threads=False)
    try:
        document = _MODES[request["mode"]](setup, feed, request)
    except TraceError as error:
        document = {"kind": "trace", "detail": str(error)}
    except Exception as error:  # noqa: BLE001 (the parent reports it as a bug of exhume)
        document = {"kind": "internal", "detail": _where(error), "traceback": traceback.format_exc()[-8000:]}
    with os.fdopen(channel, "wb") as pipe:
        pipe.write(json.dumps(document).encode())
    return 0


def _generate(setup: Setup, feed: Feed | None, request: dict[str, Any]) -> Any:
    settings = Settings(**asdict(from_document(request["settings"], Drawing)), feed=feed)
    with _writing(request["file"], setup) as write:
        return to_document(generate(setup.make(), settings, request["seed"], write))


def _replay(setup: Setup, feed: Feed | None, request: dict[str, Any]) -> Any:
    trace = read_trace(request["trace"])
    with _writing(request["file"]) as write:
        return to_document(replay(setup.make(), trace, write))


def _repeat(setup: Setup, feed: Feed | None, request: dict[str, Any]) -> dict[str, Any]:
    """Make the calls of a trace again and again; how much memory there is after each time, in bytes."""
    trace = read_trace(request["trace"])
    with _writing(request["file"]) as write:
        write(request["trace"])
    ending: Ending | None = None
    resident = []
    for _ in range(request["times"]):
        ending = replay(setup.make(), trace)
        gc.collect()
        KEPT.clear()
        # Freed memory is given back, where the C library is one that can.
        getattr(ctypes.CDLL(None), "malloc_trim", int)(0)
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
        resident.append(pages * os.sysconf("SC_PAGESIZE"))
    return {**to_document(ending), "resident": resident} if ending else {"kind": "done"}


def _describe(setup: Setup, feed: Feed | None, request: dict[str, Any]) -> dict[str, Any]:
    """What the engine says of itself."""
    return {"kind": "done", "detail": setup.make().version}


def _record(setup: Setup, feed: Feed | None, request: dict[str, Any]) -> Any:
    """Make the calls of a trace once more, writing those on the solver's own interface to the file."""
    trace = read_trace(request["trace"])
    Engine.plain = request["plain"]
    with _writing(request["file"]) as write:
        _RECORDER.write, _RECORDER.is_on = write, True
        return to_document(replay(setup.make(), trace))


_RECORDER = Recorder()
"""Records the calls of a process of its own, after what engines ask the solver once."""


_MODES = {
    "describe": _describe,
    "generate": _generate,
    "replay": _replay,
    "repeat": _repeat,
    "record": _record,
}


def _where(error: Exception) -> str:
    """A bug of exhume in one line, with its file and line number."""
    frames = traceback.extract_tb(error.__traceback__)
    last = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{last}: {error}"


@contextlib.contextmanager
def _writing(file: str, setup: Setup | None = None) -> Iterator[Callable[[str], None]]:
    """A function that writes text to a file, unbuffered; the setup's settings go below the first line."""
    settings = setup.settings() if setup is not None else []
    private = partial(os.open, mode=0o600)
    with open(file, "w", encoding="utf-8", errors="backslashreplace", opener=private) as opened:

        def write(text: str) -> None:
            opened.write(text + "".join(f"set {name} {value}\n" for name, value in settings))
            opened.flush()
            settings.clear()

        yield write


def main() -> None:
    """Read a request with its setup from standard input and do it."""
    asked = json.load(sys.stdin)
    if asked["request"]["mode"] == "record":
        _RECORDER.stand_in(Setup(**asked["setup"]).interfaces)
    run = prepare([json.dumps(asked["setup"]), ""])
    os._exit(run({}, json.dumps(asked["request"]).encode()))


if __name__ == "__main__":
    main()
