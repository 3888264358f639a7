"""Crash: a signal, a failed assertion, an internal error, a sanitizer's report."""

from __future__ import annotations

from difftest.triage.classes.base import Expectation, FindingClass
from difftest.triage.folder import FindingFolder
from solvers.report_form import Kind
from solvers.running.crash_places import file_of
from solvers.running.outcomes import Verdict
from solvers.solver import Solver

_ABORT = "abort"
_SIGNALS = {"SIGSEGV": "segmentation fault", "SIGABRT": _ABORT, "SIGFPE": "arithmetic exception"}


class Crash(FindingClass):
    """A solver that dies."""

    name = "crash"
    rank = 10
    colour = 6
    reported_as = Kind.CRASH
    follows_from_options = True

    def is_outcome(self, expected: Expectation, verdict: Verdict) -> bool:
        """Whether it died at the same place, or where it names none, in the same way."""
        here, there = verdict.location, expected.location
        if there is None:
            is_same = here is None and verdict.shape == expected.shape
        elif expected.exact:
            is_same = here == there
        else:
            is_same = file_of(here or "") == file_of(there)
        return is_same and super().is_outcome(expected, verdict)

    def is_shown_by(self, expected: Expectation, solver: Solver, verdict: Verdict) -> bool:
        """Whether the accused died."""
        return solver.name != expected.culprit or str(verdict.outcome) == self.name

    def headline(self, found: FindingFolder) -> str:
        """How it dies, and where if it says so."""
        entry = found.accused
        said = f"{entry.get('detail')} {entry.get('ending')}"
        return crash_headline(said, str(entry.get("location") or ""))

    def expected(self, found: FindingFolder, name: str) -> str:
        """Any answer or error message: a correct solver does not crash."""
        return "An answer, or an error message."


CLASS = Crash()


def crash_headline(said: str, place: str) -> str:
    """How a title calls a crash: by the place of a failed assertion, else the signal and the function."""
    words = next((words for name, words in _SIGNALS.items() if name in said), "crash")
    if not place:
        return words
    if ":" in place.replace("::", ""):
        return f"{'failed assertion' if words in ('crash', _ABORT) else words} at {place}"
    return f"{words} in {place}"
