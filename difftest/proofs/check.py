"""Checks proofs step by step: the premises of each step must imply its conclusion.

Other solvers are asked about each step. A step is wrong if solvers of two kins find that its premises do not
imply its conclusion, and none of another kin than the prover finds that they do. What only one of them says,
or none, is undecided.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import takewhile, zip_longest
from typing import Any, Final, NamedTuple, TypeAlias

from difftest.models.totalise import left_open
from difftest.proofs.cpc import Proof, Step
from difftest.proofs.objects import FRESH
from difftest.proofs.shapes import DEPTHS, LOGIC, step_formula
from difftest.proofs.terms import NotExpressible, TermReader
from smtlib.reader import SExp
from smtlib.sorts import BOOL
from smtlib.terms import Term, declarations_in
from solvers.running.process import Limits
from solvers.running.runner import Runner
from solvers.running.script import Script
from solvers.solver import Solver

HELD: Final = "held"
WRONG: Final = "wrong"
UNDECIDED: Final = "undecided"
INEXPRESSIBLE: Final = "not expressible"
UNCHECKED: Final = "not reached"
OUTCOMES: Final = (HELD, WRONG, UNDECIDED, INEXPRESSIBLE, UNCHECKED)
"""What can come of a step."""

_TRUSTED = ("trust", "hole")
"""Rules that claim nothing that could be checked."""
_FREE_EVERYWHERE = frozenset(("div", "mod", "/"))
"""Operators with values that are left open, which no solver chooses."""
_CUT_SECONDS = 0.3
_TOGETHER = 50
_MOST_KEPT = 200_000


class _Answer(NamedTuple):
    """What a solver said to a formula in ``seconds`` at most: ``unsat``, ``sat`` or nothing."""

    said: str
    seconds: float


_ANSWERS: dict[tuple[str, str], _Answer] = {}
"""The answers to shapes of steps by solver and script, for this process."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong in a proof: at the step ``line``, by its ``rule`` (or what of the whole proof is wrong).

    ``script`` is the step as a formula, which is satisfiable since the step is wrong, with the ``answers`` to
    it by solver name; empty for what is wrong with the whole proof.
    """

    rule: str
    line: str
    why: str
    script: str = ""
    answers: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class ProofCheck:
    """What came of a proof: its number of ``steps``, what came of them by rule, why some are not expressible,
    what is wrong. ``asked`` is the number of formulas that solvers ran on, ``seconds`` the time of all.
    """

    steps: int = 0
    rules: dict[str, Counter[str]] = field(default_factory=dict)
    causes: Counter[str] = field(default_factory=Counter)
    faults: list[Fault] = field(default_factory=list)
    asked: int = 0
    seconds: float = 0.0

    def count(self, rule: str, outcome: str) -> None:
        """Count a step."""
        self.rules.setdefault(rule, Counter())[outcome] += 1

    @property
    def outcomes(self) -> Counter[str]:
        """What came of the steps of all rules."""
        return sum(self.rules.values(), Counter())


class StepChecker:
    """Checks the proofs of ``prover``; ``others`` are solvers of other kins. ``limits`` are those of one run,
    ``seconds`` is the time for a proof: steps that it leaves out are counted as not reached.
    """

    def __init__(
        self, prover: Solver, others: Sequence[Solver], runner: Runner, limits: Limits, seconds: float = 10.0
    ) -> None:
        self._prover = prover
        self._others = others
        self._runner = runner
        self._limits = limits
        self._seconds = seconds
        self._cut_limits = Limits(seconds=min(_CUT_SECONDS, limits.seconds))

    def check(self, proof: Proof, assertions: Sequence[str]) -> ProofCheck:
        """Check a proof of the unsatisfiability of ``assertions`` (terms as SMT-LIB text)."""
        started = time.monotonic()
        reader, deadline = TermReader(proof), started + self._seconds
        first = _Collecting(self, proof, reader, assertions, deadline)
        first.run()
        work = _Work(self, proof, reader, assertions, deadline)
        self._ask_together(list(dict.fromkeys(first.scripts)), work.found, deadline)
        work.run()
        work.found.seconds = time.monotonic() - started
        return work.found

    def first_answer(self, script: str, found: ProofCheck, is_cut: bool = False) -> str:
        """The answer of the first other solver that has one; each is asked once. One that ``is_cut`` is asked
        of one solver, for a short time.
        """
        others = self._others[:1] if is_cut else self._others
        limits = self._cut_limits if is_cut else self._limits
        return next(filter(None, (self._ask(solver, script, limits, found) for solver in others)), "")

    def _ask_together(self, scripts: Sequence[str], found: ProofCheck, deadline: float) -> None:
        """Ask the first other solver about cut shapes, many in one run: that takes less time. The one that a
        run ends at has no answer.
        """
        if not self._others:
            return
        solver = self._others[0]
        new = [script for script in scripts if (solver.name_and_release, script) not in _ANSWERS]
        while new and time.monotonic() < deadline:
            some = new[:_TOGETHER]
            text = LOGIC + "".join(f"(push 1)\n{script.removeprefix(LOGIC)}(pop 1)\n" for script in some)
            answers = self._runner.judge(solver, Script.of(text), self._cut_limits).answers
            found.asked += 1
            given = list(takewhile(bool, answers[: len(some)]))
            for script, answer in zip_longest(some[: len(given) + 1], given, fillvalue=""):
                self._keep(solver, script, str(answer), self._cut_limits.seconds)
            new = new[len(given) + 1 if len(given) < len(some) else len(some) :]

    def votes(self, script: str, found: ProofCheck) -> dict[str, str]:
        """The answers of all solvers that have one, the prover's last."""
        solvers = (*self._others, self._prover)
        said = {solver.name_and_release: self._ask(solver, script, self._limits, found) for solver in solvers}
        return {name: answer for name, answer in said.items() if answer}

    def is_refuted(self, answers: Mapping[str, str]) -> bool:
        """Whether these answers make a step wrong."""
        kins = {s.name_and_release: s.kin for s in (*self._others, self._prover)}
        sat = {kins[name] for name, answer in answers.items() if answer == "sat"}
        unsat = {kins[name] for name, answer in answers.items() if answer == "unsat"} - {self._prover.kin}
        return len(sat) > 1 and not unsat

    def _ask(self, solver: Solver, script: str, limits: Limits, found: ProofCheck) -> str:
        known = _ANSWERS.get((solver.name_and_release, script))
        if known and (known.said or known.seconds >= limits.seconds):
            return known.said
        found.asked += 1
        verdict = self._runner.judge(solver, Script.of(script), limits)
        answer = str(verdict.answers[0]) if verdict.is_decided else ""
        return self._keep(solver, script, answer, limits.seconds)

    def _keep(self, solver: Solver, script: str, answer: str, seconds: float) -> str:
        if len(_ANSWERS) >= _MOST_KEPT:
            _ANSWERS.clear()
        said = answer if answer in ("sat", "unsat") else ""
        _ANSWERS[solver.name_and_release, script] = _Answer(said, seconds)
        return said


_Form: TypeAlias = Term | NotExpressible


class _Known(NamedTuple):
    """What a step concludes, and the open assumptions that it depends on, a bit each."""

    term: _Form
    open: int


class _Work:
    """The check of one proof."""

    def __init__(
        self,
        checker: StepChecker,
        proof: Proof,
        reader: TermReader,
        assertions: Sequence[str],
        deadline: float,
    ) -> None:
        self.found = ProofCheck(len(proof.steps))
        self._checker = checker
        self._proof = proof
        self._reader = reader
        self._assertions = assertions
        self._deadline = deadline
        self._known: dict[str, _Known] = {}
        # Each with what the names that were given since then stood for before.
        self._pushed: list[tuple[_Known, dict[str, _Known | None]]] = []
        self._opened: list[_Known] = []
        self._read: list[Term] | None = None

    def run(self) -> None:
        """Look at the steps in their order, then at what is left open."""
        for step in self._proof.steps:
            if missing := [name for name in step.premises if name not in self._known]:
                self._fault("cycle", step, f"The premise {missing[0]} is not a step that is known here")
                return
            if step.kind == "step-pop" and not self._pushed:
                self._fault("scope", step, "It closes an assumption, but none is open")
                return
            self._look(step)
        closed = (known.term for known in self._known.values() if not known.open)
        if any(isinstance(term, Term) and term.name == "false" for term in closed):
            # Perhaps an assertion, so that nothing has to be concluded after it.
            return
        last = self._proof.steps[-1]
        if last.conclusion not in (None, "false"):
            self._fault("last-step", last, "The last step of the proof does not conclude false")
        elif open_ones := self._known[last.name].open:
            kept = [one.term for one in self._opened if one.open & open_ones]
            if any(isinstance(term, NotExpressible) for term in kept):
                # Perhaps it holds by itself, as the bits of a character do.
                self.found.causes["an assumption that stays open"] += 1
            else:
                self._fault(
                    "open-assumption", last, "The proof depends on an assumption that is never closed"
                )

    def _look(self, step: Step) -> None:
        """Judge a step and make it known, or what it closes unknown."""
        premises = [self._known[name] for name in step.premises]
        open_ones = 0
        for premise in premises:
            open_ones |= premise.open
        if step.kind in ("assume-push", "hypothesis"):
            found = _Known(self._term(step.conclusion), 1 << len(self._opened))
            self._opened.append(found)
            if step.kind == "assume-push":
                # Steps that follow may take names that are free again once the assumption is closed.
                self._pushed.append((found, {}))
        else:
            if step.kind == "lemma":
                closed = [one for one in self._opened if one.open & open_ones]
                open_ones = 0
                for one in closed:
                    premises = [_Known(self._implication(one.term, p.term), 0) for p in premises]
            if step.kind == "step-pop":
                assumption = self._close()
                open_ones &= ~assumption.open
                premises = [_Known(self._implication(assumption.term, p.term), 0) for p in premises]
            if step.conclusion is None and step.kind == "step-pop" and len(premises) == 1:
                found = _Known(premises[0].term, open_ones)
            else:
                found = _Known(self._term(step.conclusion), open_ones)
            self._judge(step, [premise.term for premise in premises], found.term)
        if self._pushed:
            self._pushed[-1][1].setdefault(step.name, self._known.get(step.name))
        self._known[step.name] = found

    def _close(self) -> _Known:
        """Close the last assumption: names stand for what they stood for before it."""
        assumption, before = self._pushed.pop()
        for name, known in before.items():
            if known is None:
                del self._known[name]
            else:
                self._known[name] = known
        return assumption

    def _judge(self, step: Step, premises: list[_Form], conclusion: _Form) -> None:
        outcome = UNCHECKED
        if time.monotonic() < self._deadline:
            why = next((f for f in (conclusion, *premises) if isinstance(f, NotExpressible)), None)
            if step.rule.startswith(_TRUSTED) or step.rule in FRESH:
                why = NotExpressible(step.rule)
            try:
                if why is not None:
                    raise why
                terms = [form for form in premises if isinstance(form, Term)]
                assert isinstance(conclusion, Term)
                outcome = (self._assumed if step.kind == "assume" else self._implied)(step, terms, conclusion)
            except NotExpressible as cause:
                outcome = INEXPRESSIBLE
                self.found.causes[str(cause)] += 1
        self.found.count(step.rule, outcome)

    def _term(self, sexp: SExp | None) -> _Form:
        try:
            if sexp is None:
                raise NotExpressible("a conclusion that is not printed")
            return self._reader.term(sexp)
        except NotExpressible as why:
            return why

    def _implication(self, assumption: _Form, premise: _Form) -> _Form:
        """What a premise that was shown under an assumption means outside."""
        for form in (assumption, premise):
            if isinstance(form, NotExpressible):
                return form
        return self._reader.table.operator("=>", (assumption, premise), BOOL)  # type: ignore[arg-type]

    def _implied(self, step: Step, premises: list[Term], conclusion: Term) -> str:
        """Whether the premises of a step imply its conclusion."""
        if conclusion.sort is not BOOL:
            return self._fault(step.rule, step, f"Its conclusion has sort {conclusion.sort}")
        if conclusion in premises:
            return HELD
        return self._asked(step, premises, conclusion, "Its premises do not imply its conclusion")

    def _assumed(self, step: Step, premises: list[Term], term: Term) -> str:
        """Whether an assumption is among the input's assertions, or follows from one of them."""
        known = self._read_assertions()
        if self._reader.numbered(term) in known:
            return HELD
        own = set(declarations_in([term]))

        def difference(assertion: Term) -> int:
            return len(own.symmetric_difference(declarations_in([assertion])))

        # The one that it is made of has the same constants and functions, most probably.
        nearest = sorted(known, key=difference)
        scripts = [step_formula(self._reader, [assertion], term, DEPTHS[-1]) for assertion in nearest]
        answers: list[str] = []
        for is_cut in (True, False):
            for script in scripts:
                answers.append(self._checker.first_answer(script, self.found, is_cut))
                if answers[-1] == "unsat":
                    return HELD
        if not known or len(known) < len(self._assertions) or not all(answers[len(scripts) :]):
            return UNDECIDED
        votes: dict[str, str] = {}
        for script in scripts:
            votes = self._checker.votes(script, self.found)
            if not self._checker.is_refuted(votes):
                return UNDECIDED
        return self._fault(
            step.rule, step, "It is assumed, but follows from no assertion", scripts[-1], votes
        )

    def _read_assertions(self) -> list[Term]:
        """The assertions of the input that can be expressed."""
        if self._read is None:
            self._read = []
            for text in self._assertions:
                with suppress(NotExpressible):
                    self._read.append(self._reader.numbered(self._reader.asserted(text)))
        return self._read

    def _asked(self, step: Step, premises: list[Term], conclusion: Term, why: str) -> str:
        """Ask about the shapes of a step until one holds."""
        script = previous = answer = ""
        for depth in DEPTHS:
            script = step_formula(self._reader, premises, conclusion, depth)
            is_last = depth == DEPTHS[-1]
            if script == previous and not (is_last and answer != "sat"):
                continue
            previous, answer = script, self._checker.first_answer(script, self.found, is_cut=not is_last)
            if answer == "unsat":
                return HELD
        if answer != "sat":
            return UNDECIDED
        if any(self._reader.free[premise] & self._reader.free[conclusion] for premise in premises):
            # It holds for all values of these variables; the formula says so for some of them only.
            self.found.causes["a premise about variables"] += 1
            return UNDECIDED
        if self._reader.has_skolem([*premises, conclusion]):
            self.found.causes["a skolem"] += 1
            return UNDECIDED
        if left_open(script) - _FREE_EVERYWHERE:
            self.found.causes["a value that is left open"] += 1
            return UNDECIDED
        votes = self._checker.votes(script, self.found)
        if not self._checker.is_refuted(votes):
            self.found.causes["one solver alone says that it does not hold"] += 1
            return UNDECIDED
        return self._fault(step.rule, step, why, script, votes)

    def _fault(
        self, rule: str, step: Step, why: str, script: str = "", answers: Mapping[str, str] | None = None
    ) -> str:
        self.found.faults.append(Fault(rule, step.line, why, script, answers or {}))
        return WRONG


class _Collecting(_Work):
    """The first look at a proof: the first shapes of its steps, of which no solver is asked yet."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.scripts: list[str] = []

    def _assumed(self, step: Step, premises: list[Term], term: Term) -> str:
        return HELD

    def _asked(self, step: Step, premises: list[Term], conclusion: Term, why: str) -> str:
        self.scripts.append(step_formula(self._reader, premises, conclusion, DEPTHS[0]))
        return HELD
