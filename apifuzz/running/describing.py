"""Further texts of a finding: its calls as a Python program and as an SMT-LIB script, where that can be; who
is wrong; and whether it shows in a solver's safe mode, too.
"""

from __future__ import annotations

from typing import Any

from apifuzz.engines.text import script_of
from apifuzz.running.evidence import REFUTED, weigh
from apifuzz.running.faults import CRASH, Fault
from apifuzz.running.findings import Description
from apifuzz.running.folder import FORMULA, LOG, SCRIPT
from apifuzz.running.releases import MOST_ASKED, ask_older
from apifuzz.running.runs import Runner
from apifuzz.running.safe_mode import ask_safe_mode
from apifuzz.running.setup import Setup
from apifuzz.trace import Trace, print_trace
from base.errors import ExhumeError
from difftest import find_solvers
from difftest.triage.evidence import WITH_MODEL, Evidence
from difftest.triage.expectation import observe
from difftest.triage.folder import BISECTED
from difftest.triage.release_search import kept_states
from solvers.registry import DISTRIBUTIONS, PROFILES

_TEXT_SECONDS = 5.0
_CLASSES = {
    "answer": ("soundness",),
    "model": ("soundness", "invalid-model"),
}


def describe(runner: Runner, trace: Trace, fault: Fault, older: bool = True) -> Description:
    """What is found out about a confirmed error; ``older``: ask older releases, too."""
    found = weigh(runner.setup, trace, fault)
    script = script_of(trace)
    program = runner.program(print_trace(trace), fault)
    kept = _hear_older(found, runner.setup, fault, program) if program and older else ""
    shows = None if script is None else text_shows(script, runner.setup, fault)
    safe = _safe_mode(runner.setup, fault, program, script if shows else None)
    facts = {"guilty": found.culprit, "reason": found.reason, "evidence": found.sentences}
    log = runner.log(program, fault) if program else ""
    texts = {FORMULA: script, SCRIPT: program, LOG: log, WITH_MODEL: found.formula, BISECTED: kept}
    files = {name: text for name, text in texts.items() if text}
    return Description({**facts, "text_shows": shows, **safe}, files)


def _safe_mode(setup: Setup, fault: Fault, program: str | None, script: str | None) -> dict[str, Any]:
    """What ``ask_safe_mode`` says of the program, else of a script that shows it; empty where no solver has
    a safe mode.
    """
    modes = {family: profile.safe_mode for family, profile in PROFILES.items() if profile.safe_mode}
    if not modes.keys() & set(setup.specs):
        return {}
    if program is not None:
        return ask_safe_mode(fault, program)
    if script is None:
        return {"safe_mode": None}

    def safely(spec: str) -> str:
        return f"{spec}[{modes[spec]}]" if spec in modes else spec

    safe = Setup(safely(setup.solver), setup.cross_check and safely(setup.cross_check))
    return {"safe_mode": text_shows(script, safe, fault)}


def _hear_older(found: Evidence, setup: Setup, fault: Fault, program: str) -> str:
    """What older releases of the wrong solver do with the program; where it is not known who is wrong, the
    one before of each. Returns the search for the first affected release, as far as it got.
    """
    if setup.factory is not None:
        return ""
    if REFUTED.search(fault.detail):
        found.note("no older release was asked: the program has the values of this release's model in it")
        return ""
    solvers = [name for name in setup.specs if name in DISTRIBUTIONS]
    if found.culprit is not None:
        solvers = [name for name in solvers if name == found.culprit]
    kept = ""
    for name in solvers:
        asked = ask_older(fault, program, name, MOST_ASKED if found.culprit else 1)
        kept = kept_states(program, asked.states) if found.culprit and asked.states else ""
        for sentence in asked.sentences:
            found.note(sentence)
    return kept


def text_shows(script: str, setup: Setup, fault: Fault) -> bool:
    """Whether the solvers go wrong in the same way when they are given the script as a file."""
    try:
        seen = observe(script, find_solvers(setup.specs), _TEXT_SECONDS)
    except ExhumeError:
        return False
    if fault.kind == CRASH:
        return seen.finding_class == "crash" and seen.location == fault.place
    return seen.finding_class in _CLASSES.get(fault.kind, ())
