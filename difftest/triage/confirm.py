"""Whether a formula still shows a finding: the same class, the same solvers, the same place or answers.

    python -m difftest.triage.confirm FINDING FILE      exit status 0: it does; 1: it does not

An ``Expectation`` says what has to show again; a ``Confirmer`` looks, on the fast path (forked solvers) or in
fresh processes. What a refusal brings about never counts: a formula that makes a solver complain of something
that it did not complain of at first does not show the finding. A finding that rests on an answer known by
construction is confirmed against other solvers instead, since reduction changes what is known.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Self

from base.errors import ExhumeError
from difftest.oracles import ORACLES
from difftest.oracles.base import MOST_CLAIMS, Observation, Oracle
from difftest.oracles.related import related_files
from difftest.reduction.pairs import Pair
from difftest.triage.classes import class_of
from difftest.triage.classes.base import Expectation
from difftest.triage.examine import examine
from difftest.triage.expectation import complaints_of, expectation_of_finding
from difftest.triage.key import Key
from solvers.errors import RunnerLost
from solvers.running.outcomes import Outcome, Verdict, judge, opposite
from solvers.running.process import Limits
from solvers.running.runner import Runner
from solvers.running.script import Script
from solvers.solver import Solver


class Confirmer:
    """Looks whether texts show what an expectation says; use under ``with``, from one thread.

    Fast looks use the runner ``within``, if it is warm. Closing that cuts it short: nothing shows any more.
    """

    def __init__(self, expected: Expectation, fast: bool = True, within: Runner | None = None) -> None:
        self.expected = expected
        self.seconds = 0.0
        self.refused = False
        """Whether in the last look a solver refused the text or complained of something new."""
        self.beside: dict[str, str] = {}
        """The scripts, by file name, that a relation made of the last text that showed it."""
        self.is_fast = fast
        """Whether it looks at forked solvers."""
        self._is_own = within is None or not within.warm
        self._runner = Runner(within=within) if within is None or not within.warm else within

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_own:
            self._runner.__exit__(None, None, None)

    def __call__(self, text: str) -> bool:
        """Whether ``text`` shows it; where there are several tries, in two of them."""
        script = Script.of(text)
        tries = 0 if script.file_command or not script.commands else self.expected.tries
        # If once were enough, reduction would end with a formula that hardly ever shows it.
        needed = min(2, self.expected.tries)
        looks = (self._look(text, script) for _ in range(tries))
        return sum(1 for _ in itertools.islice(filter(None, looks), needed)) == needed

    def start_from(self, text: str) -> bool:
        """Whether ``text`` shows it in fresh processes. If forked solvers do not show it, all later looks are
        in fresh processes too: some faults are in a program, not in its library.
        """
        is_shown = self.fresh(text)
        if is_shown:
            self.is_fast = self.is_fast and self(text)
        return is_shown

    def times_shown(self, text: str, tries: int) -> int:
        """In how many of ``tries`` fresh processes ``text`` shows it."""
        script = Script.of(text)
        with self._in_fresh_processes():
            return sum(self._look(text, script) for _ in range(tries))

    def _look(self, text: str, script: Script) -> bool:
        self.refused = False
        oracle = ORACLES.get(self.expected.oracle)
        if self.expected.pair is not None:
            is_shown = self._does_not_follow(self.expected.pair, text, script)
        elif oracle is not None and oracle.has_own_runs:
            is_shown = self._sees(oracle, text, script)
        else:
            is_shown = class_of(self.expected.finding_class).confirm(self, text, script)
        return is_shown

    def fresh(self, text: str) -> bool:
        """The same in fresh processes, by the command line that a report shows."""
        with self._in_fresh_processes():
            return self(text)

    @contextlib.contextmanager
    def _in_fresh_processes(self) -> Iterator[None]:
        before, self.is_fast = self.is_fast, False
        try:
            yield
        finally:
            self.is_fast = before

    def _sees(self, oracle: Oracle, text: str, script: Script) -> bool:
        """Whether the oracle that saw it sees it again, by whatever runs it takes."""
        expected, limits = self.expected, Limits(seconds=self.expected.seconds)
        verdicts = self.judge_all(script)
        if verdicts is None:
            return False
        with contextlib.ExitStack() as stack:
            runner = (
                self._runner if self.is_fast else stack.enter_context(Runner(warm=False, within=self._runner))
            )
            seen = Observation(text, expected.solvers, verdicts, claims=MOST_CLAIMS, salt=expected.salt)
            candidates, seen, spent = examine(seen, [oracle.name], runner, limits)
            self.seconds += spent
            found = [c for c in candidates if expected.culprit in (None, c.culprit)]
            found = [c for c in found if not expected.where or Key.read(c.key).where == expected.where]
            is_shown = bool(found)
            if is_shown:
                self.beside = related_files(seen, oracle.name)
            if found and not self.is_fast and oracle.measure is not None:
                is_shown = oracle.measure(found[0], seen, runner, limits)
        return is_shown

    def _does_not_follow(self, pair: Pair, text: str, script: Script) -> bool:
        """Whether the one accused decides what is left of the parent, and not ``text``, or the other way."""
        parent = pair.parent_of(text)
        shown = opposite(pair.follows) if self.expected.finding_class == "soundness" else "unknown"
        return parent is not None and all(
            (verdict := self.judge(self.expected.accused, formula)) and verdict.answers == (answer,)
            for formula, answer in ((script, shown), (Script.of(parent), pair.follows))
        )

    def judge_all(
        self, script: Script, is_expected: Callable[[Solver, Verdict], bool] = lambda solver, verdict: True
    ) -> dict[str, Verdict] | None:
        """What a run of each expected solver means; None if one was refused or spoilt, or is not as
        expected: then the others are not run.
        """
        verdicts: dict[str, Verdict] = {}
        for solver in self.expected.solvers:
            verdict = self.judge(solver, script)
            if verdict is None or not is_expected(solver, verdict):
                return None
            verdicts[solver.name] = verdict
        return verdicts

    def judge(self, solver: Solver, script: Script) -> Verdict | None:
        """One run's meaning; None where it was refused or spoilt."""
        limits = Limits(seconds=self.expected.seconds)
        try:
            if self.is_fast:
                run = self._runner.run(solver, script, limits)
            else:
                _, run = self._runner.judge_file(solver, script, "formula.smt2", limits)
        except RunnerLost:
            return None
        self.seconds += run.seconds
        verdict = judge(solver.given(script), run, solver.family)
        complaints = complaints_of(run.stdout, verdict.detail)
        is_refused = verdict.outcome is Outcome.REFUSED or not complaints <= self.expected.complaints
        self.refused = self.refused or is_refused
        return None if is_refused else verdict


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; its exit code."""
    parser = argparse.ArgumentParser(prog="python -m difftest.triage.confirm", description=__doc__)
    parser.add_argument("finding", type=Path, metavar="FINDING")
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--fresh", action="store_true", help="in fresh processes, as a report shows it")
    chosen = parser.parse_args(arguments)
    try:
        with Confirmer(expectation_of_finding(chosen.finding), fast=not chosen.fresh) as confirmer:
            return 0 if confirmer(chosen.file.read_bytes().decode("utf-8", "surrogateescape")) else 1
    except (ExhumeError, OSError) as problem:
        sys.stderr.write(f"confirm: {problem}\n")
        return problem.exit_code if isinstance(problem, ExhumeError) else 2


if __name__ == "__main__":
    sys.exit(main())
