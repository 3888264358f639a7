"""Findings about formulas written, and finding folders listed and updated.

The folder of a finding about a formula holds ``original.smt2``, ``command.txt``, ``finding.json``,
``NAME.stdout`` and ``NAME.stderr`` per solver, ``report.md`` ready to paste, and ``duplicates.txt`` with one
line per later test that shows the same (``triggers.jsonl`` holds a few of these whole:
``difftest.triage.triggers``).
``original.asked-HASH.smt2`` is what a solver was given that is asked by a tactic, ``original.escapes.smt2``
what a release was given that spells strings in its own way.
"""

from __future__ import annotations

import os
import shlex
import shutil
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from base.files import append_lines, put_json, put_text
from base.locks import folder_locked
from difftest.errors import BadOutput, DifftestError
from difftest.oracles.base import Candidate
from difftest.triage.filing import Filing, FindingRecord, file_finding
from difftest.triage.folder import DOCUMENT, DUPLICATES, ORIGINAL, FindingFolder, read_document
from difftest.triage.kinds import rewrite_report
from generator.strategy import GeneratedTest
from smtlib.mentions import theories_in
from solvers.registry import DISTRIBUTIONS, PROFILES
from solvers.running.outcomes import Verdict
from solvers.running.process import Run, signal_name
from solvers.running.script import Script
from solvers.solver import Solver
from solvers.specs import parse_spec

# A hunt's threads, and other processes beside it, change different entries of one document. The lock between
# processes does for threads, too, but not every file system has it.
_UPDATING = threading.Lock()
# What is noted of a test in lists.
_LISTED = ("skeletons", "atoms", "rules", "issues", "known")


@dataclass(frozen=True, slots=True)
class Shown:
    """What the confirming runs showed, per solver name; ``files`` are texts to keep beside, by file name.

    ``safe_mode`` says whether it shows with cvc5 in its safe mode, too; None where there is no such thing.
    ``base`` is the version of the build that the solver was compared with, which does not show it.
    """

    solvers: tuple[Solver, ...]
    verdicts: Mapping[str, Verdict]
    runs: Mapping[str, Run]
    files: Mapping[str, str] = field(default_factory=dict)
    safe_mode: bool | None = None
    base: str = ""


def prepare_output(out: Path) -> Path:
    """Make sure that findings can be written below ``out``; gives their folder, or BadOutput."""
    folder = out / "findings"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".tmp-{os.getpid()}-probe"
        probe.mkdir()
        probe.rmdir()
    except OSError as problem:
        raise BadOutput(f"cannot write findings to {out}: {problem.strerror or problem}") from problem
    for stale in folder.glob(".tmp-*"):
        pid = stale.name.split("-")[1]
        if not pid.isdecimal() or not psutil.pid_exists(int(pid)):
            shutil.rmtree(stale, ignore_errors=True)
    return folder


def check_output(out: Path) -> None:
    """Raise BadOutput unless findings can be written below ``out``; leave nothing behind."""
    made = [folder for folder in (out / "findings", out, *out.parents) if not folder.exists()]
    prepare_output(out)
    with suppress(OSError):  # another process uses it
        for folder in made:
            folder.rmdir()


def read_findings(folder: Path) -> Iterator[FindingRecord]:
    """The findings in ``folder``, in the order of their names; folders without a readable one are
    skipped.
    """
    for file in sorted(folder.glob(f"*/{DOCUMENT}")):
        try:
            found = FindingFolder.read(file.parent)
        except DifftestError:
            continue
        identity, finding_class, solver, key = (
            str(found.data[name]) for name in ("id", "class", "solver", "key")
        )
        yield FindingRecord(identity, finding_class, solver, key, True, file.parent, found.merged)


def findings_of(folder: Path) -> list[FindingRecord]:
    """The findings of a campaign, or of a folder of findings; BadOutput if it is neither."""
    inside = folder / "findings"
    if inside.is_dir():
        return list(read_findings(inside))
    if not any(folder.glob(f"*/{DOCUMENT}")):
        raise BadOutput(f"{folder}: no findings there; name the --out folder of a hunt or of API fuzzing")
    return list(read_findings(folder))


def folders_of(folder: Path) -> list[FindingFolder]:
    """The folders of ``findings_of``."""
    return [FindingFolder.read(record.path) for record in findings_of(folder)]


def write_finding(
    folder: Path,
    candidate: Candidate,
    test: GeneratedTest,
    shown: Shown,
    seed: int,
    by_operators: str = "",
) -> FindingRecord:
    """Write a finding about a formula. For ``by_operators`` see FoundKey."""
    script = Script.of(test.text)
    files = {ORIGINAL: test.text}
    for name, run in shown.runs.items():
        files |= {f"{name}.stdout": run.stdout, f"{name}.stderr": run.stderr}
    files |= shown.files
    for solver in shown.solvers:
        if (name := solver.given_file(script, ORIGINAL)) != ORIGINAL:
            files[name] = solver.given(script).text
    document = {
        "guilty": candidate.culprit,
        "reason": candidate.reason,
        "oracle": candidate.oracle,
        "evidence": list(candidate.evidence),
        "check": candidate.check,
        "theories": list(theories_in(test.text)),
        "safe_mode": shown.safe_mode,
        **({"base": shown.base} if shown.base else {}),
        "solvers": [
            _solver_entry(solver, script, shown.verdicts[solver.name], shown.runs[solver.name])
            for solver in shown.solvers
        ],
        "test": {
            **{"seed": seed, "index": test.index, "strategy": test.strategy},
            **({"origin": test.origin} if test.origin else {}),
            **{name: list(getattr(test, name)) for name in _LISTED},
        },
    }
    head = ("formula", candidate.finding_class, candidate.label, candidate.key, test.text)
    filing = Filing(*head, document, files, by_operators)
    files["command.txt"] = _commands(script, shown, folder / filing.folder_name)
    return file_finding(folder, filing)


def update_finding(folder: Path, changes: Mapping[str, Any], files: Mapping[str, str] | None = None) -> None:
    """Put further texts into a finding's folder, change entries of its document, and rewrite its report."""
    with _UPDATING, folder_locked(folder):
        data = {**read_document(folder), **changes}
        for name, text in (files or {}).items():
            put_text(folder / name, text)
        put_json(folder / DOCUMENT, data)
        rewrite_report(folder)


def duplicates_of(folder: Path) -> list[str]:
    """The tests listed in a finding's folder as showing it again."""
    try:
        return (folder / DUPLICATES).read_text("utf-8", "replace").split("\n")[:-1]
    except OSError:
        return []


def tests_of(folder: Path) -> list[str]:
    """The tests that show a finding, as ``duplicates_of``: first its own, if that is a file."""
    origin = ""
    with suppress(DifftestError):
        origin = FindingFolder.read(folder).origin
    own = [GeneratedTest(0, "", "", origin=origin).listed] if origin else []
    return own + duplicates_of(folder)


def note_duplicate(record: FindingRecord, test: GeneratedTest) -> None:
    """Add a test to the list of the finding that it shows again."""
    append_lines(record.path / DUPLICATES, test.listed)


def _commands(script: Script, shown: Shown, final: Path) -> str:
    lines = [f"cd {shlex.quote(str(final.absolute()))}"]
    for solver in shown.solvers:
        line = shlex.join(solver.command(script, ORIGINAL))
        lines.append(line + (f" < {ORIGINAL}" if solver.reads_stdin else ""))
    return "\n".join(lines) + "\n"


def _solver_entry(solver: Solver, script: Script, verdict: Verdict, run: Run) -> dict[str, Any]:
    prefix = PROFILES[solver.family].prefix if solver.family in PROFILES else ""
    return {
        "name": solver.name,
        "spec": solver.spec,
        "family": solver.family,
        "version": solver.version(),
        "commit": solver.commit(),
        "package": DISTRIBUTIONS.get(solver.family),
        "release": solver.release,
        "options": [prefix + option for option in parse_spec(solver.spec).options],
        "command": solver.command(script, ORIGINAL),
        "shown": solver.shown(script, ORIGINAL),
        "file": solver.given_file(script, ORIGINAL),
        "ending": ending(run),
        "outcome": str(verdict.outcome),
        "answers": list(verdict.answers),
        "location": verdict.location,
        "detail": verdict.detail,
        "seconds": round(verdict.seconds, 3),
        **({"base": True} if solver.is_base else {}),
    }


def ending(run: Run) -> str:
    """How a run ended, for people: ``exit status 1``, ``signal 11 (SIGSEGV)``, ``timeout``."""
    how = f"exit status {run.code}" if run.ended == "exit" else run.ended
    if run.ended == "exit" and run.signal:
        how = f"signal {run.signal} ({signal_name(run.signal) or 'unknown'})"
    return how
