"""Finding folders: everything it takes to see a finding again, written so that a folder is there whole or not
at all.

``original.smt2``, ``command.txt``, ``finding.json`` (schema below), ``NAME.stdout`` and ``NAME.stderr`` per
solver, ``report.md`` ready to paste, and ``duplicates.txt`` with one line per later test that shows the same.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from difftest.errors import BadOutput
from difftest.findings import Candidate, FindingClass, finding_id, theories
from difftest.outcomes import Verdict
from difftest.process import Run
from difftest.script import Script
from difftest.solvers import Solver
from generator.strategy import GeneratedTest

# The version of finding.json; raised when a key changes its meaning or goes.
SCHEMA = 1
FORMULA = "original.smt2"


@dataclass(frozen=True, slots=True)
class FindingRecord:
    """One finding as a summary lists it; ``known`` when an earlier hunt into the same folder had found it."""

    id: str
    finding_class: FindingClass
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
    """What the confirming runs showed, per solver name."""

    solvers: tuple[Solver, ...]
    verdicts: Mapping[str, Verdict]
    runs: Mapping[str, Run]


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
            yield FindingRecord(
                data["id"], FindingClass(data["class"]), data["solver"], data["key"], True, file.parent
            )
        except (OSError, ValueError, KeyError, TypeError):
            continue


def working_folder(folder: Path, number: int) -> Path:
    """A new folder to confirm a candidate in, beside where it will be renamed to."""
    path = folder / f".tmp-{os.getpid()}-{number}"
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    return path


def write_finding(
    work: Path, folder: Path, candidate: Candidate, test: GeneratedTest, evidence: Evidence, seed: int
) -> FindingRecord:
    """Complete ``work`` (which holds the formula already) and move it into ``folder`` in one step."""
    identity = finding_id(candidate.key, test.text)
    final = folder / f"{candidate.finding_class}-{identity}"
    script = Script(test.text.encode())
    for name, run in evidence.runs.items():
        (work / f"{name}.stdout").write_text(run.stdout, "utf-8", "replace")
        (work / f"{name}.stderr").write_text(run.stderr, "utf-8", "replace")
    (work / "command.txt").write_text(_commands(script, evidence, final), "utf-8")
    (work / "finding.json").write_text(
        json.dumps(_as_json(identity, candidate, test, evidence, script, seed), indent=2) + "\n", "utf-8"
    )
    (work / "report.md").write_text(_report(candidate, test, evidence, script), "utf-8")
    if final.exists():
        shutil.rmtree(work)
    else:
        work.rename(final)
    return FindingRecord(identity, candidate.finding_class, candidate.label, candidate.key, False, final)


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
        "check": candidate.check,
        "key": candidate.key,
        "theories": list(theories(test.text)),
        "solvers": [
            {
                "name": solver.name,
                "spec": solver.spec,
                "version": solver.version(),
                "command": solver.command(script, FORMULA),
                "outcome": str(evidence.verdicts[solver.name].outcome),
                "answers": list(evidence.verdicts[solver.name].answers),
                "location": evidence.verdicts[solver.name].location,
                "detail": evidence.verdicts[solver.name].detail,
                "seconds": round(evidence.verdicts[solver.name].seconds, 3),
            }
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


_TITLES = {
    FindingClass.CRASH: "{solver}: crash on {theories}",
    FindingClass.INVALID_MODEL: "{solver}: invalid model on {theories}",
    FindingClass.SOUNDNESS: "{solver}: wrong answer on {theories}",
}


def _report(candidate: Candidate, test: GeneratedTest, evidence: Evidence, script: Script) -> str:
    """The text of an issue; sections in the order that the solvers' own templates ask for."""
    title = _TITLES[candidate.finding_class].format(
        solver=candidate.guilty or " or ".join(candidate.solvers), theories=", ".join(theories(test.text))
    )
    place = next((v.location for v in evidence.verdicts.values() if v.location), None)
    parts = [f"# {title}" + (f" ({place})" if place else ""), ""]
    if candidate.reason:
        parts += [_sentence(candidate), ""]
    fence = "````" if "```" in test.text else "```"
    parts += [f"{fence}smt2", test.text.rstrip("\n"), fence, ""]
    for solver in evidence.solvers:
        parts += _section(solver, script, evidence)
    parts += ["## How it was found", "", _origin(test), ""]
    return "\n".join(parts)


def _sentence(candidate: Candidate) -> str:
    reason = candidate.reason.strip()
    if candidate.finding_class is FindingClass.SOUNDNESS and candidate.check is not None:
        return f"At check-sat number {candidate.check + 1}: {reason}."
    return f"`{reason}`"


def _section(solver: Solver, script: Script, evidence: Evidence) -> Sequence[str]:
    run = evidence.runs[solver.name]
    printed = (run.stdout.rstrip("\n") + "\n" + run.stderr.strip("\n")).strip("\n")
    ending = f"signal {run.signal}" if run.signal else f"exit status {run.code}"
    return [
        f"## {solver.name}: {solver.version()}",
        "",
        "```console",
        f"$ {solver.shown(script, FORMULA)}",
        *_clipped(printed),
        f"[{ending}]",
        "```",
        "",
    ]


def _clipped(text: str, lines: int = 60) -> list[str]:
    found = [line[:400] for line in text.split("\n")]
    return found if len(found) <= lines else [*found[:lines], f"... ({len(found) - lines} more lines)"]


def _origin(test: GeneratedTest) -> str:
    from_issues = f", from the bones of {', '.join(test.issues)}" if test.issues else ""
    return (
        f"By exhume, strategy `{test.strategy}`, test {test.index}{from_issues}; "
        "seen again in a fresh process."
    )
