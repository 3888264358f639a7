"""Which solver is wrong, and what speaks for it: gathered when an error is confirmed, kept with the finding.

One solver alone contradicts itself. Of two in lockstep the one is wrong that shows the error alone, too.
Where their answers differ there are, in order of weight:

1. the same calls without options: a solver that then answers otherwise contradicts itself;
2. what ``difftest.triage.evidence`` finds out where SMT-LIB can say the calls: models checked by the other
   solver, third solvers;
3. the same calls on a third solver.

The strongest evidence decides. All of it is kept, one sentence each. Older releases are asked later, when
there is a program to run on them (``describing``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from apifuzz.engines import ENGINES
from apifuzz.engines.text import script_of
from apifuzz.running.faults import INTERNAL, REJECTED, Fault
from apifuzz.running.question import QUESTIONS, at_once
from apifuzz.running.runs import Runner, RunResult
from apifuzz.running.setup import Setup
from apifuzz.scope import PRODUCERS
from apifuzz.trace import Trace, print_trace, read_trace
from base.errors import ExhumeError
from difftest.oracles.base import Candidate, Observation, decided
from difftest.triage.evidence import Evidence
from difftest.triage.weigh import weigh as weigh_text
from solvers.lookup import find_solver
from solvers.running.process import Limits
from solvers.running.runner import Runner as TextRunner
from solvers.running.script import Script
from solvers.solver import Solver

_OWN_VALUES = re.compile(r"second instance of (\S+) refutes its own values")
REFUTED = re.compile(r"(\S+) answers unsat to the model of (\S+)\Z")
"""One solver refutes the values of another one's model, which a program has written out."""
_OPTION = re.compile(r"\(set-option :([\w.-]+) [^\n]*\)\n")
# Options of SMT-LIB's own, which every solver takes.
_STANDARD = frozenset((*PRODUCERS, "global-declarations"))
# Calls without which a check is still the same check.
_HARMLESS = QUESTIONS | {"set-option", "set-logic"}
_TEXT_LIMITS = Limits(seconds=5.0)


def weigh(setup: Setup, trace: Trace, fault: Fault) -> Evidence:
    """Gather what tells who is wrong about a confirmed error."""
    if fault.kind == INTERNAL and fault.detail.startswith("Traceback"):
        return Evidence(reason="this is an error of exhume's own")
    if setup.cross_check is None or setup.factory is not None:
        found = Evidence(setup.label)
        if fault.kind in ("model", "core", "assumptions"):
            found.reason = "it contradicts itself"
            _ask_others(setup, trace, found)
        return found
    both = _Lockstep(setup, trace, fault)
    both.weigh()
    return both.found


def _replay(setup: Setup, trace: Trace) -> RunResult | None:
    """The calls of a trace in a fresh process; None where there is no such solver here."""
    try:
        with Runner(setup) as runner:
            return runner.replay(print_trace(trace), fresh=True)
    except ExhumeError:
        return None


def _answer(result: RunResult | None, trace: Trace) -> str | None:
    """The answer to the last check that a run decided; None where it is not the same question.

    Without some of the assertions only unsat says something.
    """
    if result is None or result.outcome == "trace" or not result.answers:
        return None
    checks = sum(line.action in ("check-sat", "check-sat-assuming") for line in trace.lines)
    answer = decided(result.answers, checks - 1)
    if len(result.answers) != checks or answer is None:
        return None
    # The numbers of the lines as ``_replay`` prints them; those of a minimised trace are of another text.
    numbers = {line.number: line.action for line in read_trace(print_trace(trace)).lines}
    left_out = {numbers.get(number, "") for number, _ in result.refused} - _HARMLESS
    return answer if not left_out or answer == "unsat" else None


def _ask_others(setup: Setup, trace: Trace, found: Evidence) -> dict[str, str]:
    """What solvers with an interface that take no part say to the last check, asked the same calls."""
    said = {}
    for name in (name for name in ENGINES if name not in (*setup.specs, "smtlib")):
        if answer := _answer(_replay(Setup(name), trace), trace):
            said[name] = answer
            found.note(f"{name} answers {answer} to the last check after the same calls")
    return said


@dataclass(slots=True)
class _Lockstep:
    """An error of two solvers that made the same calls."""

    setup: Setup
    trace: Trace
    fault: Fault
    found: Evidence = field(default_factory=Evidence)

    def weigh(self) -> None:
        """Gather all of it, the strongest first."""
        if refuted := _OWN_VALUES.search(self.fault.detail):
            self.found.blame(refuted[1], "a second instance of it refutes its own values")
        if refuted := REFUTED.search(self.fault.detail):
            self.found.blame(refuted[2], f"{refuted[1]} refutes its model")
        alone = {setup.label: _replay(setup, self.trace) for setup in self._parties()}
        if self.fault.kind != "answer":
            self._look_alone(alone)
            return
        answers = {name: _answer(result, self.trace) for name, result in alone.items()}
        said = {name: answer for name, answer in answers.items() if answer is not None}
        for name, answer in said.items():
            self.found.note(f"{name} alone answers {answer}")
        self._leave_options_out(said)
        self._ask_as_text(said)
        others = _ask_others(self.setup, self.trace, self.found)
        if len(said) == 2 and len(set(said.values())) == 2 and len(set(others.values())) == 1:
            right = next(iter(others.values()))
            verb = "answers" if len(others) == 1 else "answer"
            for name, answer in said.items():
                if answer != right:
                    self.found.blame(name, f"{' and '.join(others)} {verb} {right} as the other one does")

    def _parties(self) -> list[Setup]:
        return [Setup(name, None, self.setup.witnesses) for name in self.setup.specs]

    def _look_alone(self, alone: dict[str, RunResult | None]) -> None:
        """Who shows the error alone, too."""
        shown = [name for name, result in alone.items() if result is not None and self._is_it(result.fault)]
        for name in shown:
            self.found.note(f"{name} shows it alone, too")
        innocent = [name for name, result in alone.items() if result is not None and result.fault is None]
        for name in innocent:
            self.found.note(f"{name} makes the same calls without an error")
        first, _, _ = self.fault.detail.partition(": ")
        second = Setup(self.setup.cross_check or "").label
        if len(shown) == 1:
            self.found.blame(shown[0], "it shows the error alone, too")
        elif not shown and self.fault.kind == REJECTED:
            self.found.blame(second if first == second else self.setup.label, "it rejected the call")

    def _is_it(self, fault: Fault | None) -> bool:
        if fault is None or fault.kind != self.fault.kind:
            return False
        if self.fault.is_same(fault):
            return True
        # In lockstep the second solver's name stands in front.
        return bool(fault.shape) and self.fault.shape.endswith(f": {fault.shape}")

    def _leave_options_out(self, said: dict[str, str]) -> None:
        lines = tuple(line for line in self.trace.lines if not _sets_own_option(line.action, line.args))
        if len(lines) == len(self.trace.lines):
            return
        plain = replace(self.trace, lines=lines)
        # The second one takes none of these options.
        setup = self._parties()[0]
        answer, before = _answer(_replay(setup, plain), plain), said.get(setup.label)
        if answer is None or before is None:
            return
        if answer != before:
            reason = f"it answers {before}, and {answer} to the same calls without its options"
            self.found.blame(setup.label, reason)
        else:
            self.found.note(f"{setup.label} answers {answer} without its options, too")

    def _ask_as_text(self, said: dict[str, str]) -> None:
        """What the solvers say to the calls as text, and what hunts' evidence makes of it."""
        script = script_of(at_once(self.trace))
        if script is None or len(said) < 2:
            return
        text = _OPTION.sub(lambda found: found[0] if found[1] in PRODUCERS else "", script)
        listed = ",".join(
            f"{line.args[0]}={line.args[1]}"
            for line in self.trace.lines
            if _sets_own_option(line.action, line.args)
        )
        asked = [self.setup.solver] + ([f"{self.setup.solver}[{listed}]"] if listed else [])
        for spec in asked:
            if self._weigh_text(text, [spec, self.setup.cross_check or ""], said):
                return

    def _weigh_text(self, text: str, specs: Sequence[str], said: dict[str, str]) -> bool:
        """Whether the answers to the text differ; then all is noted that is found out about it."""
        try:
            solvers = [find_solver(spec) for spec in specs]
        except ExhumeError:
            return False
        script = Script.of(text)
        check = len(script.checks) - 1
        with TextRunner(warm=False) as runner:
            verdicts = {solver.name: runner.judge(solver, script, _TEXT_LIMITS) for solver in solvers}
            answers = {name: decided(verdict.answers, check) for name, verdict in verdicts.items()}
            if None in answers.values():
                return False
            listing = ", ".join(f"{_plain(s)} {answers[s.name]}" for s in solvers)
            how = " with its options" if "[" in solvers[0].name else ""
            self.found.note(f"given the assertions at once, as text{how}: {listing}")
            for solver in solvers:
                name, answer = _plain(solver), answers[solver.name]
                if answer != said[name]:
                    self.found.blame(name, f"it answers {said[name]}, and {answer} to the assertions at once")
            if len(set(answers.values())) < 2:
                return False
            names = tuple(solver.name for solver in solvers)
            where = Candidate("soundness", names, "soundness||", None, "", check, "soundness")
            seen = Observation(text, solvers, verdicts)
            settled, judgement = weigh_text(where, seen, runner, _TEXT_LIMITS)
        self.found.formula = judgement.formula
        for sentence in judgement.sentences:
            self.found.note(_named(sentence, solvers))
        culprit = next((solver for solver in solvers if solver.name == settled.culprit), None)
        if culprit is not None:
            self.found.blame(_plain(culprit), _named(settled.reason, solvers))
        return True


def _sets_own_option(action: str, args: Sequence[str]) -> bool:
    return action == "set-option" and len(args) == 2 and args[0] not in _STANDARD


def _plain(solver: Solver) -> str:
    return solver.name.partition("[")[0]


def _named(sentence: str, solvers: Sequence[Solver]) -> str:
    """A sentence with the solvers' names as the campaign has them."""
    for solver in solvers:
        sentence = sentence.replace(solver.name, _plain(solver))
    return sentence
