"""The key of a candidate, by what a quick reduction leaves of its test (``difftest.triage.key``)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from difftest.oracles.base import Candidate
from difftest.reduction._passes import Passes
from difftest.triage.classes import class_of
from difftest.triage.key import FoundKey, Key
from difftest.triage.operators import essential_operators
from smtlib.mentions import theories_in
from solvers.running.script import Script

QUICK_SECONDS = 2.0
QUICK_CHECKS = 200
"""The most checks of a quick reduction where time does not count."""
OBJECTIVES = "objectives"
"""Stands in a key for the operators, if the bug needs something to be optimised."""

_OPTIMISE = frozenset(("assert-soft", "minimize", "maximize"))


def key_of(
    candidate: Candidate,
    text: str,
    check: Callable[[str], bool],
    seconds: float = QUICK_SECONDS,
    most: int = 0,
) -> FoundKey:
    """The key of ``candidate`` by what is left of ``text``, reduced for ``seconds`` at most; with ``most``
    checks at most, if that is not 0.
    """
    made = 0

    def counted(trial: str) -> bool:
        nonlocal made
        made += 1
        return (not most or made <= most) and check(trial)

    key = Key.read(candidate.key)
    if not key.theories:
        return FoundKey(candidate.key, text, True)
    deadline = time.monotonic() + seconds
    finding_class = class_of(candidate.finding_class)
    form: Callable[[str], str] = str
    if finding_class.outlasts_falsehood and counted(_with_falsehood(text)):
        # Then operators that only make the formula unsatisfiable say nothing.
        form = _with_falsehood

    def shows(trial: str) -> bool:
        return counted(form(trial))

    bare = _without_objectives(text) if finding_class.keyed_by_operators else text
    optimises = bare != text and not shows(bare)
    if not optimises:
        text = bare
    passes = Passes(text, shows, deadline, names=False)
    complete = passes.run(max_rounds=3)
    if finding_class.follows_from_options and (tactic := _applied(passes.text)):
        # As an option does, a tactic that makes the solver die does so whatever the formula.
        key = replace(key, theories=frozenset(), operators=frozenset((tactic,)))
        return FoundKey(str(key), form(passes.text), True)
    key = replace(key, theories=frozenset(theories_in(passes.text)))
    essential = False
    if optimises:
        # What is wrong with optimisation shows whatever the operators of the theory.
        key, essential = replace(key, operators=frozenset((OBJECTIVES,))), True
    elif finding_class.keyed_by_operators:
        operators, essential = essential_operators(passes.text, shows, deadline)
        key = replace(key, operators=frozenset(operators))
    # Where a formula follows from another one, no function can stand for an operator: it would in one only.
    complete = complete and essential and candidate.oracle != "implication" and (not most or made <= most)
    return FoundKey(str(key), form(passes.text), complete)


def _without_objectives(text: str) -> str:
    """The script without the commands that say what is to be optimised."""
    script = Script.of(text)
    kept = [c for c in script.commands if c.name not in _OPTIMISE]
    if len(kept) == len(script.commands):
        return text
    return "".join(script.text_of(command) + "\n" for command in kept)


def _applied(text: str) -> str:
    """The first ``apply`` of a script, without its parentheses; empty if there is none."""
    script = Script.of(text)
    found = next((c for c in script.commands if c.name == "apply"), None)
    return "" if found is None else " ".join(script.text_of(found)[1:-1].split())


def _with_falsehood(text: str) -> str:
    """The script with ``false`` asserted first, which makes all its questions unsatisfiable."""
    script = Script.of(text)
    first = next((c.start for c in script.commands if not c.name.startswith("set-")), len(script.data))
    data = script.data[:first] + b"(assert false)\n" + script.data[first:]
    return data.decode("utf-8", "surrogateescape")
