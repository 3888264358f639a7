"""Looks for values that refute the rewrite rules of a solver."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

from generator.rewriting.draw import Drawing
from generator.rewriting.rules import Assignment, Rule, Unknown
from generator.rewriting.script import instance_text
from solvers.running.process import Limits
from solvers.running.runner import Runner
from solvers.running.script import Script
from solvers.solver import Solver

# The instances, by their numbers, whose values solvers choose.
_SHAPES = (1, 30)
# Draws for each requested instance, at most.
_TRIES = 100
# A rule may take this many times its part of the time: most take less.
_SHARE = 3.0
# How often the best draw so far is changed a little.
_AGAIN = 0.7
# Wrong instances, the smallest first, that other solvers are asked about.
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Settings:
    """``instances`` per rule; ``seconds`` for all rules, ``solver_seconds`` for each run of a solver."""

    instances: int = 1000
    seconds: float = 600.0
    seed: int = 1
    solver_seconds: float = 0.3


@dataclass(slots=True)
class RuleAudit:
    """What is known of a rule.

    ``instances`` is how many instances were evaluated, ``refuted`` how many of them are wrong. ``unjudged``
    is why there are none, or fewer than requested. ``instance`` is the smallest wrong one, as a script:
    satisfiable, since the rule is wrong. ``confirmed_by`` names the solvers that find that too. ``proved``
    counts the shapes (lists, numbers and widths fixed, values free) for which another solver found that the
    rule is right. ``own_answer`` is the audited solver's to the shape of ``instance``: ``unsat`` shows the
    bug in the solver itself.
    """

    rule: str
    theory: str
    instances: int = 0
    refuted: int = 0
    unjudged: str = ""
    instance: str = ""
    confirmed_by: list[str] = field(default_factory=list)
    proved: int = 0
    own_answer: str = ""


def audit(
    rules: Sequence[Rule], own: Solver, others: Sequence[Solver], runner: Runner, settings: Settings
) -> Iterator[RuleAudit]:
    """Audit ``rules`` of the solver ``own``, in their order; ``others`` confirm what evaluation finds.

    The rules share the time: one that is fast leaves time to those that follow.
    """
    deadline = time.monotonic() + settings.seconds
    for number, rule in enumerate(rules):
        share = _SHARE * (deadline - time.monotonic()) / (len(rules) - number)
        auditor = _RuleAuditor(rule, own, others, runner, settings)
        yield auditor.run(min(deadline, time.monotonic() + max(share, 0.0)))


class _RuleAuditor:
    """The audit of one rule."""

    def __init__(
        self, rule: Rule, own: Solver, others: Sequence[Solver], runner: Runner, settings: Settings
    ) -> None:
        self._rule = rule
        self._own = own
        self._others = others
        self._runner = runner
        self._settings = settings
        self._limits = Limits(seconds=settings.solver_seconds)
        self._found = RuleAudit(rule.name, rule.theory)
        self._wrong: list[Assignment] = []
        self._shapes: list[Assignment] = []

    def run(self, deadline: float) -> RuleAudit:
        """What evaluation finds, then what the solvers say."""
        try:
            self._evaluate(deadline)
        except Unknown as what:
            self._found.unjudged = f"{what} has no meaning here"
        for values in self._shapes:
            self._found.proved += self._ask(self._others, values, free=True)[1] == "unsat"
        if self._wrong:
            self._confirm()
        return self._found

    def _evaluate(self, deadline: float) -> None:
        found, settings = self._found, self._settings
        chance = Random(f"{settings.seed} {self._rule.name}")
        best, most_met = None, 0
        for tries in range(_TRIES * settings.instances):
            if found.instances >= settings.instances:
                return
            if tries % 16 == 0 and time.monotonic() > deadline:
                found.unjudged = f"{'fewer instances' if found.instances else 'no instance'} in the time"
                return
            # A new draw, or a small change of the draw that met the most premises.
            values = Drawing(chance).draw(self._rule, best if chance.random() < _AGAIN else None)
            if values is None:
                continue
            met, holds = self._rule.judge(values)
            if met >= most_met:
                best, most_met = values, met
            if holds is None:
                continue
            found.instances += 1
            if found.instances in _SHAPES:
                self._shapes.append(values)
            if not holds:
                found.refuted += 1
                self._wrong.append(values)
        if found.instances < settings.instances:
            found.unjudged = self._why_few(most_met)

    def _why_few(self, met: int) -> str:
        if self._found.instances:
            return "few drawn instances are well sorted and meet the premises"
        if met == len(self._rule.premises):
            return "no drawn instance is well sorted"
        return "no drawn instance meets the premises"

    def _confirm(self) -> None:
        """Keep the smallest wrong instance that no other solver contradicts."""
        by_size = sorted(self._wrong, key=lambda values: len(repr(values)))[:_SHOWN]
        asked = [(values, *self._ask(self._others, values, free=False)) for values in by_size]
        open_ones = [case for case in asked if case[2] != "unsat"]
        if not open_ones:
            self._found.refuted = 0
            self._found.unjudged = "evaluation says that it is wrong, another solver that it is right"
            return
        values, names, _ = next((case for case in open_ones if case[2] == "sat"), open_ones[0])
        self._found.instance = self._text(values, free=False)
        self._found.confirmed_by = names
        self._found.own_answer = self._ask([self._own], values, free=True)[1]

    def _text(self, values: Assignment, *, free: bool) -> str:
        """The script of an instance; empty if a part has no SMT-LIB form."""
        try:
            return instance_text(self._rule, values, free=free)
        except Unknown:
            return ""

    def _ask(self, solvers: Sequence[Solver], values: Assignment, *, free: bool) -> tuple[list[str], str]:
        """The solvers that answer as the first that answers, and that answer: sat, unsat or nothing."""
        text = self._text(values, free=free)
        if not text:
            return [], ""
        script, answers = Script.of(text), {}
        for solver in solvers:
            verdict = self._runner.judge(solver, script, self._limits)
            if verdict.is_decided:
                answers[solver.name] = str(verdict.answers[0])
                if free:
                    break
        first = next(iter(answers.values()), "")
        return [name for name, answer in answers.items() if answer == first], first
