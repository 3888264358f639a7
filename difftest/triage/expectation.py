"""What has to show again for a finding to be there: its class, its solvers, its place or answers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from difftest.errors import DifftestError
from difftest.oracles import default_oracles, look, probe
from difftest.oracles.base import Observation
from difftest.reduction.pairs import Pair, follows_by
from difftest.triage.evidence import PARENT
from difftest.triage.findings import Candidate, FindingClass
from difftest.triage.folders import FORMULA
from solvers.errors import SolverMissing
from solvers.registry import REFERENCES
from solvers.running.outcomes import Verdict, judge, message_shape
from solvers.running.process import Limits, Run
from solvers.running.runner import Runner
from solvers.running.script import Script
from solvers.specs import Solver, find_solver

_MAX_SECONDS = 20.0


class NotShown(DifftestError):
    """A file or folder that is said to show something wrong does not."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """What has to show again.

    ``answers`` are those of the contradicted check-sat, by solver name (soundness only). ``truth`` is set
    where the right answer was known by construction: one of ``references`` has to give it, then.
    ``complaints`` are the shapes of the error messages that are there already; others spoil a run.
    ``oracle`` names the one that saw it. ``seconds`` is what one run may take. ``exact=False`` lets lines of
    a crash's file differ, as they do from release to release. ``pair`` is set where it takes the formula that
    this one was made from to show it. ``tries`` is in how many runs it is to show twice where it is a
    matter of chance (threads, time), else 1.
    """

    finding_class: FindingClass
    solvers: tuple[Solver, ...]
    guilty: str | None = None
    location: str | None = None
    shape: str | None = None
    answers: Mapping[str, str] = field(default_factory=dict)
    truth: str | None = None
    references: tuple[Solver, ...] = ()
    complaints: frozenset[str] = frozenset()
    seconds: float = 2.0
    exact: bool = True
    oracle: str = ""
    pair: Pair | None = None
    tries: int = 1

    def is_shown_by(self, solver: Solver, verdict: Verdict) -> bool:
        """Whether one run of a solver is the wrong one, as far as that run tells."""
        if self.finding_class in (FindingClass.CRASH, FindingClass.INVALID_MODEL):
            return solver.name != self.guilty or str(verdict.outcome) == str(self.finding_class)
        wanted = self.answers.get(solver.name)
        return wanted is None or wanted in verdict.answers

    def to_json(self) -> dict[str, Any]:
        """The document that ``python -m difftest.triage.confirm`` reads."""
        return {
            "expects": str(self.finding_class),
            "solvers": [_solver_json(solver) for solver in self.solvers],
            "guilty": self.guilty,
            "location": self.location,
            "shape": self.shape,
            "answers": dict(self.answers),
            "truth": self.truth,
            "references": [_solver_json(solver) for solver in self.references],
            "complaints": sorted(self.complaints),
            "seconds": self.seconds,
            "oracle": self.oracle,
            "pair": [self.pair.text, self.pair.parent, self.pair.follows] if self.pair else None,
            "tries": self.tries,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Expectation:
        """The opposite of ``to_json``."""
        return cls(
            FindingClass(data["expects"]),
            tuple(map(_solver_from, data["solvers"])),
            data["guilty"],
            data["location"],
            data["shape"],
            data["answers"],
            data["truth"],
            tuple(map(_solver_from, data["references"])),
            frozenset(data["complaints"]),
            data["seconds"],
            oracle=data.get("oracle", ""),
            pair=Pair(*data["pair"]) if data.get("pair") else None,
            tries=int(data.get("tries", 1)),
        )


def _solver_json(solver: Solver) -> dict[str, Any]:
    return {"spec": solver.spec, "checks": list(solver.checks), "argv": list(solver.argv)}


def _solver_from(data: Mapping[str, Any]) -> Solver:
    return replace(find_solver(data["spec"]), checks=tuple(data["checks"]), argv=tuple(data["argv"]))


def read_finding(folder: Path) -> dict[str, Any]:
    """The ``finding.json`` of a finding; DifftestError if the folder holds none that can be read."""
    try:
        data = json.loads((folder / "finding.json").read_text("utf-8"))
        _ = data["class"], data["solvers"], data["solver"], data["key"]
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise DifftestError(f"{folder}: no finding can be read there: {problem}") from problem
    return dict(data)


def read_formula(file: Path) -> str:
    """The text of a formula, whatever its bytes; DifftestError if it cannot be read."""
    try:
        return file.read_bytes().decode("utf-8", "surrogateescape")
    except OSError as problem:
        raise DifftestError(f"{file}: cannot be read: {problem.strerror or problem}") from problem


def expectation_of_finding(folder: Path) -> Expectation:
    """What a finding folder says it shows; nothing is run.

    DifftestError for a finding that stands on another formula which is not there.
    """
    data = read_finding(folder)
    oracle = data.get("oracle") or ""
    pair = _pair_of(folder, data) if oracle == "implication" else None
    finding_class = FindingClass(data["class"])
    solvers = tuple(find_solver(entry["spec"]) for entry in data["solvers"])
    guilty = data.get("guilty")
    told = next((entry for entry in data["solvers"] if entry["name"] == guilty), data["solvers"][0])
    complaints: set[str] = set()
    for entry in data["solvers"]:
        printed = folder / f"{entry['name']}.stdout"
        if printed.is_file():
            complaints |= complaints_of(printed.read_text("utf-8", "replace"), entry["detail"])
    answers: dict[str, str] = {}
    truth = None
    references: tuple[Solver, ...] = ()
    if finding_class is FindingClass.SOUNDNESS and pair is None:
        check = data["check"] or 0
        answers = {e["name"]: a for e in data["solvers"] if (a := answer_at(e["answers"], check)) is not None}
        if len(set(answers.values())) < 2:
            truth = "unsat" if "sat" in answers.values() else "sat"
            references = _references(solvers)
    return Expectation(
        finding_class,
        solvers,
        guilty,
        told["location"],
        message_shape(told["detail"]) if told["detail"] else None,
        answers,
        truth,
        references,
        frozenset(complaints),
        _seconds(max(entry["seconds"] for entry in data["solvers"])),
        oracle=oracle,
        pair=pair,
        tries=int((data.get("reduced") or {}).get("tries", 1)),
    )


def _pair_of(folder: Path, data: Mapping[str, Any]) -> Pair:
    """The formula of a finding with the one that it was made from."""
    follows = follows_by(data.get("evidence") or ())
    if follows is None or not (folder / PARENT).is_file():
        raise DifftestError(f"{folder}: it follows from {PARENT} beside it and means nothing without that")
    return Pair(read_formula(folder / FORMULA), read_formula(folder / PARENT), follows)


def expectation_of(
    candidate: Candidate,
    solvers: Sequence[Solver],
    verdicts: Mapping[str, Verdict],
    runs: Mapping[str, Run],
    pair: Pair | None = None,
) -> Expectation:
    """What ``candidate`` shows, by the verdicts and runs that it was seen in; ``pair`` if that takes two
    formulas.
    """
    involved = tuple(solver for solver in solvers if solver.name in candidate.solvers)
    told = verdicts[candidate.guilty or candidate.solvers[0]]
    answers: dict[str, str] = {}
    truth = None
    references: tuple[Solver, ...] = ()
    if candidate.finding_class is FindingClass.SOUNDNESS and pair is None:
        check = candidate.check or 0
        said = {solver.name: answer_at(verdicts[solver.name].answers, check) for solver in involved}
        answers = {name: answer for name, answer in said.items() if answer is not None}
        if len(set(answers.values())) < 2:
            truth = "unsat" if "sat" in answers.values() else "sat"
            references = _references(involved)
    complaints: set[str] = set()
    for solver in involved:
        complaints |= complaints_of(runs[solver.name].stdout, verdicts[solver.name].detail)
    return Expectation(
        candidate.finding_class,
        involved,
        candidate.guilty,
        told.location,
        told.shape,
        answers,
        truth,
        references,
        frozenset(complaints),
        _seconds(max(verdicts[solver.name].seconds for solver in involved)),
        oracle=candidate.oracle,
        pair=pair,
    )


def _references(solvers: Sequence[Solver]) -> tuple[Solver, ...]:
    """Solvers at hand to ask for the truth: the installed ones that are not accused themselves."""
    found = []
    for spec in REFERENCES:
        if all(solver.spec != spec for solver in solvers):
            try:
                found.append(find_solver(spec))
            except SolverMissing:
                continue
    return tuple(found)


def answer_at(answers: Sequence[str | None], check: int) -> str | None:
    """``sat`` or ``unsat`` if that is the answer to that check-sat (from 0)."""
    answer = answers[check] if check < len(answers) else None
    return answer if answer in ("sat", "unsat") else None


def _seconds(seen: float) -> float:
    return min(_MAX_SECONDS, 1.0 + 4 * seen)


def complaints_of(printed: str, decisive: str) -> set[str]:
    """The shapes of the error messages in ``printed`` other than the one that makes the finding."""
    first = decisive.partition("\n")[0]
    lines = [line.strip() for line in printed.splitlines()]
    return {
        message_shape(line)
        for line in lines
        if line.startswith("(error") and not (first and line.startswith(first[:80])) and "model" not in line
    }


def observe(text: str, solvers: Sequence[Solver], seconds: float = 10.0) -> Expectation:
    """What is wrong with ``solvers`` on ``text``, the gravest first; NotShown if nothing is."""
    script = Script(text.encode("utf-8", "surrogateescape"))
    if script.file_command:
        raise NotShown(f"not run: {script.file_command} names a file")
    runs: dict[str, Run] = {}
    verdicts: dict[str, Verdict] = {}
    with Runner() as runner:
        for solver in solvers:
            runs[solver.name] = runner.run(solver, script, Limits(seconds=seconds))
            verdicts[solver.name] = judge(solver.given(script), runs[solver.name], solver.family)
        names = [name for name in default_oracles(solvers) if name != "implication"]
        seen = Observation(text, solvers, verdicts, script.expected)
        seen, _ = probe(seen, names, runner, Limits(seconds=seconds))
    found = look(seen, names)
    if not found:
        said = ", ".join(
            f"{name}: {' '.join(map(str, v.answers)) or v.outcome}" for name, v in verdicts.items()
        )
        raise NotShown(f"nothing is wrong with the solvers on it ({said})")
    order = [FindingClass.SOUNDNESS, FindingClass.CRASH]
    chosen = min(
        found, key=lambda c: order.index(c.finding_class) if c.finding_class in order else len(order)
    )
    return expectation_of(chosen, solvers, verdicts, runs)


def load_expectation(path: Path) -> Expectation:
    """The expectation of a finding folder or of a file that ``to_json`` made."""
    if path.is_dir():
        return expectation_of_finding(path)
    try:
        data = json.loads(path.read_text("utf-8"))
        return Expectation.from_json(data)
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise DifftestError(f"{path}: neither a finding nor an expectation: {problem}") from problem
