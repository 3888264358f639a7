"""Replay: run solvers on existing files and report wrong answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from difftest.found_files import MAX_FILE_BYTES
from difftest.oracles import oracles_on
from difftest.oracles.base import Candidate, Observation
from difftest.triage.examine import examine
from difftest.triage.settle import settle
from generator.strategy import GeneratedTest
from solvers.running.outcomes import Outcome, Verdict
from solvers.running.pool import RunnerPool
from solvers.running.process import Limits
from solvers.running.runner import Runner
from solvers.running.script import Script
from solvers.solver import Solver


@dataclass(frozen=True, slots=True)
class ReplayRow:
    """One solver on one file; ``answers`` has an entry per check-sat."""

    file: Path
    solver: str
    verdict: Verdict

    def to_json(self) -> dict[str, Any]:
        """The object that ``replay --json`` lists."""
        return {
            "file": str(self.file),
            "solver": self.solver,
            "outcome": str(self.verdict.outcome),
            "answers": list(self.verdict.answers),
            "seconds": round(self.verdict.seconds, 3),
            "detail": self.verdict.detail,
        }


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """One file: a row per solver, and what was wrong, seen in fresh processes."""

    file: Path
    rows: tuple[ReplayRow, ...]
    findings: tuple[Candidate, ...]


def replay(
    files: Iterable[Path],
    solvers: Sequence[Solver],
    limits: Limits | None = None,
    jobs: int = 1,
    warm: bool = True,
    oracles: Sequence[str] = (),
) -> Iterator[ReplayResult]:
    """Run ``solvers`` on ``files``, lazily, results in the order of the files.

    Candidates are run again in fresh processes, and the rows then hold those verdicts. ``oracles`` decide
    what is wrong, as ``difftest.oracles.select`` returns them (none: the defaults for these solvers). An
    answer that contradicts the file's ``(set-info :status ...)`` is wrong as well.
    """
    limits = limits or Limits()
    names = oracles_on(oracles, solvers)

    def work(runner: Runner, file: Path) -> ReplayResult:
        return _replay_file(file, solvers, names, limits, runner)

    with RunnerPool(jobs, "exhume-replay", warm) as pool:
        yield from pool.in_order(work, files)


def _replay_file(
    file: Path, solvers: Sequence[Solver], names: Sequence[str], limits: Limits, runner: Runner
) -> ReplayResult:
    try:
        if file.stat().st_size > MAX_FILE_BYTES:
            return _unread(file, solvers, f"larger than {MAX_FILE_BYTES >> 20} MB")
        script = Script(file.read_bytes())
    except OSError as problem:
        return _unread(file, solvers, f"cannot be read: {problem.strerror}")
    verdicts = {solver.name: runner.judge(solver, script, limits) for solver in solvers}
    text = script.text
    seen = Observation(text, solvers, verdicts, script.expected)
    found, _, _ = examine(seen, names, runner, limits)
    settled = []
    test = GeneratedTest(0, text, "files", known=script.expected, origin=str(file))
    for candidate in found:
        result, _ = settle(candidate, test, solvers, limits, runner)
        if result is not None:
            settled.append(result.candidate)
            verdicts |= {name: v for name, v in result.shown.verdicts.items() if name in verdicts}
            continue
        for solver in (solver for solver in solvers if solver.name in candidate.solvers):
            verdicts[solver.name] = runner.judge_file(solver, script, file.name, limits)[0]
    rows = tuple(ReplayRow(file, solver.name, verdicts[solver.name]) for solver in solvers)
    return ReplayResult(file, rows, tuple(settled))


def _unread(file: Path, solvers: Sequence[Solver], why: str) -> ReplayResult:
    verdict = Verdict(Outcome.REFUSED, (), 0.0, why)
    return ReplayResult(file, tuple(ReplayRow(file, solver.name, verdict) for solver in solvers), ())
