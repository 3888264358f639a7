"""What has to show again for a finding to be there: its class, its solvers, its place or answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import msgspec

from base.documents import from_document
from difftest.errors import DifftestError, NotShown
from difftest.oracles import default_oracles
from difftest.oracles.base import Candidate, Observation, decided, salt_of
from difftest.reduction.pairs import Pair, follows_by
from difftest.triage.classes import class_of
from difftest.triage.classes.base import Expectation
from difftest.triage.evidence import PARENT
from difftest.triage.examine import examine
from difftest.triage.folder import ORIGINAL, read_document
from difftest.triage.key import Key
from solvers.lookup import find_solver
from solvers.running.outcomes import Outcome, Verdict, judge, message_shape
from solvers.running.process import Limits, Run
from solvers.running.runner import Runner
from solvers.running.script import Script
from solvers.solver import Solver

_MAX_SECONDS = 20.0
# A run may take four times what the test took, and this long on top of it, in seconds.
_FACTOR = 4
_SLACK = 1.0
_SLACK_IN_HURRY = 0.2


class _Entry(msgspec.Struct, frozen=True):
    """A solver's run in ``finding.json``; files are called by its ``name``."""

    name: Annotated[str, msgspec.Meta(pattern="^[^/]+$")]
    spec: str
    outcome: Outcome
    answers: tuple[str | None, ...]
    seconds: float
    detail: str
    location: str | None
    base: bool = False


_Entries = Annotated[list[_Entry], msgspec.Meta(min_length=1)]


def read_formula(file: Path) -> str:
    """The text of a formula, whatever its bytes; DifftestError if it cannot be read."""
    try:
        return file.read_bytes().decode("utf-8", "surrogateescape")
    except OSError as problem:
        raise DifftestError(f"{file}: cannot be read: {problem.strerror or problem}") from problem


def expectation_of_finding(folder: Path) -> Expectation:
    """What a finding folder says it shows; nothing is run.

    DifftestError for a folder that cannot be read, and for a finding that stands on another formula which is
    not there.
    """
    data = read_document(folder)
    try:
        listed = from_document(data["solvers"], _Entries)
    except ValueError as problem:
        raise DifftestError(f"{folder}: no finding can be read there: solvers: {problem}") from problem
    pair = _pair_of(folder, data) if data.get("oracle") == "implication" else None
    entries = {entry.name: entry for entry in listed}
    candidate = Candidate(
        *(str(data["class"]), tuple(entries), str(data["key"]), data.get("guilty")),
        check=data.get("check"),
        oracle=data.get("oracle") or "",
    )
    # Another version may have another name for a spec.
    solvers = [replace(find_solver(e.spec), name=e.name, is_base=e.base) for e in entries.values()]
    verdicts = {name: _verdict_of(entry) for name, entry in entries.items()}
    printed = {name: _printed(folder / f"{name}.stdout") for name in entries}
    expected = expectation_of(candidate, solvers, verdicts, printed, pair)
    tries = int((data.get("reduced") or {}).get("tries", 1))
    salt = salt_of(read_formula(folder / ORIGINAL)) if (folder / ORIGINAL).is_file() else 0
    return replace(expected, tries=tries, salt=salt)


def _verdict_of(entry: _Entry) -> Verdict:
    """What the folder of a finding says of a solver's run."""
    shape = message_shape(entry.detail) if entry.detail else None
    return Verdict(entry.outcome, entry.answers, entry.seconds, entry.detail, entry.location, shape)


def _printed(file: Path) -> str:
    return file.read_text("utf-8", "replace") if file.is_file() else ""


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
    printed: Mapping[str, str],
    pair: Pair | None = None,
) -> Expectation:
    """What ``candidate`` shows, by the verdicts that it was seen in and what the solvers printed; ``pair`` if
    that takes two formulas.
    """
    involved = tuple(solver for solver in solvers if solver.name in candidate.solvers)
    verdict = verdicts.get(candidate.culprit or "", verdicts[candidate.solvers[0]])
    complaints: set[str] = set()
    for solver in involved:
        complaints |= complaints_of(printed[solver.name], verdicts[solver.name].detail)
    took = max(verdicts[solver.name].seconds for solver in involved)
    expected = Expectation(
        candidate.finding_class,
        involved,
        candidate.culprit,
        verdict.location,
        verdict.shape,
        complaints=frozenset(complaints),
        seconds=_limit(took, _SLACK),
        took=took,
        oracle=candidate.oracle,
        pair=pair,
        where=Key.read(candidate.key).where if class_of(candidate.finding_class).keeps_place else (),
    )
    said = {s.name: decided(verdicts[s.name].answers, candidate.check or 0) for s in involved}
    answers = {name: answer for name, answer in said.items() if answer is not None}
    return class_of(candidate.finding_class).expect(expected, answers)


def hurried(expected: Expectation) -> Expectation:
    """The same for a reduction in a hunt, which has a few seconds: one trial on which a solver does not end
    must not take most of them.
    """
    return replace(expected, seconds=_limit(expected.took, _SLACK_IN_HURRY))


def _limit(took: float, slack: float) -> float:
    return min(_MAX_SECONDS, slack + _FACTOR * took)


def complaints_of(printed: str, decisive: str) -> set[str]:
    """The shapes of the error messages in ``printed`` other than the one that makes the finding."""
    first = decisive.partition("\n")[0]
    lines = [line.strip() for line in printed.splitlines()]
    return {
        message_shape(line)
        for line in lines
        if line.startswith("(error") and not (first and line.startswith(first[:80])) and "model" not in line
    }


def observe_file(file: Path, text: str, solvers: Sequence[Solver]) -> Expectation:
    """What is wrong with ``solvers`` on the ``text`` of a file, as :func:`observe` says; NotShown names the
    file. It is not read again: it may be a pipe.
    """
    try:
        return observe(text, solvers)
    except NotShown as problem:
        raise NotShown(f"{file}: {problem}") from problem


def observe(text: str, solvers: Sequence[Solver], seconds: float = 10.0) -> Expectation:
    """What is wrong with ``solvers`` on ``text``, the gravest first; NotShown if nothing is."""
    script = Script.of(text)
    if script.file_command:
        raise NotShown(f"not run: {script.file_command} names a file")
    runs: dict[str, Run] = {}
    verdicts: dict[str, Verdict] = {}
    with Runner(warm=False) as runner:
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
    return expectation_of(chosen, solvers, verdicts, {name: run.stdout for name, run in runs.items()})
