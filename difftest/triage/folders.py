"""Finding folders: everything it takes to see a finding again, written so that a folder is there whole or not
at all.

``original.smt2``, ``command.txt``, ``finding.json`` (schema below), ``NAME.stdout`` and ``NAME.stderr`` per
solver, ``report.md`` ready to paste, and ``duplicates.txt`` with one line per later test that shows the same
(``triggers.jsonl`` holds a few of these whole: ``difftest.triage.triggers``).
``original.asked-HASH.smt2`` is what a solver was given that is asked by a tactic.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import shlex
import shutil
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from difftest.errors import BadOutput
from difftest.profiles import PROFILES
from difftest.running.outcomes import Verdict
from difftest.running.process import Limits, Run
from difftest.running.runner import Runner
from difftest.running.script import Script
from difftest.solvers import DISTRIBUTIONS, Solver, parse_spec
from difftest.triage.findings import Candidate, FindingClass, finding_id
from difftest.triage.reading import ORIGINAL
from difftest.triage.reports import rewrite_report
from generator.strategy import GeneratedTest
from smtlib.labels import theories_in

# The version of finding.json; raised when a key changes its meaning or goes.
SCHEMA = 1
FORMULA = ORIGINAL


@dataclass(frozen=True, slots=True)
class FindingRecord:
    """One finding as a summary lists it; ``known`` when an earlier hunt into the same folder had found it.

    Findings of API fuzzing have classes of their own.
    """

    id: str
    finding_class: FindingClass | str
    solver: str
    key: str
    known: bool
    path: Path

    def to_json(self) -> dict[str, Any]:
        """The object that ``hunt --json`` lists."""
        return {
            "id": self.id,
            "class": str(self.finding_class),
            "solver": self.solver,
            "key": self.key,
            "known": self.known,
            "path": str(self.path),
        }


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the confirming runs showed, per solver name; ``files`` are texts to keep beside, by file name.

    ``safe_mode`` says whether it shows with cvc5 in its safe mode, too; None where there is no such thing.
    """

    solvers: tuple[Solver, ...]
    verdicts: Mapping[str, Verdict]
    runs: Mapping[str, Run]
    files: Mapping[str, str] = field(default_factory=dict)
    safe_mode: bool | None = None


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
        if not _is_running(stale.name.split("-")[1]):
            shutil.rmtree(stale, ignore_errors=True)
    return folder


def _is_running(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except (ValueError, ProcessLookupError):
        return False
    except PermissionError:
        return True
    return True


def read_findings(folder: Path) -> Iterator[FindingRecord]:
    """The findings in ``folder``; folders without a readable finding.json are passed over."""
    for file in sorted(folder.glob("*/finding.json")):
        try:
            data = json.loads(file.read_text("utf-8"))
            if "fault" in data:
                continue  # of API fuzzing
            yield FindingRecord(
                data["id"], FindingClass(data["class"]), data["solver"], data["key"], True, file.parent
            )
        except (OSError, ValueError, KeyError, TypeError):
            continue


def _working_folder(folder: Path) -> Path:
    """A new folder to write a finding in, beside where it will be renamed to."""
    path = folder / f".tmp-{os.getpid()}-finding"
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    return path


def write_finding(
    folder: Path, candidate: Candidate, test: GeneratedTest, evidence: Evidence, seed: int
) -> FindingRecord:
    """Write a finding and move it into ``folder`` in one step. OSError if it cannot be written; nothing of it
    is left then. A process writes one at a time.
    """
    work = _working_folder(folder)
    try:
        return _complete(work, folder, candidate, test, evidence, seed)
    except OSError:
        shutil.rmtree(work, ignore_errors=True)
        raise


def _complete(
    work: Path, folder: Path, candidate: Candidate, test: GeneratedTest, evidence: Evidence, seed: int
) -> FindingRecord:
    """Write all into ``work`` and move it into ``folder``."""
    identity = finding_id(candidate.key, test.text)
    final = folder / f"{candidate.finding_class}-{identity}"
    script = Script(test.text.encode("utf-8", "surrogateescape"))
    (work / FORMULA).write_bytes(script.data)
    for name, run in evidence.runs.items():
        (work / f"{name}.stdout").write_text(run.stdout, "utf-8", "replace")
        (work / f"{name}.stderr").write_text(run.stderr, "utf-8", "replace")
    for name, text in evidence.files.items():
        (work / name).write_text(text, "utf-8", "surrogateescape")
    for solver in evidence.solvers:
        if solver.tactic is not None:
            (work / solver.given_file(FORMULA)).write_bytes(solver.given(script).data)
    (work / "command.txt").write_text(_commands(script, evidence, final), "utf-8")
    (work / "finding.json").write_text(
        json.dumps(_as_json(identity, candidate, test, evidence, script, seed), indent=2) + "\n", "utf-8"
    )
    rewrite_report(work)
    if final.exists():
        shutil.rmtree(work)
    else:
        work.rename(final)
    return FindingRecord(identity, candidate.finding_class, candidate.label, candidate.key, False, final)


def record_runs(
    folder: Path,
    file: str,
    solvers: Sequence[Solver],
    seconds: float,
    tries: int = 1,
    is_wanted: Callable[[Solver, Verdict], bool] = lambda solver, verdict: True,
) -> dict[str, dict[str, Any]]:
    """Run ``solvers`` on a file of a finding's folder in fresh processes and keep what they print beside it,
    as ``NAME.reduced.stdout`` and ``.stderr``; for each the command line as typed, the file that it was given
    (another one where it is asked by a tactic), and how it ended. Of so many ``tries`` the first run is kept
    that is wanted, else the last.
    """
    told: dict[str, dict[str, Any]] = {}
    script = Script((folder / file).read_bytes())
    with Runner() as runner:
        for solver in solvers:
            for _ in range(tries):
                path, limits = (folder / file).absolute(), Limits(seconds=seconds)
                verdict, run = runner.judge_file(solver, script, path, limits)
                if is_wanted(solver, verdict):
                    break
            (folder / f"{solver.name}.reduced.stdout").write_text(run.stdout, "utf-8", "replace")
            (folder / f"{solver.name}.reduced.stderr").write_text(run.stderr, "utf-8", "replace")
            told[solver.name] = {
                "shown": solver.shown(script, file),
                "file": solver.given_file(file),
                "ending": ending(run),
                "seconds": round(run.seconds, 3),
            }
    return told


def duplicates_of(record: FindingRecord) -> set[str]:
    """The indices of the tests listed as showing a finding again."""
    try:
        return set((record.path / "duplicates.txt").read_text("utf-8").split())
    except (OSError, ValueError):
        return set()


def note_duplicate(record: FindingRecord, index: int) -> None:
    """Add a test's index to the finding that it shows again."""
    with (record.path / "duplicates.txt").open("a", encoding="utf-8") as handle:
        handle.write(f"{index}\n")


def _commands(script: Script, evidence: Evidence, final: Path) -> str:
    lines = [f"cd {shlex.quote(str(final.absolute()))}"]
    for solver in evidence.solvers:
        line = shlex.join(solver.command(script, FORMULA))
        lines.append(line + (f" < {FORMULA}" if solver.reads_stdin else ""))
    return "\n".join(lines) + "\n"


def _as_json(
    identity: str, candidate: Candidate, test: GeneratedTest, evidence: Evidence, script: Script, seed: int
) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "id": identity,
        "class": str(candidate.finding_class),
        "solver": candidate.label,
        "guilty": candidate.guilty,
        "reason": candidate.reason,
        "oracle": candidate.oracle,
        "evidence": list(candidate.evidence),
        "check": candidate.check,
        "key": candidate.key,
        "theories": list(theories_in(test.text)),
        "safe_mode": evidence.safe_mode,
        "platform": platform_name(),
        "solvers": [
            _solver_entry(solver, script, evidence.verdicts[solver.name], evidence.runs[solver.name])
            for solver in evidence.solvers
        ],
        "test": {
            "seed": seed,
            "index": test.index,
            "strategy": test.strategy,
            "skeletons": list(test.skeletons),
            "atoms": list(test.atoms),
            "rules": list(test.rules),
            "issues": list(test.issues),
            "known": list(test.known),
        },
    }


def _solver_entry(solver: Solver, script: Script, verdict: Verdict, run: Run) -> dict[str, Any]:
    prefix = PROFILES[solver.family].prefix if solver.family in PROFILES else ""
    return {
        "name": solver.name,
        "spec": solver.spec,
        "family": solver.family,
        "version": solver.version(),
        "commit": solver.commit(),
        "package": DISTRIBUTIONS.get(solver.family),
        "release": release_of(solver),
        "options": [prefix + option for option in parse_spec(solver.spec).options],
        "command": solver.command(script, FORMULA),
        "shown": solver.shown(script, FORMULA),
        "file": solver.given_file(FORMULA),
        "ending": ending(run),
        "outcome": str(verdict.outcome),
        "answers": list(verdict.answers),
        "location": verdict.location,
        "detail": verdict.detail,
        "seconds": round(verdict.seconds, 3),
    }


def release_of(solver: Solver) -> str | None:
    """The release of the wheel that a solver comes from; None for a command line of the user's."""
    if solver.family not in DISTRIBUTIONS:
        return None
    return parse_spec(solver.spec).release or importlib.metadata.version(DISTRIBUTIONS[solver.family])


def ending(run: Run) -> str:
    """How a run ended, for people: ``exit status 1``, ``signal 11 (SIGSEGV)``, ``timeout``."""
    if run.ended != "exit":
        return run.ended
    if run.signal:
        name = next((s.name for s in signal.Signals if s == run.signal), "unknown")
        return f"signal {run.signal} ({name})"
    return f"exit status {run.code}"


def platform_name() -> str:
    """This machine's operating system and processor."""
    try:
        system = platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        system = ""
    return f"{platform.system()} {platform.machine()}" + (f" ({system})" if system else "")
