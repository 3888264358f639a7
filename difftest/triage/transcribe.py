"""What a person sees who does what a report says: its command is run as it is printed, and of a crash gdb
prints the stack.

A wheel without a program is run by the solver's ``reader.py``, a short Python program that the report shows,
unless the program of that version is on the path.
"""

from __future__ import annotations

import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from base.documents import to_document
from base.errors import ExhumeError
from difftest.triage.classes import class_of_finding
from difftest.triage.folder import READER, FindingFolder, Transcript
from difftest.triage.kinds import Typed, kind_of
from difftest.triage.stacks import run_in, stack_seen
from difftest.triage.store import update_finding
from solvers.asking import ask
from solvers.lookup import find_solver
from solvers.registry import PROFILES
from solvers.report_form import Kind as ReportKind
from solvers.solver import Solver

_MOST_PRINTED = 64 << 10
_START = (
    "import runpy, sys; del sys.argv[0]; wheel = sys.argv.pop(0); wheel and sys.path.insert(0, wheel);"
    " runpy.run_path(sys.argv[0], run_name='__main__')"
)
_NUMBER = re.compile(r"\d+(?:\.\d+)+")


def transcribe(folder: Path) -> Transcript | None:
    """Run what the report of the finding in ``folder`` says to type, keep it there, and rewrite the report.
    None if there is nothing to type, the input is gone, or it does not end. DifftestError if there is no
    finding.
    """
    found = FindingFolder.read(folder)
    try:
        typed = kind_of(found).typed(found) if found.culprit else None
        runnable = _runnable(typed) if typed is not None else None
    except (ExhumeError, OSError, ValueError):
        return None
    if typed is None or runnable is None or shutil.which(runnable.argv[0]) is None:
        return None
    if not (folder / typed.file).is_file():
        return None
    crashed = class_of_finding(found).reported_as is ReportKind.CRASH
    with tempfile.TemporaryDirectory(prefix="exhume-report-") as place:
        shutil.copy(folder / typed.file, Path(place, runnable.input))
        if runnable.reader:
            Path(place, READER).write_text(runnable.reader, "utf-8")
        done = run_in(Path(place), runnable.argv)
        stack = stack_seen(runnable.argv, Path(place)) if crashed else ()
    if done.ended != "exit":
        return None
    printed = "\n".join(text for text in map(str.rstrip, (done.stdout, done.stderr)) if text)
    code = 128 + done.signal if done.signal else done.code or 0
    made = Transcript(
        *(typed.file, runnable.command, printed[:_MOST_PRINTED], code),
        *(runnable.reader, runnable.instead, stack),
    )
    update_finding(folder, {"transcript": to_document(made)})
    return made


@dataclass(frozen=True, slots=True)
class _Runnable:
    """What is run in a folder with the file ``input``; the last word may be ``<FILE``. For the rest see
    ``Transcript``.
    """

    argv: Sequence[str]
    input: str
    command: str
    reader: str = ""
    instead: str = ""


def _runnable(typed: Typed) -> _Runnable:
    """ExhumeError where the solver cannot be found."""
    file = f"input{Path(typed.file).suffix}"
    name, *words = (file if word == typed.file else word for word in typed.words)
    shown = " ".join([name, *(word if word == "<" else shlex.quote(word) for word in words)])
    if words[-2:-1] == ["<"]:
        words[-2:] = [f"<{words[-1]}"]
    if not typed.spec:
        own = typed.program or (sys.executable if name == "python" else name)
        return _Runnable([own, *words], file, shown)
    solver = find_solver(typed.spec)
    profile = PROFILES[solver.family]
    program = None if not profile.module else _program_of(profile.program, solver)
    reader = profile.file("reader.py")
    if not profile.module or program is not None or reader is None:
        return _Runnable([*((program,) if program else solver.argv), *words], file, shown)
    wheel = solver.argv[solver.argv.index("--wheel") + 1] if "--wheel" in solver.argv else ""
    argv = [sys.executable, "-I", "-c", _START, wheel, READER, *words]
    command = shlex.join(["python", READER, *words])
    return _Runnable(argv, file, command, reader.read_text("utf-8"), shown)


def _program_of(name: str, solver: Solver) -> str | None:
    """The program on the path that is of this solver's version; None if there is none."""
    program, number = shutil.which(name), _NUMBER.search(solver.version())
    if program is None or number is None:
        return None
    try:
        found = _NUMBER.search(ask([program], "--version"))
    except ExhumeError:
        return None
    return program if found is not None and found[0] == number[0] else None
