"""Crash: a signal, a failed assertion, an internal error, a sanitizer's report."""

from __future__ import annotations

from difftest.triage.classes.base import Expectation, FindingClass
from difftest.triage.folder import FindingFolder
from difftest.triage.markdown import inline
from solvers.running.crash_places import file_of
from solvers.running.outcomes import Verdict
from solvers.specs import Solver

_SIGNALS = {"SIGSEGV": "Segmentation fault", "SIGABRT": "Abort signal", "SIGFPE": "Arithmetic exception"}


class Crash(FindingClass):
    """A solver that dies."""

    name = "crash"
    rank = 10
    colour = 6
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

    def title_name(self, found: FindingFolder) -> str:
        """Whether it names its place."""
        return "crash" if found.accused.get("location") else "death"

    def describe(self, found: FindingFolder, name: str) -> str:
        """Where and how it dies."""
        location = found.accused.get("location")
        said = inline(str(found.accused.get("detail", "")).partition("\n")[0])
        place = f" at {inline(str(location))}" if location else ""
        return f"{name} {crashes(said)}{place} on the formula below: {said}"

    def expected(self, found: FindingFolder, name: str) -> str:
        """Any answer or error message: a correct solver does not crash."""
        return "An answer, or an error message."


CLASS = Crash()


def crashes(said: str) -> str:
    """The verb of a crash, with its signal if the solver's ending ``said`` one."""
    return f"crashes ({death_words(said, '').lower()})" if "SIG" in said else "crashes"


def death_words(detail: str, ending: str) -> str:
    """What a crash without a place is called."""
    return next((words for name, words in _SIGNALS.items() if name in detail or name in ending), "Crash")
