"""Confirms a candidate in fresh processes, with no more options than it needs, and gathers its evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from msgspec import structs

from difftest.oracles import ORACLES, PLAIN, look
from difftest.oracles.base import MOST_CLAIMS, Candidate, Observation, is_same, observe_test, salt_of
from difftest.oracles.related import related_files
from difftest.reduction.pairs import pair_of
from difftest.triage.classes.base import Expectation
from difftest.triage.evidence import PARENT, WITH_MODEL, Evidence
from difftest.triage.examine import examine
from difftest.triage.expectation import expectation_of
from difftest.triage.folder import ORIGINAL
from difftest.triage.options import bare, drop_options, stands_in_safe_mode
from difftest.triage.store import Shown
from difftest.triage.weigh import weigh
from generator.strategy import GeneratedTest
from solvers.running.outcomes import Verdict
from solvers.running.process import Limits, Run
from solvers.running.runner import Runner
from solvers.running.script import Script
from solvers.solver import Solver


@dataclass(frozen=True, slots=True)
class Settled:
    """A candidate that fresh processes showed again: with its evidence, what they ``shown``, and the ``test``
    that it is about: another one than at first where a right model was refuted, with that inserted.
    """

    candidate: Candidate
    shown: Shown
    test: GeneratedTest

    @property
    def expectation(self) -> Expectation:
        """What a smaller test has to show."""
        pair = pair_of(self.test) if self.candidate.oracle == "implication" else None
        printed = {name: run.stdout for name, run in self.shown.runs.items()}
        expected = expectation_of(self.candidate, self.shown.solvers, self.shown.verdicts, printed, pair)
        return replace(expected, salt=salt_of(self.test.text))


def settle(
    candidate: Candidate, test: GeneratedTest, solvers: Sequence[Solver], limits: Limits, runner: Runner
) -> tuple[Settled | None, float]:
    """See in fresh processes whether a candidate shows again, under no more options than it takes, and who is
    wrong; with the seconds that solvers took. None if it does not show.

    ``solvers`` are those of the test's hunt, with what the test adds to their options.
    """
    work = _Settling(candidate, test, solvers, limits, runner)
    return work.settle(), work.spent


class _Settling:
    """The runs of one candidate, once per solver and options; ``spent`` counts their seconds."""

    def __init__(
        self,
        candidate: Candidate,
        test: GeneratedTest,
        solvers: Sequence[Solver],
        limits: Limits,
        runner: Runner,
    ) -> None:
        self.spent = 0.0
        self._candidate = candidate
        self._test = test
        self._solvers = solvers
        self._limits = limits
        self._runner = runner
        self._oracle = ORACLES[candidate.oracle or "soundness"]
        self._names = [name for name in ORACLES if name in (*PLAIN, self._oracle.name)]
        self._seen: dict[tuple[str, ...], tuple[Verdict, Run]] = {}

    @property
    def _involved(self) -> tuple[Solver, ...]:
        """The solvers that it takes, with all of their options."""
        return tuple(solver for solver in self._solvers if solver.name in self._candidate.solvers)

    def settle(self) -> Settled | None:
        """With no more options than it takes."""
        involved = self._involved
        tries = []
        if self._shows(involved):
            needed = drop_options(involved, self._shows)
            # By the evidence, it may take all of them after all.
            tries = [needed, involved] if needed != involved else [needed]
        return next(filter(None, map(self._weigh, tries)), None)

    def _shows(self, involved: Sequence[Solver]) -> bool:
        """Whether these, in the place of the candidate's own, show it as far as plain runs can tell."""
        return self._see(involved, self._runner) is not None

    def _see(self, involved: Sequence[Solver], runner: Runner) -> Observation | None:
        """What is seen again with these solvers; None where that is not the candidate."""
        verdicts = {solver.name: self._run(solver)[0] for solver in involved}
        seen = observe_test(self._test, involved, verdicts, MOST_CLAIMS)
        found, seen, seconds = examine(seen, self._names, runner, self._limits)
        self.spent += seconds
        return seen if is_same(self._renamed(involved), found) else None

    def _weigh(self, involved: Sequence[Solver]) -> Settled | None:
        """What the candidate is by the evidence; all runs are made in fresh processes."""
        candidate, settled = self._renamed(involved), None
        evidence = Evidence(dismissed=True)
        with Runner(warm=False, within=self._runner) as runner:
            seen = self._see(involved, runner)
            if seen is not None and self._is_measured(candidate, seen, runner):
                others = self._witnesses(involved)
                candidate, evidence = weigh(candidate, seen, runner, self._limits, others)
        self.spent += evidence.seconds
        if seen is not None and not evidence.dismissed:
            make = self._on_the_formula if evidence.confirmers else self._on_the_test
            settled = make(candidate, evidence, seen)
        if settled is not None:
            safe = stands_in_safe_mode(involved, self._shows)
            settled = replace(settled, shown=replace(settled.shown, safe_mode=safe))
        return settled

    def _is_measured(self, candidate: Candidate, seen: Observation, runner: Runner) -> bool:
        """Whether it also shows where one run is not enough."""
        measure = self._oracle.measure
        return measure is None or measure(candidate, seen, runner, self._limits)

    def _witnesses(self, involved: Sequence[Solver]) -> list[Solver]:
        """The other solvers; also the same solver without what the test added."""
        parties = {solver.name for solver in self._involved}
        others = [solver for solver in self._solvers if solver.name not in parties]
        return others + [bare(solver) for solver in involved if solver.mode]

    def _on_the_test(self, candidate: Candidate, evidence: Evidence, seen: Observation) -> Settled:
        """What is wrong is what the test shows."""
        files = {WITH_MODEL: evidence.formula} if evidence.formula else {}
        if self._oracle.name == "implication" and seen.parent is not None:
            files[PARENT] = seen.parent
        files |= related_files(seen, candidate.oracle)
        runs = {solver.name: self._run(solver)[1] for solver in seen.solvers}
        return Settled(candidate, Shown(tuple(seen.solvers), seen.verdicts, runs, files), self._test)

    def _on_the_formula(self, candidate: Candidate, evidence: Evidence, seen: Observation) -> Settled | None:
        """What is wrong is an answer to the test with a model inserted: a finding of its own."""
        test = structs.replace(self._test, text=evidence.formula, known=(), implied_by=None, implies=None)
        solvers = (seen.solver(candidate.culprit or ""), *evidence.confirmers)
        known = {solver.name for solver in self._solvers}
        more = (*self._solvers, *(solver for solver in solvers if solver.name not in known))
        work = _Settling(candidate, test, more, self._limits, self._runner)
        verdicts = {solver.name: work._run(solver)[0] for solver in solvers}
        wrong, result = look(observe_test(test, solvers, verdicts), [candidate.oracle]), None
        if wrong:
            work._candidate = wrong[0]
            result = work.settle()
        self.spent += work.spent
        return result and _after_model(candidate, result, seen.text)

    def _renamed(self, involved: Sequence[Solver]) -> Candidate:
        pairs = zip(self._involved, involved, strict=True)
        return self._candidate.renamed({before.name: now.name for before, now in pairs})

    def _run(self, solver: Solver) -> tuple[Verdict, Run]:
        key = (*solver.argv, *solver.checks)
        if key not in self._seen:
            script = Script.of(self._test.text)
            self._seen[key] = self._runner.judge_file(solver, script, ORIGINAL, self._limits)
            self.spent += self._seen[key][0].seconds
        return self._seen[key]


def _after_model(before: Candidate, result: Settled, parent: str) -> Settled:
    """A result on the test with a model inserted; ``before`` is what was settled of the test, ``parent``."""
    # What was said when the model was inserted comes first.
    evidence = tuple(dict.fromkeys((*before.evidence, *result.candidate.evidence)))
    candidate = replace(result.candidate, evidence=evidence)
    if candidate.culprit is None and before.culprit in candidate.solvers:
        # The owner of the model is not among these solvers, but its answer speaks against one of them.
        candidate = candidate.blaming(before.culprit, before.reason)
    shown = replace(result.shown, files={**result.shown.files, PARENT: parent})
    return replace(result, candidate=candidate, shown=shown)
