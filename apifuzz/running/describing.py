"""Further texts of a finding: its calls as a Python program and as an SMT-LIB script, where that can be."""

from __future__ import annotations

from apifuzz.running.faults import Fault
from apifuzz.running.findings import FORMULA, SCRIPT
from apifuzz.running.runs import Runner
from apifuzz.trace import Trace, TraceError, print_trace
from apifuzz.wrappers.text import translate


def describe(runner: Runner, trace: Trace, fault: Fault) -> dict[str, str]:
    """Texts to put into a finding's folder, by file name."""
    texts = {FORMULA: smtlib_script(trace), SCRIPT: runner.program(print_trace(trace), fault)}
    return {name: text for name, text in texts.items() if text is not None}


def smtlib_script(trace: Trace) -> str | None:
    """The calls of a trace as an SMT-LIB script; None where some cannot be said in SMT-LIB."""
    try:
        translation = translate(trace)
    except TraceError:
        return None
    return None if translation.refused else translation.script
