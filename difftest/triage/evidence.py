"""Which solver is wrong: the evidence for and against each, gathered when a disagreement is confirmed.

In order of weight:

1. an answer known by construction, or a solver that refutes its own model;
2. a solver's own words: the one that says unsat is given the formula with the other's model put in, and says
   sat; or the one that said sat says unsat to its own model;
3. third solvers (those of the campaign, then those installed): what they say of the formula with the model,
   and of the formula itself. Where they confirm a model that a solver refuted, that solver's answer to the
   formula with the model is what is wrong;
4. older releases of the same solver: one that changed its mind from what the others say.

An operator that solvers read differently (``0^0``, z3's special relations) leaves only the first two: without
them such a disagreement is no finding.

The first kind that points at one solver decides; all that was found is kept, a sentence each. Nothing is
decided by a solver whose options change what formulas mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from difftest.errors import DifftestError
from difftest.models.crossing import Crossing, ambiguous_operators, answer_to, cross
from difftest.oracles import ORACLES, PLAIN, is_same, look, probe
from difftest.oracles.base import Candidate, FindingClass, Observation, decided
from difftest.oracles.releases import older_pairs
from difftest.profiles import PROFILES
from difftest.running.outcomes import Outcome
from difftest.running.process import Limits
from difftest.running.runner import Runner
from difftest.running.script import Script
from difftest.solvers import Solver, find_solver, parse_spec
from smtlib.labels import theories_in

_MAX_SECONDS = 10.0
# A report on who refutes a right model runs so many others on it.
_MOST_CONFIRMERS = 2
# Beside a finding: its formula with the model put in, and the formula that it follows from.
WITH_MODEL = "with-model.smt2"
PARENT = "parent.smt2"


@dataclass(slots=True)
class Heard:
    """Who is wrong (None: not known), why in one sentence, and all that was found out."""

    guilty: str | None = None
    reason: str = ""
    evidence: list[str] = field(default_factory=list)

    def blame(self, name: str, reason: str) -> None:
        """Note evidence against a solver; what came first weighs most and decides."""
        self.note(f"against {name}: {reason}")
        if self.guilty is None:
            self.guilty, self.reason = name, reason

    def note(self, sentence: str) -> None:
        """Note something, once."""
        if sentence not in self.evidence:
            self.evidence.append(sentence)


@dataclass(slots=True)
class Judgement(Heard):
    """Who is wrong by the evidence (None: not known), why in one sentence, and all the evidence.

    ``formula`` is the test with a model put in, where that told something. ``seconds`` were spent in solvers.
    ``dismissed``: nothing is wrong on this test after all. ``confirmers``: what is wrong is the answer of the
    solver that refutes the model, to ``formula``, for these say sat to it.
    """

    formula: str = ""
    seconds: float = 0.0
    dismissed: bool = False
    confirmers: tuple[Solver, ...] = ()


def weigh(
    candidate: Candidate, seen: Observation, runner: Runner, limits: Limits, others: Sequence[Solver] = ()
) -> tuple[Candidate, Judgement]:
    """Gather the evidence on a confirmed ``candidate``; gives it with guilt, reason and key settled.

    ``seen`` holds the verdicts of fresh runs, ``others`` the campaign's other solvers. What is not about
    answers (crashes, slowdowns) comes back as it is.
    """
    found = Judgement()
    if candidate.finding_class is FindingClass.SOUNDNESS and candidate.check is not None:
        _Court(candidate, seen, runner, limits, others, found).sit()
    elif candidate.oracle == "model-cross-check":
        _weigh_crossing(candidate, seen, runner, limits, others, found)
    if not found.evidence:
        return candidate, found
    # The look at a crossing names the model's owner before it is known to be wrong.
    guilty = found.guilty if candidate.oracle == "model-cross-check" else found.guilty or candidate.guilty
    reason = found.reason or candidate.reason
    if found.confirmers:
        return _on_the_model(candidate, found), found
    # A formula that follows from another one means nothing without what its oracle said of that.
    stays = candidate.evidence if candidate.oracle == "implication" else ()
    evidence = tuple(dict.fromkeys((*stays, *found.evidence)))
    settled = replace(candidate, guilty=guilty, reason=reason, evidence=evidence)
    if guilty != candidate.guilty:
        parts = candidate.key.split("|")
        settled = replace(settled, key="|".join([parts[0], settled.label, *parts[2:]]))
    return settled, found


def _on_the_model(candidate: Candidate, found: Judgement) -> Candidate:
    """The wrong answer of the solver that refuted a right model."""
    assert found.guilty is not None, "who refutes a model that others confirm is wrong"
    solvers = (found.guilty, *(solver.name for solver in found.confirmers))
    key = f"soundness|{found.guilty}|{'+'.join(theories_in(found.formula))}"
    return Candidate(
        *(FindingClass.SOUNDNESS, solvers, key, found.guilty, found.reason),
        *(0, "soundness", tuple(found.evidence)),
    )


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of a candidate: with its evidence, or None if it does not show; ``files`` to keep with it,
    and the ``seconds`` spent in solvers.

    Where the candidate is about ``text`` instead of the test (a right model that a solver refuted, put in),
    it takes the ``solvers`` to show it.
    """

    candidate: Candidate | None
    seconds: float
    files: Mapping[str, str] = field(default_factory=dict)
    text: str | None = None
    solvers: tuple[Solver, ...] = ()


def confirm_and_weigh(
    candidate: Candidate,
    seen: Observation,
    others: Sequence[Solver],
    limits: Limits,
    within: Runner | None = None,
) -> Settled:
    """Whether the verdicts of fresh runs in ``seen`` show ``candidate`` again, and who is wrong.

    All further runs are made in fresh processes, too; closing the runner ``within`` cuts them short.
    """
    oracle = ORACLES[candidate.oracle or "soundness"]
    names = [name for name in ORACLES if name in (*PLAIN, oracle.name)]
    with Runner(warm=False, within=within) as runner:
        seen, spent = probe(seen, names, runner, limits)
        if not is_same(candidate, look(seen, names)):
            return Settled(None, spent)
        if oracle.measure is not None and not oracle.measure(candidate, seen, runner, limits):
            return Settled(None, spent)
        settled, found = weigh(candidate, seen, runner, limits, others)
    spent += found.seconds
    if found.dismissed:
        return Settled(None, spent)
    if found.confirmers:
        judge = seen.solver(settled.guilty or "")
        return Settled(settled, spent, {PARENT: seen.text}, found.formula, (judge, *found.confirmers))
    files = {}
    if found.formula:
        files[WITH_MODEL] = found.formula
    if oracle.name == "implication" and seen.parent is not None:
        files[PARENT] = seen.parent
    return Settled(settled, spent, files)


@dataclass(slots=True)
class _Court:
    """One disagreement, or one contradiction of a known answer."""

    candidate: Candidate
    seen: Observation
    runner: Runner
    limits: Limits
    others: Sequence[Solver]
    found: Judgement

    def sit(self) -> None:
        """Hear everything, the weightiest first."""
        candidate = self.candidate
        check = candidate.check or 0
        said = {
            name: answer
            for name in candidate.solvers
            if (answer := decided(self.seen.verdicts[name].answers, check)) is not None
        }
        truth = decided(self.seen.known, check)
        if truth is not None:
            for name, answer in said.items():
                if answer != truth:
                    self.found.blame(name, f"it says {answer}, and {truth} is known by construction")
        for name, answer in said.items():
            if answer == "sat" and self.seen.verdicts[name].outcome is Outcome.INVALID_MODEL:
                self.found.blame(name, "its own check refutes the model behind its sat")
        if len(set(said.values())) < 2:
            return
        script = Script(self.seen.text.encode("utf-8", "surrogateescape"))
        ambiguous = ambiguous_operators(script, check)
        if ambiguous:
            self.found.note(f"{', '.join(ambiguous)}: solvers read that differently, so only own words count")
        thirds = [] if ambiguous else list(_third_solvers(self.seen, said, self.others))
        for name, answer in said.items():
            if answer == "sat":
                self._hear_model(name, [n for n, a in said.items() if a == "unsat"], thirds, check)
        if ambiguous:
            self.found.dismissed = self.found.guilty is None
        else:
            self._hear_answers(said, thirds, check)

    def _hear_model(self, owner: str, against: Sequence[str], thirds: Sequence[Solver], check: int) -> None:
        """The model of ``owner`` in those that say unsat, in itself, and in third solvers."""
        script = Script(self.seen.text.encode("utf-8", "surrogateescape"))
        solver = self.seen.solver(owner)
        judges = [self.seen.solver(name) for name in against]
        limits = replace(self.limits, seconds=min(self.limits.seconds, _MAX_SECONDS))
        crossing = cross(self.runner, solver, script, check, [*judges, solver, *thirds], limits)
        self.found.seconds += crossing.seconds
        if crossing.cause:
            self.found.note(f"the model of {owner} cannot be put into other solvers: {crossing.cause}")
            return
        self.found.formula = self.found.formula or crossing.formula
        _note_answers(crossing, self.found)
        # A solver's own words weigh more than a stranger's.
        for name in against:
            if crossing.answers.get(name) == "sat":
                reason = f"it says unsat, and sat to the same formula with the model of {owner} put in"
                self.found.blame(name, reason)
        if crossing.answers.get(owner) == "unsat":
            self.found.blame(owner, "it says sat, and unsat to the same formula with its own model put in")
        said = [(third, crossing.answers.get(third.name)) for third in thirds]
        # Another release of a party says nothing for it: it may have the same fault.
        own, theirs = {kind_of(solver)}, set(map(kind_of, judges))
        confirmed = [third.name for third, word in said if word == "sat" and kind_of(third) not in own]
        refuted = [third.name for third, word in said if word == "unsat" and kind_of(third) not in theirs]
        if confirmed and not refuted:
            for name in against:
                self.found.blame(name, f"{' and '.join(confirmed)} confirm the model of {owner}")
        elif refuted and not confirmed:
            self.found.blame(owner, f"{' and '.join(refuted)} refute its model")

    def _hear_answers(self, said: dict[str, str], thirds: Sequence[Solver], check: int) -> None:
        """What third solvers say of the formula itself, and whether older releases say otherwise."""
        script = Script(self.seen.text.encode("utf-8", "surrogateescape"))
        everyone = dict(said)
        for third in thirds:
            verdict = self.seen.verdicts.get(third.name) or self.runner.judge(third, script, self.limits)
            self.found.seconds += verdict.seconds
            answer = decided(verdict.answers, check)
            if answer is None:
                continue
            self.found.note(f"{third.name} says {answer}")
            # As above: another release of a party says nothing for it.
            spoken = {kind_of(self.seen.solver(name)) for name, word in said.items() if word == answer}
            if kind_of(third) not in spoken:
                everyone[third.name] = answer
        solvers = [self.seen.solver(name) for name in said] + list(thirds)
        for newer, older in older_pairs([solver for solver in solvers if solver.name in everyone]):
            now, before = everyone[newer.name], everyone[older.name]
            if newer.name in said and now != before:
                self.found.note(f"{older.name}, an older release of {newer.name}, says {before}")
        sides = [{name for name, answer in everyone.items() if answer == side} for side in ("sat", "unsat")]
        few, many = sorted(sides, key=len)
        families = {kind_of(solver) for solver in solvers if solver.name in many}
        if len(few) == 1 and len(families) > 1:
            self.found.blame(next(iter(few)), f"{' and '.join(sorted(many))} say otherwise")


def kind_of(solver: Solver) -> str:
    """What releases of one solver have in common; a program that is none is of its own kind."""
    return solver.name if solver.family == "other" else solver.family


def _third_solvers(seen: Observation, parties: Iterable[str], others: Sequence[Solver]) -> Iterator[Solver]:
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
    for family in PROFILES:
        if family not in installed:
            try:
                yield find_solver(family)
            except DifftestError:
                continue


def _weigh_crossing(
    candidate: Candidate,
    seen: Observation,
    runner: Runner,
    limits: Limits,
    others: Sequence[Solver],
    found: Judgement,
) -> None:
    """A model that another solver refuted: what do its owner and third solvers say to it?"""
    owner = candidate.guilty or candidate.solvers[0]
    crossing = next((c for c in seen.crossings if c.owner == owner and c.refuted_by), None)
    if crossing is None:
        return
    found.formula = crossing.formula
    judge = crossing.refuted_by[0]
    found.note(f"{judge} says unsat to the formula with the model of {owner} put in")
    said: dict[str, str] = {}
    asked = (seen.solver(owner), *_third_solvers(seen, (owner, judge), others))
    for solver in asked:
        answer, seconds = answer_to(runner, solver, crossing.formula, limits)
        found.seconds += seconds
        if answer in ("sat", "unsat"):
            said[solver.name] = answer
            who = f"{owner} itself" if solver.name == owner else solver.name
            found.note(f"{who} says {answer} to that")
    thirds = [solver for solver in asked[1:] if solver.name in said]
    # As above: another release of a party says nothing for it.
    own, theirs = kind_of(seen.solver(owner)), kind_of(seen.solver(judge))
    refute = [third.name for third in thirds if said[third.name] == "unsat" and kind_of(third) != theirs]
    confirm = [third.name for third in thirds if said[third.name] == "sat" and kind_of(third) != own]
    if said.get(owner) == "unsat":
        found.blame(owner, "it says unsat to the formula with its own model put in")
    elif refute and not confirm:
        found.blame(owner, f"{judge} and {' and '.join(refute)} refute its model")
    elif confirm and not refute:
        # The model is right, and who refutes it is wrong: on another formula than the test.
        sure = [solver for solver in asked if said.get(solver.name) == "sat"]
        sure = [solver for solver in sure if solver.name == owner or solver.name in confirm]
        found.confirmers = tuple(sure[:_MOST_CONFIRMERS])
        names = " and ".join(solver.name for solver in sure)
        found.blame(
            judge, f"it says unsat to a formula with the model of {owner} put in, and {names} say sat"
        )
    else:
        found.reason = f"{judge} refutes the model of {owner}; which of them is wrong is not known"


def _note_answers(crossing: Crossing, found: Judgement) -> None:
    for name, answer in crossing.answers.items():
        if answer in ("sat", "unsat"):
            found.note(f"{name} says {answer} to the formula with the model of {crossing.owner} put in")
