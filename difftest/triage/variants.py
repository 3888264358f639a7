"""A finding under other options: what it does not need is left out; and whether it shows in a safe mode.

A test that runs a solver under options may show what shows without them. So before anything else is made of a
candidate, the options that its test added are taken away as far as it still shows; what is left is part of
its key, its command lines and its report.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from base.errors import ExhumeError
from difftest.oracles import ORACLES, PLAIN, is_same, look, observe_test, probe
from difftest.oracles.base import Candidate, Observation
from difftest.triage.folder import ORIGINAL
from difftest.triage.settle import Settled, confirm_and_weigh
from difftest.triage.store import Shown
from generator.strategy import GeneratedTest
from solvers.options import asked_options, option_table, split_option, why_refused
from solvers.registry import PROFILES
from solvers.running.outcomes import Verdict
from solvers.running.process import Limits, Run
from solvers.running.runner import Runner
from solvers.running.script import Script
from solvers.specs import Solver
from solvers.tactics import shorter_rows


def leaner(solver: Solver) -> Iterator[Solver]:
    """The solver with less of what its test added to its options, the boldest first: without all of it,
    without one option, with one part less in a row of tactics.
    """
    if len(solver.mode) > 1:
        yield bare(solver)
    for option in solver.mode:
        yield solver.without_option(option)
    for option in solver.mode:
        for shorter in shorter_settings(solver.family, option):
            yield solver.with_options([shorter])


def shorter_settings(family: str, setting: str) -> Iterator[str]:
    """A setting whose value is a row of tactics, with shorter rows; nothing for others."""
    name, value = split_option(setting)
    if name in option_table(family).tactic_settings:
        for row in shorter_rows(value):
            yield f"{name}={row}"


def drop_options(solvers: Sequence[Solver], shows: Callable[[Sequence[Solver]], bool]) -> tuple[Solver, ...]:
    """``solvers`` without the options that their test added and that are not needed: ``shows`` says so."""
    kept = list(solvers)
    for place in range(len(kept)):
        changed = True
        while changed:
            changed = False
            for trial in leaner(kept[place]):
                if shows([*kept[:place], trial, *kept[place + 1 :]]):
                    kept[place] = trial
                    changed = True
                    break
    return tuple(kept)


def renamed(candidate: Candidate, names: Mapping[str, str]) -> Candidate:
    """A candidate with solvers of other names, in its key, too."""

    def of(name: str) -> str:
        return names.get(name, name)

    kind, *rest = candidate.key.split("|")
    if rest:
        rest[0] = "+".join(map(of, rest[0].split("+")))
    return replace(
        candidate,
        solvers=tuple(map(of, candidate.solvers)),
        key="|".join([kind, *rest]),
        guilty=None if candidate.guilty is None else of(candidate.guilty),
    )


class LookAgain:
    """Sees in fresh processes whether a candidate shows again, and under which options.

    ``solvers`` are those of the test's hunt, with what the test adds to their options. ``spent`` counts the
    seconds that solvers took. A solver runs once under the same options. ``test`` is the one that it came to
    be about: another one than at first where a right model was refuted, with that put in.
    """

    def __init__(
        self,
        candidate: Candidate,
        test: GeneratedTest,
        solvers: Sequence[Solver],
        limits: Limits,
        runner: Runner,
    ) -> None:
        self.spent = 0.0
        self.test = test
        self._candidate = candidate
        self._solvers = solvers
        self._limits = limits
        self._runner = runner
        self._involved = tuple(solver for solver in solvers if solver.name in candidate.solvers)
        self._seen: dict[tuple[str, ...], tuple[Verdict, Run]] = {}

    def settle(self) -> tuple[Candidate, Shown] | None:
        """The candidate with its evidence, under no more options than it takes; None if it does not show."""
        if not self.shows(self._involved):
            return None
        needed = drop_options(self._involved, self.shows)
        found = self._weigh(needed)
        if found is None and needed != self._involved:
            needed = self._involved
            found = self._weigh(needed)
        if found is None:
            return None
        candidate, evidence = found
        return candidate, replace(evidence, safe_mode=stands_in_safe_mode(needed, self.shows))

    def shows(self, involved: Sequence[Solver]) -> bool:
        """Whether these, in the place of the candidate's own, show it as far as plain runs can tell."""
        names = [name for name in ORACLES if name in (*PLAIN, self._candidate.oracle)]
        seen, seconds = probe(self._observe(involved), names, self._runner, self._limits)
        self.spent += seconds
        return is_same(self._renamed(involved), look(seen, names))

    def _weigh(self, involved: Sequence[Solver]) -> tuple[Candidate, Shown] | None:
        parties = {solver.name for solver in self._involved}
        others = [solver for solver in self._solvers if solver.name not in parties]
        # The same solver without what the test added is a witness, too.
        others += [bare(solver) for solver in involved if solver.mode]
        observed = self._observe(involved)
        settled = confirm_and_weigh(self._renamed(involved), observed, others, self._limits, self._runner)
        self.spent += settled.seconds
        if settled.candidate is None:
            return None
        if settled.text is not None:
            return self._on_another_text(settled)
        runs = {solver.name: self._run(solver)[1] for solver in involved}
        return settled.candidate, Shown(tuple(involved), observed.verdicts, runs, settled.files)

    def _on_another_text(self, settled: Settled) -> tuple[Candidate, Shown] | None:
        """What is wrong is an answer to the test with a model put in: a finding of its own."""
        assert settled.candidate is not None and settled.text is not None, "there is something wrong there"
        test = replace(self.test, text=settled.text, known=(), implied_by=None, implies=None)
        known = {solver.name for solver in self._solvers}
        solvers = (*self._solvers, *(solver for solver in settled.solvers if solver.name not in known))
        again = LookAgain(settled.candidate, test, solvers, self._limits, self._runner)
        seen = look(again._observe(settled.solvers), [settled.candidate.oracle])
        if seen:
            again = again._about(seen[0])
        found = again.settle() if seen else None
        self.spent += again.spent
        if found is None:
            return None
        self.test = test
        candidate, evidence = found
        # What was said when the model was put in comes first.
        told = tuple(dict.fromkeys((*settled.candidate.evidence, *candidate.evidence)))
        files = {**evidence.files, **settled.files}
        return replace(candidate, evidence=told), replace(evidence, files=files)

    def _about(self, candidate: Candidate) -> LookAgain:
        """The same about another candidate of the test; nothing is run twice."""
        other = LookAgain(candidate, self.test, self._solvers, self._limits, self._runner)
        other.spent, other._seen = self.spent, self._seen
        return other

    def _observe(self, involved: Sequence[Solver]) -> Observation:
        verdicts = {solver.name: self._run(solver)[0] for solver in involved}
        return observe_test(self.test, involved, verdicts)

    def _renamed(self, involved: Sequence[Solver]) -> Candidate:
        pairs = zip(self._involved, involved, strict=True)
        return renamed(self._candidate, {before.name: now.name for before, now in pairs})

    def _run(self, solver: Solver) -> tuple[Verdict, Run]:
        key = (*solver.argv, *solver.checks)
        if key not in self._seen:
            script = Script.of(self.test.text)
            with tempfile.TemporaryDirectory(prefix="exhume-") as folder:
                file = Path(folder) / ORIGINAL
                file.write_bytes(script.data)
                self._seen[key] = self._runner.judge_file(solver, script, file, self._limits)
            self.spent += self._seen[key][0].seconds
        return self._seen[key]


def bare(solver: Solver) -> Solver:
    """The solver without what its test added to its options."""
    for option in solver.mode:
        solver = solver.without_option(option)
    return solver


def in_safe_mode(solver: Solver) -> Solver | None:
    """The solver in its safe mode; None for those, and releases, that have none."""
    profile = PROFILES.get(solver.family)
    if profile is None or not profile.safe_mode:
        return None
    try:
        if why_refused(profile.safe_mode, asked_options(solver.family, solver.argv)):
            return None
    except ExhumeError:
        return None
    # In front of the others: an option that safe mode does not allow is then refused.
    option = profile.prefix + profile.safe_mode
    others = (check for check in solver.checks if check != option)
    return replace(solver.with_options([profile.safe_mode]), checks=(option, *others))


def stands_in_safe_mode(solvers: Sequence[Solver], shows: Callable[[Sequence[Solver]], bool]) -> bool | None:
    """Whether what ``solvers`` show, they show with each that has a safe mode in it; None where none has one.
    Options that safe mode refuses make it False: so do theories.
    """
    safe = [in_safe_mode(solver) or solver for solver in solvers]
    if safe == list(solvers):
        return None
    return shows(safe)
