"""A smaller formula for a bug, and with it the key of its cause."""

from __future__ import annotations

import time

import msgspec

from difftest.bugs.records import Bug, Unverified
from difftest.bugs.shelf import Shelf, run_text
from difftest.bugs.symptoms import Symptom
from difftest.oracles.base import Candidate
from difftest.reduction._passes import Passes
from difftest.triage.key import Key
from difftest.triage.keying import key_of
from difftest.triage.kinds import State
from solvers.running.runner import Runner


def reduce_bug(
    found: Bug | Unverified, shelf: Shelf, most: float, seconds: float, runner: Runner
) -> Bug | Unverified:
    """The bug with a formula reduced for at most ``most`` seconds, and the key by what is left of it.

    A trial counts if the last bad release shows the bug on it and the first good one does not. Slowdowns,
    flaky bugs and what is no bug come back as they are.
    """
    if not isinstance(found, Bug) or found.flaky or found.finding_class == "slowdown":
        return found
    bad, good = (shelf.solver(found.spec(release)) for release in (found.last_bad, found.first_good))
    if bad is None or good is None:
        return found
    symptom = Symptom.of(found)

    def shows(text: str) -> bool:
        runs = ((bad, State.AFFECTED), (good, State.FREE))
        return all(symptom.state(run_text(one, text, "", runner, seconds)) is state for one, state in runs)

    if Key.read(found.bug_key).theories:
        candidate = Candidate(found.finding_class, (found.solver,), found.bug_key, found.solver)
        key = key_of(candidate, found.text, shows, most)
        name, text = key.key, key.text
    else:
        # The place of a crash is its key.
        passes = Passes(found.text, shows, time.monotonic() + most, names=False)
        passes.run(max_rounds=3)
        name, text = found.bug_key, passes.text
    reduced = text if len(text) < len(found.text) else None
    return msgspec.structs.replace(found, bug_key=name, reduced=reduced)
