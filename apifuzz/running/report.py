"""``report.md`` of a finding of API fuzzing, made from what its folder holds and from nothing else."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from apifuzz.running.faults import FATAL
from difftest.triage.markdown import clipped, fenced, plain, printable
from difftest.triage.reports import read_some

_MOST_TRACE = 8_000
_MOST_SCRIPT = 8_000

_EXPECTED = {
    "crash": "An answer, or a message that it cannot be given.",
    "rejected": "The call is one that the solver's documentation allows: it should be accepted.",
    "answer": "The same answer of both solvers.",
    "model": "Values that satisfy the assertions.",
    "core": "An unsat core that is unsatisfiable.",
    "assumptions": "Failed assumptions that cannot all be true.",
    "sort": "A term of the sort that its operator has.",
    "term": "A term that tells what it was made of.",
    "print": "A printed term that reads back as the same term.",
    "value": "A value that can be read.",
    "leak": "Memory that is given back when the solver instance is deleted.",
    "internal": "This is a fault of exhume's own, not of the solver.",
}


def report_text(folder: Path) -> str:
    """The report on a finding's folder, whose ``finding.json`` must be readable."""
    data: Mapping[str, Any] = json.loads((folder / "finding.json").read_text("utf-8"))
    return "\n\n".join(part for part in _parts(folder, data) if part) + "\n"


def _parts(folder: Path, data: Mapping[str, Any]) -> Iterator[str]:
    fault, kind, solver = data["fault"], str(data["class"]), plain(str(data["solver"]))
    yield f"# {_title(solver, kind, fault)}"
    yield fenced(printable("\n".join(clipped(str(fault["detail"])))), "text")
    yield f"Expected: {_EXPECTED.get(kind, 'that it does not.')}"
    yield from _script(folder)
    yield from _formula(folder)
    yield "## Calls"
    trace = read_some(folder / "minimised.trace") or read_some(folder / "trace.txt")
    yield fenced(printable(trace[:_MOST_TRACE].rstrip("\n")), "text")
    yield f"`exhume apifuzz --replay {shlex.quote('minimised.trace')}` makes them again."
    # Python prints its own stack after what the solver printed: the paths of a machine, and nothing else.
    printed, _, _ = read_some(folder / "printed.txt").partition(FATAL)
    if printed := printed.strip():
        yield "## Printed"
        yield fenced(printable("\n".join(clipped(printed))), "text")
    yield "## Versions"
    yield plain(f"{data.get('version', '')}; {data.get('platform', '')}")
    yield _origin(data)


def _title(solver: str, kind: str, fault: Mapping[str, Any]) -> str:
    action = plain(str(fault["action"]))
    if kind == "crash":
        return (
            f"{solver}: crash at {plain(str(fault['place']))}"
            if fault["place"]
            else f"{solver}: crash in {action}"
        )
    words = {
        "rejected": f"a call that should be allowed is rejected ({action})",
        "answer": "wrong answer",
        "model": "wrong values",
        "core": "an unsat core that is satisfiable",
        "assumptions": "failed assumptions that can all be true",
        "leak": "memory is not given back",
    }
    return f"{solver}: {words.get(kind, f'{plain(kind)} ({action})')}"


def _script(folder: Path) -> Iterator[str]:
    if text := read_some(folder / "script.py"):
        yield "## Script"
        shown = text[:_MOST_SCRIPT]
        yield fenced(printable(shown.rstrip("\n")), "python")
        if len(text) > len(shown):
            yield "(Cut short here; `script.py` has all of it.)"


def _formula(folder: Path) -> Iterator[str]:
    if text := read_some(folder / "reduced.smt2") or read_some(folder / "formula.smt2"):
        yield "## In SMT-LIB"
        yield fenced(printable(text[:_MOST_SCRIPT].rstrip("\n")), "smt2")


def _origin(data: Mapping[str, Any]) -> str:
    origin = data.get("origin") or {}
    before, after = (data.get("lines") or [0, 0])[:2]
    text = f"Found by exhume (API fuzzing, seed {origin.get('seed')}, run {origin.get('run')})"
    text += f", seen again in a fresh process; minimised from {before} calls to {after}."
    setup = data.get("setup") or {}
    if setup.get("cross_check"):
        text += f" Both solvers made the same calls: {data['solver']} and {setup['cross_check']}."
    if setup.get("witnesses"):
        text += " Witnesses were re-checked in a second instance."
    return plain(text)
