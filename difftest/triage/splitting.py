"""Splitting: tests of one key that other releases tell apart become findings of their own.

Two faults may have one key: the same operator may be wrong in two ways. They were rarely mended in the same
release, though. So the tests that a hunt kept with a finding (``difftest.triage.triggers``) are run with the
releases at the edges of what bisection found: the first and the last affected one and their free neighbours.
Where one of these behaves otherwise on a test than on the finding, the test has a cause of its own, and the
key of that is the finding's with the release that is the first to be free of it (``...|fixed in 4.8.9``), or,
where that is none or the same, the first that is affected (``...|since 4.8.7``).

A release that cannot run a test says nothing of it, and a test that does not show what the finding shows, by
the finding's own release and options, is left where it is. What was compared stands in ``split.json``.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

from difftest.files import put_json, put_text
from difftest.oracles import look, probe
from difftest.oracles.base import Candidate, observe_test
from difftest.reduction.reduce import reduce
from difftest.reduction.variants import LookAgain
from difftest.running.process import Limits
from difftest.running.runner import Runner
from difftest.running.script import Script
from difftest.triage.bisect import (
    BisectReport,
    State,
    Subject,
    accused,
    bisect,
    release_of,
    search,
    try_formula,
)
from difftest.triage.expectation import Expectation, NotShown, expectation_of_finding, read_finding
from difftest.triage.fingerprint import refined
from difftest.triage.folders import FORMULA, note_duplicate, read_findings, working_folder, write_finding
from difftest.triage.reading import REDUCED
from difftest.triage.triggers import Trigger, read_triggers
from generator.strategy import GeneratedTest

FILE = "split.json"
_SCHEMA = 1
_LIMIT_SECONDS = 10.0
# What is written anew was reduced when it was found; a little is left to do.
_REDUCTION_SECONDS = 10.0

Edges = Mapping[str, State]


@dataclass(frozen=True, slots=True)
class SplitReport:
    """How many tests were compared with the finding, and the folders that hold those of other causes."""

    compared: int
    findings: tuple[Path, ...]

    def to_json(self) -> dict[str, Any]:
        """What ``bisect --json`` says of it."""
        return {"compared": self.compared, "findings": [str(path) for path in self.findings]}


def split(
    folder: Path,
    report: BisectReport,
    again: bool = False,
    on_try: Callable[[int, int], None] = lambda done, most: None,
) -> SplitReport:
    """Compare the tests kept with a finding, as bisected in ``report``, by releases; what was compared before
    is not compared again unless ``again``.

    What has another cause is moved to a finding beside this one: written, reduced for a few seconds and
    bisected. ``on_try`` hears how many of the tests are done.
    """
    triggers = list(read_triggers(folder))
    if not triggers:
        return SplitReport(0, ())
    kept = {} if again else _read(folder)
    edges = edges_of(report)
    told: dict[str, str] = kept.get("told", {}) if kept.get("edges") == _plain(edges) else {}
    work = _Splitter(folder, report)
    for done, trigger in enumerate(triggers, 1):
        if trigger.digest not in told:
            told[trigger.digest] = work.place(trigger)
            put_json(folder / FILE, {"schema": _SCHEMA, "edges": _plain(edges), "told": told})
        on_try(done, len(triggers))
    names = dict.fromkeys(name for name in told.values() if name not in (_ALIKE, _NOT_SHOWN))
    compared = sum(told[trigger.digest] != _NOT_SHOWN for trigger in triggers)
    return SplitReport(compared, tuple(folder.parent / name for name in names))


# What is told of a test; else the name of the finding's folder where it belongs.
_ALIKE = "alike"
_NOT_SHOWN = "not shown"


def edges_of(report: BisectReport) -> dict[str, State]:
    """The releases at the edges of what is affected: the affected and the free ones."""
    releases = [release for release, _ in report.tried]
    states = dict(report.tried)
    edges = {name: State.AFFECTED for name in (report.first_affected, report.last_affected) if name}
    before = releases[: releases.index(report.first_affected)] if report.first_affected else []
    free = [name for name in before if states[name] is State.FREE][-1:]
    return {**edges, **dict.fromkeys([*free, *filter(None, [report.first_fixed])], State.FREE)}


class _Splitter:
    """Places the tests of one finding."""

    def __init__(self, folder: Path, report: BisectReport) -> None:
        self._folder = folder
        self._report = report
        self._data = read_finding(folder)
        expected = expectation_of_finding(folder)
        self._solver = accused(expected)
        self._family, self._release = release_of(self._solver)
        self._expected = expected
        self._numbers = count()

    def place(self, trigger: Trigger) -> str:
        """Where a test belongs."""
        expected = self._as_shown_by(trigger)
        if expected is None:
            return _NOT_SHOWN

        def look(release: str) -> State:
            return try_formula(trigger.reduced, expected, self._solver, self._family, release)

        if _agrees(edges_of(self._report), look):
            return _ALIKE
        subject = Subject(
            self._solver.name, self._family, self._report.release, FORMULA, trigger.reduced, look
        )
        with tempfile.TemporaryDirectory(prefix="exhume-split-") as scratch:
            own = search(Path(scratch), subject)
        if (own.first_affected, own.first_fixed) == (self._report.first_affected, self._report.first_fixed):
            return _ALIKE  # a matter of time limits, or of releases that it cannot be run with
        path = self._write(trigger, own)
        return path.name if path else _NOT_SHOWN

    def _as_shown_by(self, trigger: Trigger) -> Expectation | None:
        """What the reduced test shows: what the finding does, or the same with the answers exchanged."""
        for expected in (self._expected, _exchanged(self._expected)):
            state = try_formula(trigger.reduced, expected, self._solver, self._family, self._report.release)
            if state is State.AFFECTED:
                return expected
        return None

    def _write(self, trigger: Trigger, own: BisectReport) -> Path | None:
        """A finding of its own; None if fresh processes do not show it with the whole test."""
        is_told_by_fix = own.first_fixed not in (None, self._report.first_fixed)
        release = f"fixed in {own.first_fixed}" if is_told_by_fix else f"since {own.first_affected}"
        key = refined(str(self._data["key"]), release)
        known = {record.key: record for record in read_findings(self._folder.parent)}
        if key in known:
            note_duplicate(known[key], trigger.test.index)
            return known[key].path
        limits = Limits(seconds=max(_LIMIT_SECONDS, self._expected.seconds))
        with Runner(warm=False) as runner:
            candidate = self._seen_in(trigger.test, runner, limits)
            if candidate is None:
                return None
            again = LookAgain(candidate, trigger.test, self._expected.solvers, limits, runner)
            settled = again.settle()
        if settled is None or again.test is not trigger.test:
            return None
        candidate, evidence = replace(settled[0], key=key), settled[1]
        work = working_folder(self._folder.parent, next(self._numbers))
        try:
            put_text(work / FORMULA, trigger.test.text)
            seed = int(self._data["test"]["seed"])
            record = write_finding(work, self._folder.parent, candidate, trigger.test, evidence, seed)
        except OSError:
            shutil.rmtree(work, ignore_errors=True)
            raise
        # Reduction goes on from here.
        put_text(record.path / REDUCED, trigger.reduced)
        with contextlib.suppress(NotShown):
            reduce(record.path, seconds=_REDUCTION_SECONDS, ddsmt=False)
            bisect(record.path)
        return record.path

    def _seen_in(self, test: GeneratedTest, runner: Runner, limits: Limits) -> Candidate | None:
        """What the finding's oracle sees in the whole test."""
        solvers = self._expected.solvers
        script = Script(test.text.encode("utf-8", "surrogateescape"))
        verdicts = {solver.name: runner.judge(solver, script, limits) for solver in solvers}
        oracles = [str(self._data["oracle"])]
        seen, _ = probe(observe_test(test, solvers, verdicts), oracles, runner, limits)
        wanted = self._expected.finding_class
        return next((found for found in look(seen, oracles) if found.finding_class is wanted), None)


def _exchanged(expected: Expectation) -> Expectation:
    """With sat for unsat and the other way round."""
    other = {"sat": "unsat", "unsat": "sat"}
    answers = {name: other[answer] for name, answer in expected.answers.items()}
    return replace(expected, answers=answers, truth=other.get(expected.truth or ""))


def _agrees(edges: Edges, look: Callable[[str], State]) -> bool:
    """Whether no release at the ``edges`` behaves otherwise."""
    return all(look(release) in (state, State.SKIPPED) for release, state in edges.items())


def _plain(edges: Edges) -> dict[str, str]:
    return {release: str(state) for release, state in edges.items()}


def _read(folder: Path) -> dict[str, Any]:
    try:
        data = json.loads((folder / FILE).read_text("utf-8"))
        return dict(data) if data["schema"] == _SCHEMA else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}
