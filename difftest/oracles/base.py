"""What an oracle is: what looks at what solvers did with one test and says what is wrong."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from difftest.models.cross_check import CrossCheck
from generator.strategy import GeneratedTest
from smtlib.mentions import theories_in
from solvers.running.outcomes import Verdict
from solvers.running.process import Limits
from solvers.running.runner import Runner
from solvers.solver import Solver

_RELEASE = re.compile(r"-\d[\w.]*\Z")
_BUILD = re.compile(r"(?:debug|coverage|address|undefined|source)\b")


def names_in(label: str) -> list[str]:
    """The solvers that a finding is filed under. The ``+`` of a build from source, and one within options,
    does not separate them.

    >>> names_in("z3-5.4.0+debug.address[a=b+c]+cvc5")
    ['z3-5.4.0+debug.address[a=b+c]', 'cvc5']
    """
    names: list[str] = []
    for part in re.split(r"\+(?![^\[]*\])", label):
        if names and _RELEASE.search(names[-1]) and _BUILD.match(part):
            part = f"{names.pop()}+{part}"
        names.append(part)
    return names


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something wrong on one test.

    ``solvers`` are those it takes to show it, in the order given; ``culprit`` is the one that is wrong,
    if that is known, and ``reason`` says why. ``check`` counts check-sats from 0 (where it is
    about one). ``oracle`` names the oracle that saw it; ``evidence`` is what speaks for and against the
    solvers, a sentence each, gathered when it is confirmed. ``has_final_key`` says that the key does not
    depend on what else is in the test, ``kind`` what it is about.
    """

    finding_class: str
    solvers: tuple[str, ...]
    key: str
    culprit: str | None = None
    reason: str = ""
    check: int | None = None
    oracle: str = ""
    evidence: tuple[str, ...] = ()
    has_final_key: bool = False
    kind: str = "formula"

    @property
    def label(self) -> str:
        """The solver it is filed under."""
        return self.culprit or "+".join(self.solvers)

    def blaming(self, culprit: str | None, reason: str) -> Candidate:
        """The same with ``culprit`` as the solver that is wrong, in its key, too."""
        found = replace(self, culprit=culprit, reason=reason)
        finding_class, _, *rest = self.key.split("|")
        return replace(found, key="|".join([finding_class, found.label, *rest]))

    def renamed(self, names: Mapping[str, str]) -> Candidate:
        """The same of solvers by other names, in its key, too."""

        def of(name: str) -> str:
            return names.get(name, name)

        kind, *rest = self.key.split("|")
        if rest:
            rest[0] = "+".join(map(of, names_in(rest[0])))
        return replace(
            self,
            solvers=tuple(map(of, self.solvers)),
            key="|".join([kind, *rest]),
            culprit=None if self.culprit is None else of(self.culprit),
        )


@dataclass(frozen=True, slots=True)
class Violation:
    """Answers of ``solver`` that a relation excludes: to the test's check-sat number ``check`` and to
    ``texts``. ``said`` lists the answers and ``why`` says why they cannot all be right, a sentence each.
    ``place`` stands in the finding's key for the theories of the test, where it says more. ``asked`` is the
    script that the solver was given to make these texts (for its core, its values, ...), if there is one.
    """

    relation: str
    solver: str
    said: str
    why: str
    texts: tuple[str, ...]
    check: int
    place: str = ""
    asked: str = ""


@dataclass(frozen=True, slots=True)
class Observation:
    """What is known of one test: its ``text``, the ``verdicts`` by solver name, the answers ``known``
    beforehand, and what the oracles' own runs brought: ``cross_checks`` of models, and the ``parents``
    answers per solver to the formula it was made from (where that is ``follows``, sat or unsat, so is the
    test), and the ``violations`` of relations, with the scripts of theirs on which a solver
    ``failed`` by itself (its name, the text, the verdict). ``tried`` counts by relation what came of their
    claims, of which each makes ``claims`` at most, chosen by the ``salt``: that of the test, also where it
    is reduced. ``probed`` are the seconds that each oracle's own runs took.
    """

    text: str
    solvers: Sequence[Solver]
    verdicts: Mapping[str, Verdict]
    known: Sequence[str | None] = ()
    parent: str | None = None
    follows: str = "sat"
    parents: Mapping[str, str] = field(default_factory=dict)
    cross_checks: tuple[CrossCheck, ...] = ()
    violations: tuple[Violation, ...] = ()
    failed: tuple[tuple[str, str, Verdict], ...] = ()
    tried: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    probed: Mapping[str, float] = field(default_factory=dict)
    claims: int = 1
    salt: int = 0

    @property
    def where(self) -> str:
        """The theories of the text, as keys have them."""
        return "+".join(theories_in(self.text))

    def solver(self, name: str) -> Solver:
        """The solver of this name."""
        return next(solver for solver in self.solvers if solver.name == name)

    def accuse(
        self,
        finding_class: str,
        culprit: str,
        reason: str,
        check: int | None = None,
        beside: str = "",
        *,
        oracle: str = "",
        evidence: tuple[str, ...] = (),
        where: str = "",
    ) -> Candidate:
        """A candidate against the solver ``culprit``; ``beside`` is another one that it takes to show it.
        ``where`` stands in its key for the theories of the text.
        """
        solvers = tuple(solver.name for solver in self.judged if solver.name in (culprit, beside))
        key = f"{finding_class}|{culprit}|{where or self.where}"
        return Candidate(
            finding_class, solvers, key, culprit, reason, check, oracle or finding_class, evidence
        )

    @property
    def judged(self) -> list[Solver]:
        """The solvers that ran."""
        return [solver for solver in self.solvers if solver.name in self.verdicts]

    @property
    def counted(self) -> list[Solver]:
        """Those whose answers count: no option of theirs changes what a formula means or is experimental."""
        return [solver for solver in self.judged if solver.answers_count]

    @property
    def trusted(self) -> list[Solver]:
        """Those whose answers also say something about other solvers: no option of theirs is young."""
        return [solver for solver in self.judged if solver.answers_are_trusted]


def observe_test(
    test: GeneratedTest, solvers: Sequence[Solver], verdicts: Mapping[str, Verdict], claims: int = 1
) -> Observation:
    """What the solvers' verdicts on a generated test show, before any oracle looks."""
    parent, follows = (test.implies, "unsat") if test.implied_by is None else (test.implied_by, "sat")
    return Observation(
        test.text, solvers, verdicts, test.known, parent, follows, salt=salt_of(test.text), claims=claims
    )


def salt_of(text: str) -> int:
    """The number that the choices of relations depend on."""
    return zlib.crc32(text.encode("utf-8", "surrogateescape"))


MOST_CLAIMS = 3
"""Claims that a relation makes of a test where it is looked at again."""

Probe = Callable[[Observation, Runner, Limits], tuple[Observation, float]]


@dataclass(frozen=True, slots=True)
class Oracle:
    """One oracle.

    ``look`` finds what is wrong in an observation, without running anything. ``probe`` (where there is one)
    makes the runs that it needs beyond the test's own: it gives the observation with what they brought, and
    the seconds spent in solvers. ``measure`` repeats, in fresh processes, what one run cannot show.
    ``is_default`` says whether it is on for these solvers when nobody says otherwise. ``promises`` says
    whether it may see something when the solvers that ran out of time get as many seconds as given.
    ``has_own_runs`` says that it takes more than one run of each solver on the formula. ``in_turn``: unless
    it is named, a hunt draws one of these for a test, and a replay uses those ``in_replays``. ``rank`` orders
    oracles, the gravest first: of two that see one thing, the first reports it.
    """

    name: str
    about: str
    look: Callable[[Observation], list[Candidate]]
    is_default: Callable[[Sequence[Solver]], bool] = lambda solvers: True
    probe: Probe | None = None
    measure: Callable[[Candidate, Observation, Runner, Limits], bool] | None = None
    promises: Callable[[Observation, float], bool] | None = None
    has_own_runs: bool = False
    in_turn: bool = False
    in_replays: bool = False
    rank: int = 100


def decided(answers: Sequence[str | None], check: int) -> str | None:
    """The answer to check-sat number ``check`` if it is sat or unsat."""
    answer = answers[check] if check < len(answers) else None
    return answer if answer in ("sat", "unsat") else None


def is_same(candidate: Candidate, again: Sequence[Candidate]) -> bool:
    """Whether a re-run shows the candidate again: with the same class, solvers and key."""
    shown = (candidate.finding_class, set(candidate.solvers), candidate.key)
    return any((other.finding_class, set(other.solvers), other.key) == shown for other in again)
