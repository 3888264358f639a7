"""What a reduced formula tells of its finding: its own key, the evidence, and whether a safe mode has it.

The original's key stays beside it: by that the hunt knows further tests that show the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from difftest.oracles.base import MOST_CLAIMS, Candidate, Observation
from difftest.triage.classes import class_of
from difftest.triage.classes.base import Expectation
from difftest.triage.confirm import Confirmer
from difftest.triage.examine import examine
from difftest.triage.key import Key, needs_reduction, refined
from difftest.triage.keying import key_of
from difftest.triage.options import shows_in_safe_mode
from difftest.triage.stacks import key_by_function
from difftest.triage.weigh import weigh
from solvers.registry import PROFILES
from solvers.running.process import Limits
from solvers.running.runner import Runner
from solvers.running.script import Script
from solvers.solver import Solver

_KEY_SECONDS = 10.0


def conclude(key: str, expected: Expectation, text: str) -> Mapping[str, Any]:
    """``key``, ``safe_mode``, ``evidence``, ``reason`` and ``with_model`` (a formula with a model inserted)
    of the reduced formula ``text`` of a finding that the hunt counts under ``key``; ``expected`` has its
    solvers with no more options than it takes.
    """
    own = {"key": reduced_key(key, expected, text), "safe_mode": shows_in_safe_mode(expected, text)}
    return {**own, **_evidence(expected, text)}


def _evidence(expected: Expectation, text: str) -> Mapping[str, Any]:
    """What speaks for and against the solvers by ``text``; nothing where it points at another one."""
    is_quick = class_of(expected.finding_class).is_quick
    if expected.pair is not None or expected.truth is not None or not is_quick:
        return {}
    script, limits = Script.of(text), Limits(seconds=expected.seconds)
    with Runner(warm=False) as runner:
        verdicts = {solver.name: runner.judge(solver, script, limits) for solver in expected.solvers}
        seen = Observation(text, expected.solvers, verdicts, claims=MOST_CLAIMS, salt=expected.salt)
        candidates, seen, _ = examine(seen, [expected.oracle or expected.finding_class], runner, limits)
        same = (c for c in candidates if c.finding_class == expected.finding_class)
        if (candidate := next(same, None)) is None:
            return {}
        settled, found = weigh(candidate, seen, runner, limits)
    if found.dismissed or found.confirmers or settled.culprit != expected.culprit or not found.sentences:
        return {}
    facts = {"evidence": list(settled.evidence), "reason": settled.reason}
    return facts | ({"with_model": found.formula} if found.formula else {})


def reduced_key(key: str, expected: Expectation, text: str) -> str:
    """The key of a finding by its reduced formula and the options that it takes.

    Where the key holds no theories (a crash that names its place) it stays as it is.
    """
    names = tuple(solver.name for solver in expected.solvers)
    found = Candidate(expected.finding_class, names, key, expected.culprit, oracle=expected.oracle)
    if not needs_reduction(found):
        return key
    read = Key.read(key)
    plain = replace(read, release="", operators=frozenset())
    shorter = {solver.name: _name(solver) for solver in expected.solvers}
    found = replace(found, key=str(plain)).renamed(shorter)
    with Runner(warm=False) as runner:
        reduced = key_by_function(found, expected, text, runner)
    if reduced is None:
        with Confirmer(expected) as confirmer:
            reduced = key_of(found, text, confirmer, _KEY_SECONDS).key
    return refined(reduced, read.release) if read.release else reduced


def _name(solver: Solver) -> str:
    """A solver's name with the options that it was left."""
    if solver.family not in PROFILES:
        return solver.name
    profile = PROFILES[solver.family]
    left = [check.removeprefix(profile.prefix) for check in solver.checks if check not in profile.checks]
    for option in solver.spec_options:
        solver = solver.without_option(option)
    return solver.with_options(left).name
