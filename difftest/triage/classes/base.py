"""What a class of findings is: one object that holds all that is particular to it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from difftest.oracles.base import Candidate, Observation
from difftest.reduction.pairs import Pair
from difftest.triage.evidence import Evidence
from difftest.triage.folder import FindingFolder
from solvers.report_form import Kind
from solvers.running.outcomes import Verdict
from solvers.running.process import Limits
from solvers.running.runner import Runner
from solvers.running.script import Script
from solvers.solver import Solver


@dataclass(frozen=True, slots=True)
class Expectation:
    """What has to show again for a finding to be there."""

    finding_class: str
    solvers: tuple[Solver, ...]
    culprit: str | None = None
    location: str | None = None
    shape: str | None = None
    answers: Mapping[str, str] = field(default_factory=dict)
    """Those of the contradicted check-sat, by solver name (soundness only)."""
    truth: str | None = None
    """The right answer, where it was known by construction: one of ``references`` has to give it, then."""
    references: tuple[Solver, ...] = ()
    complaints: frozenset[str] = frozenset()
    """The shapes of the error messages that are there already; others spoil a run."""
    seconds: float = 2.0
    """What one run may take."""
    took: float = 0.0
    """What the slowest run took when it was seen, in seconds."""
    exact: bool = True
    """False: lines of a crash's file may differ, as they do from release to release."""
    oracle: str = ""
    """The one that saw it."""
    pair: Pair | None = None
    """With the formula that this one was made from, where it takes both to show it."""
    tries: int = 1
    """The number of runs in which a flaky finding (threads, time) has to show twice, else 1."""
    salt: int = 0
    """The test's, by which relations choose."""
    where: tuple[str, ...] = ()
    """What the key names besides theories, where that has to stay (``FindingClass.keeps_place``)."""

    @property
    def accused(self) -> Solver:
        """The culprit; if none is known, the first solver."""
        return next((solver for solver in self.solvers if solver.name == self.culprit), self.solvers[0])


class Trial(Protocol):
    """What a class looks at a text with; see ``difftest.triage.confirm``."""

    expected: Expectation

    def judge(self, solver: Solver, script: Script) -> Verdict | None:
        """What one run means; None where it was refused or spoilt."""
        ...

    def judge_all(
        self, script: Script, is_expected: Callable[[Solver, Verdict], bool]
    ) -> Mapping[str, Verdict] | None:
        """What a run of each expected solver means; None as soon as one is not as expected."""
        ...


@dataclass(frozen=True, slots=True)
class Hearing:
    """A confirmed candidate about which evidence is gathered.

    ``seen`` holds the verdicts of fresh runs, ``others`` the campaign's other solvers.
    """

    candidate: Candidate
    seen: Observation
    runner: Runner
    limits: Limits
    others: Sequence[Solver]


class FindingClass:
    """A class of findings. Subclasses say what is their own; a file of this folder holds one as ``CLASS``."""

    name = ""
    kind = "formula"
    """What its findings are about: ``formula`` or ``calls``."""
    rank = 100
    """Where it stands among the classes, the gravest first."""
    colour = 4
    """Its colour on pages, of those in the template's style."""
    level = "error"
    """How programs that show results of several tools rank it: ``error`` or ``warning``."""
    reward = 1.0
    """What a finding of it is worth to the bandit that divides a hunt's time."""
    keyed_by_operators = True
    """Whether operators say something of the cause, so that keys have them."""
    keeps_place = False
    """Whether what the key names (the rule of a wrong step) has to be the same in a smaller formula."""
    is_quick = True
    """Whether a quick reduction is worth trying."""
    most_misses = math.inf
    """Tests that look like it at first are confirmed until this many did not show it in a fresh process."""
    outlasts_falsehood = False
    """Whether a formula that is plainly unsatisfiable may show it."""
    reported_as = Kind.RESULT
    """What the fact lines of reports call it."""
    follows_from_options = False
    """Whether the same option alone makes two findings one cause, whatever else is in the formula."""

    def kind_in_report(self, found: FindingFolder) -> Kind:
        """What the fact line of the finding's report calls it."""
        return self.reported_as

    # How it shows

    def expect(self, expected: Expectation, answers: Mapping[str, str]) -> Expectation:
        """``expected`` with what this class takes in addition; ``answers`` are those of the contradicted
        check-sat, by solver name.
        """
        return expected

    def confirm(self, trial: Trial, text: str, script: Script) -> bool:
        """Whether ``text`` shows what the trial expects: here, an outcome of the accused's run."""
        verdict = trial.judge(trial.expected.accused, script)
        return verdict is not None and self.is_outcome(trial.expected, verdict)

    def is_outcome(self, expected: Expectation, verdict: Verdict) -> bool:
        """Whether a run of the accused ended as expected."""
        return str(verdict.outcome) == self.name

    def is_shown_by(self, expected: Expectation, solver: Solver, verdict: Verdict) -> bool:
        """Whether one run of a solver is the wrong one, as far as that run tells."""
        return True

    # Who is wrong

    def weigh(self, hearing: Hearing, found: Evidence) -> None:
        """Gather in ``found`` what speaks for and against the solvers."""

    # What a report says

    def headline(self, found: FindingFolder) -> str:
        """What goes wrong, in the words of a title."""
        return self.name.replace("-", " ")

    def expected(self, found: FindingFolder, name: str) -> str:
        """The right behaviour, and why; ``name`` is how the report calls the solver."""
        return found.reason or "Otherwise."
