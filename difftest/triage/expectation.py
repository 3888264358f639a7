"""What has to show again for a finding to be there: its class, its solvers, its place or answers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from difftest.errors import DifftestError, NotShown
from difftest.oracles import default_oracles, examine
from difftest.oracles.base import Candidate, Observation, decided
from difftest.reduction.pairs import Pair, follows_by
from difftest.triage.classes import class_of
from difftest.triage.classes.base import Expectation
from difftest.triage.evidence import PARENT
from difftest.triage.folder import ORIGINAL, read_document
from solvers.running.outcomes import Verdict, judge, message_shape
from solvers.running.process import Limits, Run
from solvers.running.runner import Runner
from solvers.running.script import Script
from solvers.specs import Solver, find_solver

_MAX_SECONDS = 20.0


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
    data = read_document(folder)
    pair = _pair_of(folder, data) if data.get("oracle") == "implication" else None
    solvers = tuple(find_solver(entry["spec"]) for entry in data["solvers"])
    guilty = data.get("guilty")
    told = next((entry for entry in data["solvers"] if entry["name"] == guilty), data["solvers"][0])
    complaints: set[str] = set()
    for entry in data["solvers"]:
        printed = folder / f"{entry['name']}.stdout"
        if printed.is_file():
            complaints |= complaints_of(printed.read_text("utf-8", "replace"), entry["detail"])
    expected = Expectation(
        str(data["class"]),
        solvers,
        guilty,
        told["location"],
        message_shape(told["detail"]) if told["detail"] else None,
        complaints=frozenset(complaints),
        seconds=_seconds(max(entry["seconds"] for entry in data["solvers"])),
        oracle=data.get("oracle") or "",
        pair=pair,
        tries=int((data.get("reduced") or {}).get("tries", 1)),
    )
    check = data.get("check") or 0
    said = {entry["name"]: decided(entry["answers"], check) for entry in data["solvers"]}
    return _with_answers(expected, said)


def _with_answers(expected: Expectation, said: Mapping[str, str | None]) -> Expectation:
    """``expected`` with what its class makes of the answers to the question that it is about."""
    answers = {name: answer for name, answer in said.items() if answer is not None}
    return class_of(expected.finding_class).expect(expected, answers)


def _pair_of(folder: Path, data: Mapping[str, Any]) -> Pair:
    """The formula of a finding with the one that it was made from."""
    follows = follows_by(data.get("evidence") or ())
    if follows is None or not (folder / PARENT).is_file():
        raise DifftestError(f"{folder}: it follows from {PARENT} beside it and means nothing without that")
    return Pair(read_formula(folder / ORIGINAL), read_formula(folder / PARENT), follows)


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
    complaints: set[str] = set()
    for solver in involved:
        complaints |= complaints_of(runs[solver.name].stdout, verdicts[solver.name].detail)
    expected = Expectation(
        candidate.finding_class,
        involved,
        candidate.guilty,
        told.location,
        told.shape,
        complaints=frozenset(complaints),
        seconds=_seconds(max(verdicts[solver.name].seconds for solver in involved)),
        oracle=candidate.oracle,
        pair=pair,
    )
    check = candidate.check or 0
    return _with_answers(expected, {s.name: decided(verdicts[s.name].answers, check) for s in involved})


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
    script = Script.of(text)
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
        found, _, _ = examine(seen, names, runner, Limits(seconds=seconds))
    if not found:
        said = ", ".join(
            f"{name}: {' '.join(map(str, v.answers)) or v.outcome}" for name, v in verdicts.items()
        )
        raise NotShown(f"nothing is wrong with the solvers on it ({said})")
    chosen = min(found, key=lambda candidate: class_of(candidate.finding_class).rank)
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
