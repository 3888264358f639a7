"""Incompleteness: unknown, where the answer is known from an older release or from another formula."""

from __future__ import annotations

from difftest.reduction.pairs import follows_by
from difftest.triage.classes.base import FindingClass
from difftest.triage.folder import FindingFolder
from difftest.triage.markdown import inline
from solvers.report_form import Kind

# Why the formula has the answer of the one that it was made from.
_FOLLOWS = {
    "sat": "the formula that it was weakened from is satisfiable, and a model of that one is one of this",
    "unsat": "the formula that it was strengthened from is unsatisfiable, and a model of this would be one of"
    " that",
}


class Incompleteness(FindingClass):
    """A solver that gives up."""

    name = "incompleteness"
    rank = 40
    level = "warning"
    reward = 0.05
    colour = 3
    reported_as = Kind.INCOMPLETENESS
    # A solver gives up on theories and their mixtures: a hunt through quantified tests had 36 sets of
    # operators of one release's.
    keyed_by_operators = False

    def headline(self, found: FindingFolder) -> str:
        """Its answer."""
        return "unknown"

    def expected(self, found: FindingFolder, name: str) -> str:
        """The answer, if it is known."""
        if found.data.get("oracle") == "implication":
            follows = follows_by(found.data.get("evidence") or ())
            return f"`{follows}`: {_FOLLOWS[follows]}." if follows else f"An answer. {found.reason}".rstrip()
        better = str(found.better.get("name", ""))
        said = found.answers.get(better)
        if said in ("sat", "unsat"):
            return f"`{said}`, as {inline(better)} answers."
        return f"An answer. {found.reason}".rstrip()


CLASS = Incompleteness()
