"""Splitting: tests of one key that other releases tell apart become findings of their own.

Two faults may have one key: the same operator may be wrong in two ways. They were rarely fixed in the same
release, though. So the tests that a hunt kept with a finding (``difftest.triage.triggers``) are run with the
releases at the edges of what bisection found: the first and the last affected one and their free neighbours.
Where one of these behaves otherwise on a test than on the finding, the test has a cause of its own, and the
key of that is the finding's with the release that tells: the first one free of it (``...|fixed in 4.8.9``),
the newest where that has only this one (``...|still in 5.4.0``), or else the first affected one
(``...|since 4.8.7``).

A release that cannot run a test says nothing of it, and a test that does not show what the finding shows, by
the finding's own release and options, is left where it is. What was compared stands in ``split.json``; a
search that was killed resumes from there.
"""

from __future__ import annotations

import contextlib
import functools
import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from base.files import put_json, put_text
from base.steps import Tick, nothing
from difftest.errors import NotShown
from difftest.oracles.base import Candidate, observe_test
from difftest.triage.bisect import bisect
from difftest.triage.classes.base import Expectation
from difftest.triage.examine import examine
from difftest.triage.expectation import expectation_of_finding
from difftest.triage.filing import FindingRecord
from difftest.triage.folder import ORIGINAL, REDUCED, FindingFolder
from difftest.triage.key import refined
from difftest.triage.kinds import State
from difftest.triage.reduce import reduce
from difftest.triage.release_search import BisectReport, search, searched_solver, subject_of, try_formula
from difftest.triage.settle import settle
from difftest.triage.store import duplicates_of, note_duplicate, read_findings, write_finding
from difftest.triage.triggers import Trigger, read_triggers
from generator.strategy import GeneratedTest
from solvers.running.outcomes import opposite
from solvers.running.process import Limits
from solvers.running.runner import Runner
from solvers.running.script import Script

FILE = "split.json"
_SCHEMA = 1
_LIMIT_SECONDS = 10.0
# A new finding was reduced when its test was found; little is left to do.
_REDUCTION_SECONDS = 10.0
# The place of a test that belongs into no other folder. ``split.json`` keeps places under the key ``told``.
_ALIKE = "alike"
_NOT_SHOWN = "not shown"


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
    on_try: Tick = nothing,
) -> SplitReport:
    """Compare the tests kept with a finding, as bisected in ``report``, by releases; what was compared before
    is not compared again unless ``again``.

    For what has another cause a finding is made beside this one: written, reduced for a few seconds and
    bisected. ``on_try`` hears how many of the tests are done. DifftestError where a release cannot be had.
    """
    folder = folder.absolute()
    triggers = list(read_triggers(folder))
    if not triggers:
        return SplitReport(0, ())
    edges = {release: str(state) for release, state in edges_of(report).items()}
    placed = {} if again else _placed_before(folder, edges)
    work = _Splitter(folder, report)
    for done, trigger in enumerate(triggers, 1):
        if trigger.digest not in placed:
            placed[trigger.digest] = work.place(trigger)
            put_json(folder / FILE, {"schema": _SCHEMA, "edges": edges, "told": placed})
        on_try(done, len(triggers))
    places = [placed[trigger.digest] for trigger in triggers]
    others = dict.fromkeys(folder.parent / place for place in places if place not in (_ALIKE, _NOT_SHOWN))
    return SplitReport(sum(place != _NOT_SHOWN for place in places), tuple(others))


def edges_of(report: BisectReport) -> dict[str, State]:
    """The releases at the edges of what is affected: the affected and the free ones."""
    releases = [release for release, _ in report.tried]
    states = dict(report.tried)
    edges = dict.fromkeys((report.first_affected, report.last_affected), State.AFFECTED)
    before = releases[: releases.index(report.first_affected)]
    free = [name for name in before if states[name] is State.FREE][-1:]
    return {**edges, **dict.fromkeys([*free, *filter(None, [report.first_fixed])], State.FREE)}


class _Splitter:
    """Places the tests of one finding."""

    def __init__(self, folder: Path, report: BisectReport) -> None:
        found = FindingFolder.read(folder)
        self._beside = folder.parent
        self._report = report
        self._key = str(found.data["key"])
        self._oracles = [str(found.data.get("oracle") or "")]
        self._seed = int(found.test.get("seed") or 0)
        self._expected = expectation_of_finding(folder)
        self._solver = searched_solver(self._expected)

    def place(self, trigger: Trigger) -> str:
        """Where a test belongs."""
        expected = self._as_shown_by(trigger)
        if expected is None:
            return _NOT_SHOWN
        subject = subject_of(trigger.reduced, ORIGINAL, expected, self._solver)
        look = functools.cache(subject.look)
        if all(look(release) in (state, State.SKIPPED) for release, state in edges_of(self._report).items()):
            return _ALIKE
        with tempfile.TemporaryDirectory(prefix="exhume-split-") as scratch:
            own = search(Path(scratch), replace(subject, look=look, release=self._report.release))
        if (own.first_affected, own.first_fixed) == (self._report.first_affected, self._report.first_fixed):
            return _ALIKE  # a matter of time limits, or of releases that it cannot be run with
        record = self._finding_of(trigger, refined(self._key, self._what_tells(own)))
        return record.path.name if record else _NOT_SHOWN

    def _as_shown_by(self, trigger: Trigger) -> Expectation | None:
        """What the reduced test shows: what the finding does, or the same with the answers exchanged."""
        ways = [self._expected]
        if self._expected.answers:
            ways.append(_exchanged(self._expected))
        for expected in ways:
            state = try_formula(trigger.reduced, expected, self._solver, self._report.release)
            if state is State.AFFECTED:
                return expected
        return None

    def _what_tells(self, own: BisectReport) -> str:
        if own.first_fixed == self._report.first_fixed:
            return f"since {own.first_affected}"
        return f"fixed in {own.first_fixed}" if own.first_fixed else f"still in {own.last_affected}"

    def _finding_of(self, trigger: Trigger, key: str) -> FindingRecord | None:
        """The finding of this key, made if there is none; None if fresh processes do not show it with the
        whole test.
        """
        record = next((record for record in read_findings(self._beside) if record.key == key), None)
        if record is None:
            record = self._write(trigger, key)
        elif not _is_of(record, trigger.test) and trigger.test.listed not in duplicates_of(record.path):
            note_duplicate(record, trigger.test)
        # Reduction resumes from what a killed run may have left.
        if record is not None and not FindingFolder.read(record.path).bisection:
            if not (record.path / REDUCED).exists():
                put_text(record.path / REDUCED, trigger.reduced)
            with contextlib.suppress(NotShown):
                reduce(record.path, seconds=_REDUCTION_SECONDS, ddsmt=False, tries=self._expected.tries)
                bisect(record.path)
        return record

    def _write(self, trigger: Trigger, key: str) -> FindingRecord | None:
        limits = Limits(seconds=max(_LIMIT_SECONDS, self._expected.seconds))
        with Runner(warm=False) as runner:
            candidate = self._seen_in(trigger.test, runner, limits)
            if candidate is None:
                return None
            found, _ = settle(candidate, trigger.test, self._expected.solvers, limits, runner)
        if (
            found is None
            or found.test is not trigger.test
            or found.candidate.culprit != self._expected.culprit
        ):
            return None
        named = replace(found.candidate, key=key)
        return write_finding(self._beside, named, trigger.test, found.shown, self._seed)

    def _seen_in(self, test: GeneratedTest, runner: Runner, limits: Limits) -> Candidate | None:
        """What the finding's oracle sees in the whole test."""
        solvers, finding_class = self._expected.solvers, self._expected.finding_class
        script = Script.of(test.text)
        for _ in range(self._expected.tries):
            verdicts = {solver.name: runner.judge(solver, script, limits) for solver in solvers}
            seen = observe_test(test, solvers, verdicts)
            candidates, _, _ = examine(seen, self._oracles, runner, limits)
            if found := [other for other in candidates if other.finding_class == finding_class]:
                return found[0]
        return None


def _is_of(record: FindingRecord, test: GeneratedTest) -> bool:
    """Whether a finding was made of that test."""
    made_from = FindingFolder.read(record.path).test
    return (made_from.get("strategy"), made_from.get("index")) == (test.strategy, test.index)


def _exchanged(expected: Expectation) -> Expectation:
    """With sat for unsat and the other way round."""
    answers = {name: opposite(answer) for name, answer in expected.answers.items()}
    return replace(expected, answers=answers, truth=opposite(expected.truth or "") or None)


def _placed_before(folder: Path, edges: Mapping[str, str]) -> dict[str, str]:
    """Where earlier runs put tests, by digest, as far as it is there; nothing if the edges were others."""
    try:
        data = json.loads((folder / FILE).read_text("utf-8"))
        if (data["schema"], data["edges"]) != (_SCHEMA, edges):
            return {}
        placed = {str(digest): str(place) for digest, place in data["told"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
    known = {_ALIKE, _NOT_SHOWN, *(path.name for path in folder.parent.iterdir())}
    return {digest: place for digest, place in placed.items() if place in known}
