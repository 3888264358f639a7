"""Which solver is wrong: the evidence for and against each, gathered when a finding is confirmed.

The classes of findings gather it (``FindingClass.weigh``): what weighs most comes first, and the first
evidence that points at one solver decides. All that was found is kept, a sentence each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from base.errors import ExhumeError
from difftest.models.cross_check import CrossCheck
from difftest.oracles.base import Observation
from solvers.lookup import families_to_ask, find_solver
from solvers.registry import PROFILES
from solvers.solver import Solver
from solvers.specs import parse_spec

WITH_MODEL = "with-model.smt2"
"""Beside a finding: its formula with the model inserted."""
PARENT = "parent.smt2"
"""Beside a finding: the formula that it follows from."""


@dataclass(slots=True)
class Evidence:
    """Who is wrong (None: not known), why in one sentence, and all that was found out.

    ``formula`` is the test with a model inserted, where that says something. ``thirds`` are the solvers that
    were asked and take no part. ``seconds`` were spent in solvers. ``dismissed``: nothing is wrong on this
    test after all. ``confirmers``: what is wrong is the answer of the solver that refutes the model, to
    ``formula``; these solvers say sat to it.
    """

    culprit: str | None = None
    reason: str = ""
    sentences: list[str] = field(default_factory=list)
    formula: str = ""
    seconds: float = 0.0
    dismissed: bool = False
    thirds: Sequence[Solver] = ()
    confirmers: tuple[Solver, ...] = ()

    def blame(self, name: str, reason: str) -> None:
        """Note evidence against a solver; what comes first weighs most and decides."""
        self.note(f"against {name}: {reason}")
        if self.culprit is None:
            self.culprit, self.reason = name, reason

    def note(self, sentence: str) -> None:
        """Add a line to the evidence, unless it is there."""
        if sentence not in self.sentences:
            self.sentences.append(sentence)

    def note_answers(self, cross_check: CrossCheck) -> None:
        """Note what solvers say of a formula with a model inserted."""
        for name, answer in cross_check.answers.items():
            if answer in ("sat", "unsat"):
                self.note(
                    f"{name} says {answer} to the formula with the model of {cross_check.owner} inserted"
                )


def those(names: Sequence[str], verb: str) -> str:
    """Solvers as the subject of a sentence, with its verb.

    >>> those(["z3"], "refute"), those(["z3", "cvc5"], "refute")
    ('z3 refutes', 'z3 and cvc5 refute')
    """
    return f"{' and '.join(names)} {verb}{'s' * (len(names) == 1)}"


def on_the_model(
    owner: Solver, judges: Sequence[Solver], thirds: Sequence[Solver], said: Mapping[str, str]
) -> tuple[list[str], list[str]]:
    """The third solvers that confirm the model of ``owner``, and those that refute it as the ``judges`` do,
    by what is ``said`` to the formula with the model inserted.

    Another release or build of a party says nothing for it: it may have the same fault.
    """
    theirs = {judge.kin for judge in judges}
    answers = [(third, said.get(third.name)) for third in thirds]
    confirm = [third.name for third, answer in answers if answer == "sat" and third.kin != owner.kin]
    refute = [third.name for third, answer in answers if answer == "unsat" and third.kin not in theirs]
    return confirm, refute


def third_solvers(seen: Observation, parties: Iterable[str], others: Sequence[Solver]) -> Iterator[Solver]:
    """Solvers that are no party: of the campaign, then installed ones, also where a party is another release
    of the same.
    """
    names = set(parties)
    known = [solver for solver in others if solver.name not in names and solver.answers_are_trusted]
    yield from known
    installed = {
        solver.family
        for solver in (*map(seen.solver, names), *known)
        if solver.family in PROFILES and parse_spec(solver.spec).release is None
    }
    for family in families_to_ask():
        if family not in installed:
            try:
                yield find_solver(family)
            except ExhumeError:
                continue
