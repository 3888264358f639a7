"""Relations as oracles: each makes its runs where a solver answered, and says what cannot be.

A hunt draws one of them for a test (``in_turn``), so that all of them together take a fixed share of its
time.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice

from difftest.models.cross_check import with_models
from difftest.models.model_reader import NotCheckable
from difftest.models.state import State
from difftest.oracles.base import Candidate, Observation, Oracle, Violation, decided
from difftest.relations.base import Case, Claim, Relation
from difftest.relations.fixedpoint import as_clauses
from smtlib.reader import sexp_text
from smtlib.scanner import QUERY
from solvers.errors import RunnerLost
from solvers.options import option_table
from solvers.running.outcomes import Outcome, Verdict, judge, opposite
from solvers.running.process import Limits
from solvers.running.runner import Runner
from solvers.running.script import Script
from solvers.solver import Solver

_RELATED = 8


def oracle_of(relation: Relation, kind: type[RelationProbe] | None = None) -> Oracle:
    """The oracle that watches a relation; ``kind`` makes its runs."""

    def probe(seen: Observation, runner: Runner, limits: Limits) -> tuple[Observation, float]:
        work = (kind or RelationProbe)(relation, seen, runner, limits)
        work.run()
        tried = {**seen.tried, relation.name: work.tried} if work.tried else seen.tried
        violations, failed = (*seen.violations, *work.found), (*seen.failed, *work.failed)
        return replace(seen, violations=violations, tried=tried, failed=failed), work.seconds

    def look(seen: Observation) -> list[Candidate]:
        return [_candidate(relation, seen, v) for v in seen.violations if v.relation == relation.name]

    return Oracle(
        relation.name,
        relation.about,
        look,
        lambda solvers: any(map(relation.is_for, solvers)),
        probe,
        has_own_runs=True,
        in_turn=True,
        rank=_RELATED,
    )


def _candidate(relation: Relation, seen: Observation, found: Violation) -> Candidate:
    where = "|".join(filter(None, (relation.place, found.place or seen.where)))
    evidence = (found.said, found.why)
    candidate = seen.accuse(
        relation.finding_class,
        found.solver,
        found.why,
        found.check,
        oracle=relation.name,
        evidence=evidence,
        where=where,
    )
    return replace(candidate, has_final_key=bool(found.place))


@dataclass
class RelationProbe:
    """The runs of one relation on one test; ``tried`` counts claims by whether they could be judged."""

    relation: Relation
    seen: Observation
    runner: Runner
    limits: Limits
    found: list[Violation] = field(default_factory=list, init=False)
    failed: list[tuple[str, str, Verdict]] = field(default_factory=list, init=False)
    seconds: float = field(default=0.0, init=False)
    asked: str = field(default="", init=False)
    tried: Counter[str] = field(default_factory=Counter, init=False)

    def run(self) -> None:
        script = Script.of(self.seen.text)
        asked: dict[int, tuple[Script, State] | None] = {}
        for solver in self.seen.counted:
            answers = self._answers(script, self.seen.verdicts[solver.name])
            needed = self.relation.answers
            check = next((n for n, answer in enumerate(answers) if answer in needed), None)
            if check is None or solver.is_base or not self.relation.is_for(solver) or script.file_command:
                continue
            if check not in asked:
                asked[check] = _asked(script, check)
            if (found := asked[check]) is not None and _counts(solver, found[1]):
                ask = partial(self._ask, solver)
                self._claims(
                    Case(solver, found[0], check, str(answers[check]), found[1], ask, self.seen.salt)
                )

    def _answers(self, script: Script, verdict: Verdict) -> list[str | None]:
        """What is known of each question: of a query, whether its rules as clauses are satisfiable."""
        if verdict.outcome not in (Outcome.OK, Outcome.UNKNOWN):
            return []
        answers = [decided(verdict.answers, n) for n in range(len(verdict.answers))]
        return [
            opposite(answer or "") or None if command.name == QUERY else answer
            for command, answer in zip(script.checks, answers, strict=True)
        ]

    def _claims(self, case: Case) -> None:
        if not case.is_plain:
            self.tried["other commands"] += 1
            return
        self.asked = ""
        try:
            for claim in islice(self.relation.make(case), self.seen.claims):
                violation = self._judge(case, claim)
                if violation is not None:
                    self.found.append(violation)
                    return
        except (NotCheckable, RecursionError) as problem:
            self.tried[getattr(problem, "cause", "too deep")] += 1

    def _judge(self, case: Case, claim: Claim) -> Violation | None:
        """What is wrong by a claim, if anything is."""
        answers: list[str | None] = []
        for text in claim.texts:
            verdict = self.runner.judge(case.solver, Script.of(text), self.limits)
            self._note(case.solver, text, verdict)
            is_sure = verdict.outcome in (Outcome.OK, Outcome.UNKNOWN)
            answers.append(decided(verdict.answers, len(verdict.answers) - 1) if is_sure else None)
        if None in answers:
            self.tried["not decided"] += 1
        if not claim.rule.is_broken(case.answer, answers):
            if None not in answers:
                self.tried["held"] += 1
            return None
        self.tried["violated"] += 1
        name, first = case.solver.name, f"{case.answer} to the formula"
        if Script.of(self.seen.text).checks[case.check].name == QUERY:
            first = f"{opposite(case.answer)} to the query"
        which = f" (check-sat number {case.check + 1})" if len(case.script.checks) > 1 else ""
        said = [f"{name} says {first}{which}"]
        said += [
            f"{answer or 'nothing certain'} to {file}" for file, answer in zip(RELATED, answers, strict=False)
        ]
        found = self.relation.name, name, ", ".join(said), claim.why, claim.texts
        return Violation(*found, case.check, claim.place, self.asked)

    def _ask(self, solver: Solver, text: str) -> str:
        self.asked = text
        script = Script.of(text)
        try:
            run = self.runner.run(with_models(solver), script, self.limits)
        except RunnerLost as lost:
            raise NotCheckable("no answer in time") from lost
        self._note(solver, text, judge(solver.given(script), run, solver.family))
        if run.ended != "exit":
            raise NotCheckable("no answer in time")
        return run.stdout

    def _note(self, solver: Solver, text: str, verdict: Verdict) -> None:
        """A run: what it took, and whether something is wrong by itself."""
        self.seconds += verdict.seconds
        if verdict.outcome in (Outcome.CRASH, Outcome.INVALID_MODEL):
            self.failed.append((solver.name, text, verdict))


RELATED = ("related.smt2", "related-2.smt2", "related-3.smt2")
"""The files beside a finding that hold the scripts of a claim."""
ASKED = "asked.smt2"
"""The one that holds what the solver was given to make them."""


def related_files(seen: Observation, oracle: str) -> dict[str, str]:
    """The scripts that show the violation of a relation, by the files that hold them."""
    violation = next((found for found in seen.violations if found.relation == oracle), None)
    if violation is None:
        return {}
    asked = {ASKED: violation.asked} if violation.asked else {}
    return asked | dict(zip(RELATED, violation.texts, strict=False))


def _asked(script: Script, check: int) -> tuple[Script, State] | None:
    """The script and its state at a question; of a query, those of its rules as clauses."""
    try:
        if script.checks[check].name == QUERY:
            script = as_clauses(script, check)
        return script, State.at(script, check)
    except (NotCheckable, RecursionError):
        return None


def _counts(solver: Solver, state: State) -> bool:
    """Whether the script sets no option under which the solver's answers do not count."""
    table = option_table(solver.family)
    settings = [command.sexp for command in state.commands if command.name == "set-option"]
    classes = (table.class_of(f"{str(s[1])[1:]}={sexp_text(s[2])}") for s in settings if len(s) == 3)
    return all(option_class is None or option_class.counts for option_class in classes)
