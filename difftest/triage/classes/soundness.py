"""Soundness: two solvers disagree, or one contradicts an answer known by construction.

Who is wrong, in order of weight:

1. an answer known by construction, or a solver that refutes its own model;
2. its own words: the one that says unsat is given the formula with the other's model inserted, and says
   sat; or the one that said sat says unsat to its own model;
3. third solvers (those of the campaign, then those installed): what they say of the formula with the model,
   and of the formula itself. Where they confirm a model that a solver refuted, that solver's answer to the
   formula with the model is what is wrong;
4. older releases of the same solver: one that changed its mind from what the others say.

An operator that solvers read differently (``0^0``, special relations) leaves only the solvers' own words:
without them such a disagreement is no finding. Nothing is decided by a solver whose options change what
formulas mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from msgspec import structs

from difftest.models.cross_check import CrossCheck, ambiguous_operators, check_model
from difftest.models.refuting import is_refuted
from difftest.oracles import PLAIN, look
from difftest.oracles.base import Observation, decided
from difftest.oracles.releases import older_pairs
from difftest.oracles.soundness import OUTVOTED_BY, outvoted
from difftest.triage.classes.base import Expectation, FindingClass, Hearing, Trial
from difftest.triage.evidence import Evidence, on_the_model, third_solvers, those
from difftest.triage.folder import FindingFolder
from smtlib.commands import RECURSIVE
from smtlib.mentions import theories_in
from solvers.errors import SolverMissing
from solvers.lookup import find_solver
from solvers.registry import REFERENCES
from solvers.report_form import Kind
from solvers.running.outcomes import Outcome, Verdict
from solvers.running.script import Script
from solvers.solver import Solver

_MAX_SECONDS = 10.0
_STRINGS = "UnicodeStrings"


class Soundness(FindingClass):
    """A wrong answer."""

    name = "soundness"
    rank = 0
    colour = 5
    reported_as = Kind.ANSWER
    outlasts_falsehood = True

    def expect(self, expected: Expectation, answers: Mapping[str, str]) -> Expectation:
        """The answers; the right one where they all say the same."""
        if expected.pair is None:
            expected = replace(expected, answers=answers)
            if len(set(answers.values())) < 2:
                truth = "unsat" if "sat" in answers.values() else "sat"
                expected = replace(expected, truth=truth, references=_references(expected.solvers))
        return expected

    def is_shown_by(self, expected: Expectation, solver: Solver, verdict: Verdict) -> bool:
        """Whether the run has the answer expected of the solver."""
        answer = expected.answers.get(solver.name)
        return answer is None or answer in verdict.answers

    def confirm(self, trial: Trial, text: str, script: Script) -> bool:
        """Whether some check-sat has the answers expected, each from a run that was not spoilt."""
        expected = trial.expected
        verdicts = trial.judge_all(script, partial(self.is_shown_by, expected)) or {}
        questions = range(len(script.checks) if verdicts else 0)
        checks = [check for check in questions if _has_answers(expected, verdicts, check)]
        if expected.truth is not None and checks:
            checks = _checks_with_truth(trial, script, checks)
        if not checks:
            return False
        known = tuple(expected.truth if c == checks[0] else None for c in range(checks[0] + 1))
        again = look(Observation(text, expected.solvers, verdicts, known), PLAIN)
        return any(
            c.finding_class == self.name and c.culprit in (None, expected.culprit) and c.check in checks
            for c in again
        )

    def weigh(self, hearing: Hearing, found: Evidence) -> None:
        """All kinds of evidence, the strongest first."""
        if hearing.candidate.check is not None:
            _Disagreement(
                *(hearing.candidate, hearing.seen, hearing.runner, hearing.limits, hearing.others),
                *(found, hearing.candidate.check),
            ).weigh()

    def headline(self, found: FindingFolder) -> str:
        """The wrong answer, where it is known who is wrong."""
        return f"wrong {found.wrong_answer}" if found.wrong_answer else "different answers"

    def expected(self, found: FindingFolder, name: str) -> str:
        """The other answer, where it is known who is wrong."""
        if found.culprit is None:
            answers = ", ".join(f"{name} `{answer}`" for name, answer in found.answers.items())
            said = f"One answer; which one is right is not known ({answers}){found.where}."
            return f"{said} {found.reason}".rstrip()
        right = "unsat" if found.wrong_answer == "sat" else "sat"
        # The report lists who answers what. "They say otherwise" would seem to mean the right answer.
        reason = "" if found.reason.endswith(f" {OUTVOTED_BY}.") else found.reason
        return f"`{right}`{found.where}. {reason}".rstrip()


CLASS = Soundness()


def _has_answers(expected: Expectation, verdicts: Mapping[str, Verdict], check: int) -> bool:
    return all(decided(verdicts[name].answers, check) == answer for name, answer in expected.answers.items())


def _checks_with_truth(trial: Trial, script: Script, checks: Sequence[int]) -> list[int]:
    """Those of the questions whose right answer is known to be the one expected: the forms of values refute
    what is asked, or a reference says so.
    """
    truth = trial.expected.truth
    refuted = [c for c in checks if truth == "unsat" and is_refuted(script, c)]
    if refuted:
        return refuted
    said = [v.answers for solver in trial.expected.references if (v := trial.judge(solver, script))]
    return [c for c in checks if any(decided(answers, c) == truth for answers in said)]


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


@dataclass(frozen=True, slots=True)
class _Disagreement(Hearing):
    """Gathers the evidence about one check-sat."""

    found: Evidence
    check: int

    def weigh(self) -> None:
        """Gather all of it, the strongest first."""
        seen, check = self.seen, self.check
        said = {
            name: answer
            for name in self.candidate.solvers
            if (answer := decided(seen.verdicts[name].answers, check)) is not None
        }
        script = Script.of(seen.text)
        if self._is_unsat_by_definition(script, said):
            self.found.dismissed = True
            return
        differently = ambiguous_operators(script, check) if len(set(said.values())) > 1 else ()
        truth = None if differently else decided(seen.known, check)
        if truth is not None:
            for name, answer in said.items():
                if answer != truth:
                    self.found.blame(name, f"it says {answer}, and {truth} is known by construction")
        for name, answer in said.items():
            if answer == "sat" and self.seen.verdicts[name].outcome is Outcome.INVALID_MODEL:
                self.found.blame(name, "its own check refutes the model behind its sat")
        if differently:
            self.found.note(
                f"{', '.join(differently)}: solvers read that differently, so only own words count"
            )
        if len(set(said.values())) > 1:
            thirds = [] if differently else list(third_solvers(seen, said, self.others))
            self.found.thirds = thirds
            for name, answer in said.items():
                if answer == "sat":
                    self._put_model_in(name, [n for n, a in said.items() if a == "unsat"], thirds)
            if not differently:
                self._ask_others(said, thirds)
        self.found.dismissed = bool(differently) and self.found.culprit is None
        if len(set(said.values())) > 1 and self._takes_back(script, said):
            self.found.dismissed = True

    def _is_unsat_by_definition(self, script: Script, said: Mapping[str, str]) -> bool:
        """Whether a solver that says unsat says so without any assertion, too: no function may satisfy a
        recursive definition, as (g x) = 1 + (g x), and solvers need not see that.
        """
        if not any(command.name in RECURSIVE for command in script.commands):
            return False
        kept = [c for c in script.commands if c.name.startswith(("declare-", "define-", "set-"))]
        bare = Script.of("\n".join([*map(script.text_of, kept), "(check-sat)"]))
        for name in (name for name, answer in said.items() if answer == "unsat"):
            verdict = self.runner.judge(self.seen.solver(name), bare, self.limits)
            self.found.seconds += verdict.seconds
            if decided(verdict.answers, 0) == "unsat":
                return True
        return False

    def _takes_back(self, script: Script, said: Mapping[str, str]) -> bool:
        """Whether a program says otherwise with the option that functions on strings need."""
        solvers = [self.seen.solver(name) for name in said] if _STRINGS in theories_in(self.seen.text) else []
        for solver in solvers:
            if (able := solver.with_string_functions) is not None:
                verdict = self.runner.judge(able, script, self.limits)
                self.found.seconds += verdict.seconds
                if decided(verdict.answers, self.check) not in (None, said[solver.name]):
                    return True
        return False

    def _put_model_in(self, owner: str, against: Sequence[str], thirds: Sequence[Solver]) -> None:
        """The model of ``owner`` in those that say unsat, in itself, and in third solvers."""
        script = Script.of(self.seen.text)
        solver = self.seen.solver(owner)
        judges = [self.seen.solver(name) for name in against]
        limits = structs.replace(self.limits, seconds=min(self.limits.seconds, _MAX_SECONDS))
        cross_check = check_model(self.runner, solver, script, self.check, [*judges, solver, *thirds], limits)
        self.found.seconds += cross_check.seconds
        if cross_check.cause:
            self.found.note(f"the model of {owner} cannot be checked by other solvers: {cross_check.cause}")
        else:
            self._weigh_cross_check(cross_check, solver, judges, thirds)

    def _weigh_cross_check(
        self, cross_check: CrossCheck, owner: Solver, judges: Sequence[Solver], thirds: Sequence[Solver]
    ) -> None:
        """What was said to the formula with the model of ``owner``; ``judges`` say unsat without it."""
        self.found.formula = self.found.formula or cross_check.formula
        self.found.note_answers(cross_check)
        # What a solver says against itself counts more than what others say.
        for judge in judges:
            if cross_check.answers.get(judge.name) == "sat":
                reason = f"it says unsat, and sat to the same formula with the model of {owner.name} inserted"
                self.found.blame(judge.name, reason)
        if cross_check.answers.get(owner.name) == "unsat":
            reason = "it says sat, and unsat to the same formula with its own model inserted"
            self.found.blame(owner.name, reason)
        confirmed, refuted = on_the_model(owner, judges, thirds, cross_check.answers)
        if confirmed and not refuted:
            for judge in judges:
                self.found.blame(judge.name, f"{those(confirmed, 'confirm')} the model of {owner.name}")
        elif refuted and not confirmed:
            self.found.blame(owner.name, f"{those(refuted, 'refute')} its model")

    def _ask_others(self, said: dict[str, str], thirds: Sequence[Solver]) -> None:
        """What third solvers say of the formula itself, and whether older releases say otherwise."""
        script = Script.of(self.seen.text)
        everyone = dict(said)
        for third in thirds:
            verdict = self.seen.verdicts.get(third.name) or self.runner.judge(third, script, self.limits)
            self.found.seconds += verdict.seconds
            answer = decided(verdict.answers, self.check)
            if answer is None:
                continue
            self.found.note(f"{third.name} says {answer}")
            # Another release or build of a party says nothing for it: it may have the same fault.
            spoken = {self.seen.solver(name).kin for name, word in said.items() if word == answer}
            if third.kin not in spoken:
                everyone[third.name] = answer
        solvers = [self.seen.solver(name) for name in said] + list(thirds)
        for newer, older in older_pairs([solver for solver in solvers if solver.name in everyone]):
            now, before = everyone[newer.name], everyone[older.name]
            if newer.name in said and now != before:
                self.found.note(f"{older.name}, an older release of {newer.name}, says {before}")
        kins = {solver.name: solver.kin for solver in solvers}
        if alone := outvoted(dict(sorted(everyone.items())), kins):
            self.found.blame(*alone)
