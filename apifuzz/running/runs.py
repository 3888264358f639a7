"""Runs in processes of their own: drawn, repeated from a trace, and repeated for leaks.

A run is a fork of a process that has the solver's library loaded (a supervisor of ``solvers``), held to its
limits; its trace is written to a file outside, so that it is there when the process dies. Fresh runs start a
Python of their own: what counts as an error was seen in one.
"""

from __future__ import annotations

import hashlib
import json
import re
import signal
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, Literal, Self

from msgspec import structs

from apifuzz.programs.ending import REPEATS, leak_of, shows
from apifuzz.programs.programs import Program, dressed, logged, programs, shorter
from apifuzz.run import Drawing
from apifuzz.running import faults
from apifuzz.running.faults import Fault
from apifuzz.running.setup import Setup
from apifuzz.trace import MAX_TEXT
from base.documents import from_document
from difftest.triage.stacks import function_seen
from solvers.running.crash_places import file_of
from solvers.running.outcomes import CRASH_SIGNALS
from solvers.running.process import Limits, Run, Supervisor

ROOT = Path(__file__).resolve().parents[2]
_CHILD = Path(__file__).with_name("child.py")

RUN_LIMITS = Limits(seconds=2.0, memory=1 << 30, output=8 << 20)
"""What a run may take; most need a fraction of it."""

FRESH_FACTOR = 3.0
"""How much longer than that a run in a fresh process may take, and what it needs to load besides."""
FRESH_SECONDS = 10.0

SHORTENING_SECONDS = 20.0
"""How long a program is made shorter."""

Outcome = Literal["done", "fault", "timeout", "memout", "trace"]

# Memory that is not what it was ends a process by one signal or another.
_CORRUPTED = re.compile(
    r"SIG(?:SEGV|ABRT|BUS)(?: (?:malloc|free|realloc|double free|corrupted|munmap_chunk).*)?\Z"
)
_NO_MEMORY = "bad_alloc", "out of memory", "memory exhausted"


@dataclass(frozen=True, slots=True)
class RunResult:
    """What came of one run.

    ``outcome`` is ``done``, ``fault``, ``timeout``, ``memout`` (also too much output) or ``trace`` (it could
    not be repeated: ``detail`` says why). ``trace`` is the text of the calls made, without the ``return`` of
    the one it ended in. ``printed`` is what the solver printed. ``refused`` are calls that the engine would
    not make (line of the trace repeated, reason). ``resident`` is the memory after each repetition, in bytes.
    """

    outcome: Outcome
    trace: str
    seconds: float
    fault: Fault | None = None
    detail: str = ""
    printed: str = ""
    answers: tuple[str, ...] = ()
    calls: int = 0
    refused: tuple[tuple[int, str], ...] = ()
    statistics: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    resident: tuple[int, ...] = ()


def run_seed(campaign: int, number: int) -> int:
    """The seed of a campaign's run: of 63 bits, and the same on every machine."""
    digest = hashlib.sha256(f"exhume apifuzz {campaign} {number}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


class Runner:
    """One worker: runs one thing after the other; use under ``with``, from one thread at a time.

    ``close`` may be called from another thread; the run under way ends as ``timeout``. Raises
    EnvironmentProblem where the engine cannot be made.
    """

    def __init__(self, setup: Setup, corpus: Path | None = None) -> None:
        self.setup = setup
        self.closed = False
        self._folder = tempfile.TemporaryDirectory(prefix="exhume-apifuzz-")
        self._file = Path(self._folder.name, "trace")
        self._sent = asdict(setup.absolute)
        feed = str(corpus.absolute()) if corpus else ""
        self._forks = Supervisor([str(ROOT), "apifuzz.running.child", json.dumps(self._sent), feed])
        self._programs = Supervisor()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        self._folder.cleanup()

    def close(self) -> None:
        """End the processes of all runs."""
        self.closed = True
        self._forks.close()
        self._programs.close()

    def version(self) -> str:
        """The version of the solver, as its engine tells it."""
        return self._ask({"mode": "describe"}, Limits()).detail

    def generate(self, drawing: Drawing, seed: int, limits: Limits = RUN_LIMITS) -> RunResult:
        """Draw a run and make its calls."""
        return self._ask({"mode": "generate", "settings": asdict(drawing), "seed": seed}, limits)

    def replay(self, trace: str, limits: Limits = RUN_LIMITS, fresh: bool = False) -> RunResult:
        """Make the calls of a trace again: in a fork, or in a fresh Python with time to load the solver."""
        return self._ask({"mode": "replay", "trace": trace}, _fresh(limits) if fresh else limits, fresh)

    def function_that_dies(self, trace: str, limits: Limits = RUN_LIMITS) -> str | None:
        """The function of the solver in which a fresh process dies by a signal at the calls of a trace; None
        without gdb, or if its stack does not say it.
        """
        request = {"mode": "replay", "trace": trace}
        return function_seen(lambda before, most: self._run_fresh(request, most, before), limits.seconds)

    def repeat(self, trace: str, limits: Limits = RUN_LIMITS, fresh: bool = False) -> RunResult:
        """Make the calls of a trace again and again in one process: a fault where memory grows each time."""
        limits = structs.replace(limits, seconds=FRESH_SECONDS * fresh + REPEATS * limits.seconds)
        return self._ask({"mode": "repeat", "trace": trace, "times": REPEATS}, limits, fresh)

    def program(self, trace: str, fault: Fault) -> str | None:
        """The calls of a trace as a program of the solvers' own interfaces that ends in the same error.

        None where there is none: for other interfaces, and for errors that are not of one call.
        """
        interfaces = self.setup.interfaces
        if not interfaces or fault.kind == faults.INTERNAL:
            return None
        end = time.monotonic() + SHORTENING_SECONDS

        def is_shown(program: Program) -> bool:
            text = dressed(program.text, fault)
            return ends_in(fault, text, self._execute(text, fault))

        # A context that lives on may keep what one of its own would have given back.
        ways = (False,) if fault.kind == faults.LEAK else (True, False)
        recorded = (self.record(trace, plain) for plain in ways)
        made = (programs(interfaces, text, fault) for seen, text in recorded if fault.is_alike(seen.fault))
        for program in chain.from_iterable(made):
            if is_shown(program):
                program = shorter(program, lambda less: time.monotonic() < end and is_shown(less))
                program = program.nested if is_shown(program.nested) else program
                return dressed(program.text, fault)
        return None

    def log(self, program: str, fault: Fault) -> str:
        """The log of a program's calls that a solver keeps itself; empty if none does."""
        self._file.unlink(missing_ok=True)
        text = logged(program, self.setup.interfaces, self._file)
        if text is None or fault.kind == faults.LEAK:
            return ""
        self._execute(text, fault)
        return self._written()

    def _execute(self, program: str, fault: Fault) -> Run:
        file = Path(self._folder.name, "script.py")
        file.write_text(program, "utf-8", "backslashreplace")
        return self._programs.execute([sys.executable, "-I", str(file)], program_limits(fault))

    def record(self, trace: str, plain: bool) -> tuple[RunResult, str]:
        """What comes of the calls of a trace, and these on the solver's own interface, a line each; see
        ``recording``. ``plain``: as people write them.
        """
        request = {"mode": "record", "trace": trace, "plain": plain}
        seen = self._ask(request, _fresh(RUN_LIMITS), fresh=True)
        return seen, self._written()

    def _ask(self, request: dict[str, Any], limits: Limits, fresh: bool = False) -> RunResult:
        if fresh:
            run = self._run_fresh(request, limits)
        else:
            run = self._forks.evaluate(json.dumps(self._to_file(request)).encode(), limits)
        return _result(run, self._written())

    def _run_fresh(self, request: dict[str, Any], limits: Limits, before: Sequence[str] = ()) -> Run:
        """What comes of a request in a fresh Python, with other words before its command."""
        asked = Path(self._folder.name, "request")
        asked.write_text(json.dumps({"setup": self._sent, "request": self._to_file(request)}), "utf-8")
        return self._programs.execute([*before, sys.executable, "-I", str(_CHILD)], limits, stdin=asked)

    def _to_file(self, request: dict[str, Any]) -> dict[str, Any]:
        """The request with the file of the trace, which is not there yet."""
        self._file.unlink(missing_ok=True)
        return {**request, "file": str(self._file)}

    def _written(self) -> str:
        try:
            with self._file.open("rb") as handle:
                return handle.read(MAX_TEXT).decode("utf-8", "replace")
        except OSError:
            return ""


def program_limits(fault: Fault) -> Limits:
    """What a program gets that shows ``fault``."""
    return _fresh(RUN_LIMITS, REPEATS if fault.kind == faults.LEAK else FRESH_FACTOR)


def _fresh(limits: Limits, factor: float = FRESH_FACTOR) -> Limits:
    """What a fresh process gets, where a run has ``limits``: ``factor`` times as long, and time to load."""
    return structs.replace(limits, seconds=FRESH_SECONDS + factor * limits.seconds)


def _result(run: Run, trace: str) -> RunResult:
    """What a run means that wrote ``trace``."""
    document = _document(run)
    if document is None:
        return _died(run, trace)
    seen = {"outcome": "trace", "trace": trace, "seconds": run.seconds, "printed": run.stderr}
    result = from_document(document | seen, RunResult)
    if document["kind"] == "trace":
        return result
    fault = _fault(document, trace, result.resident, run.stderr)
    return replace(result, outcome="fault" if fault else "done", fault=fault)


def _document(run: Run) -> dict[str, Any] | None:
    """What the process said of itself at its end; None where it did not come to that."""
    if run.ended != "exit" or run.code != 0:
        return None
    try:
        document = json.loads(run.stdout)
    except ValueError:
        return None
    return document if isinstance(document, dict) else None


def _fault(document: Mapping[str, Any], trace: str, resident: tuple[int, ...], printed: str) -> Fault | None:
    action = last_action(trace)
    match document["kind"]:
        case "done":
            return leak_of(resident)
        case "rejected":
            return faults.reported(faults.REJECTED, action, document["detail"])
        case "internal":
            return Fault(
                faults.INTERNAL, action, document["traceback"], None, faults.shape_of(document["detail"])
            )
        case _:
            return faults.reported(str(document["error"]), action, document["detail"], printed)


def _died(run: Run, trace: str) -> RunResult:
    """A process that did not come to its end."""
    lowered = run.stderr[-4000:].lower()
    calls = len(actions_of(trace))
    if run.ended in ("timeout", "cancelled"):
        return RunResult("timeout", trace, run.seconds, printed=run.stderr, detail=run.ended, calls=calls)
    if run.ended != "exit" or run.signal == signal.SIGKILL or any(word in lowered for word in _NO_MEMORY):
        return RunResult("memout", trace, run.seconds, printed=run.stderr, detail=run.ended, calls=calls)
    if run.signal in CRASH_SIGNALS or run.code is None:
        name = next((s.name for s in signal.Signals if s == run.signal), f"signal {run.signal}")
    else:
        name = f"exit status {run.code}"
    fault = faults.crash(last_action(trace), name, run.stderr)
    return RunResult("fault", trace, run.seconds, fault, printed=run.stderr, calls=calls)


def ends_in(fault: Fault, text: str, run: Run, exact: bool = True) -> bool:
    """Whether the run of a program ended as the fault did; not ``exact``: lines of a crash's file may differ,
    as they do from release to release.
    """
    # Status 1 is also that of a Python error.
    if fault.kind == faults.CRASH and run.ended == "exit" and (run.signal or (run.code or 0) > 1):
        shown = _died(run, "").fault
        if shown is None:
            return False
        if not exact and fault.place and shown.place:
            return file_of(fault.place) == file_of(shown.place)
        if _CORRUPTED.match(fault.shape) and _CORRUPTED.match(shown.shape):
            return fault.place == shown.place
        return (shown.place, shown.shape) == (fault.place, fault.shape)
    return run.ended == "exit" and shows(fault, text, run.code, run.stderr)


def last_action(trace: str) -> str:
    """The action of the last call in a trace's text; empty if there is none."""
    return (actions_of(trace) or [""])[-1]


def actions_of(trace: str) -> list[str]:
    """The actions of the calls in a trace's text, which may be torn."""
    words = (line.split(None, 2) for line in trace.split("\n"))
    return [parts[1] for parts in words if len(parts) >= 2 and parts[0].isdigit()]
