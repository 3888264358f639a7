"""Further texts of a finding: its calls as an SMT-LIB script, where SMT-LIB can say them."""

from __future__ import annotations

from apifuzz.running.findings import FORMULA
from apifuzz.running.setup import Setup
from apifuzz.trace import Trace, TraceError
from apifuzz.wrappers.text import translate


def describe(setup: Setup, trace: Trace) -> dict[str, str]:
    """Texts to put into a finding's folder, by file name."""
    script = smtlib_script(trace)
    return {} if script is None else {FORMULA: script}


def smtlib_script(trace: Trace) -> str | None:
    """The calls of a trace as an SMT-LIB script; None where some cannot be said in SMT-LIB."""
    try:
        translation = translate(trace)
    except TraceError:
        return None
    return None if translation.refused else translation.script
