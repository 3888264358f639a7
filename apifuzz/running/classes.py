"""The classes of findings about calls: one per kind of fault."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from apifuzz.running.folder import CallsFolder
from difftest.triage.classes import add
from difftest.triage.classes.base import FindingClass
from difftest.triage.classes.crash import death_words
from difftest.triage.folder import FindingFolder
from difftest.triage.markdown import inline, plain


class CallsClass(FindingClass):
    """A kind of fault: what a report says of it.

    ``said`` goes on after the solver's name, ``right`` is what it should do. ``like`` is the class of
    findings about formulas whose words trackers use for it.
    """

    kind = CallsFolder.kind
    most_misses = 5

    def __init__(
        self, name: str, rank: int, colour: int, title: str, said: str, right: str, like: str = ""
    ) -> None:
        self.name, self.rank, self.colour, self.like = name, rank, colour, like
        self._title, self._said, self._right = title, said, right

    @property
    def title(self) -> str:
        """The title, with the call; ``{owner}`` names the solver where the tracker is not its own."""
        return "{owner}" + self._title + " ({call})"

    def category(self, categories: Mapping[str, str]) -> str:
        """The word for the class that it is like."""
        return categories.get(self.like, "Other") if categories else ""

    def describe(self, found: FindingFolder, name: str) -> str:
        """What goes wrong after the calls."""
        said = inline(_calls(found).detail.partition("\n")[0])
        return f"{name} {self._said} after the calls below: {said}"

    def expected(self, found: FindingFolder, name: str) -> str:
        """What is right."""
        return f"{self._right}{_because(found, name)}"


class _Crash(CallsClass):
    """A solver that dies."""

    def title_name(self, found: FindingFolder) -> str:
        """Whether it names its place."""
        return "crash" if _calls(found).place else "death"

    def describe(self, found: FindingFolder, name: str) -> str:
        """Where, in which call, and how."""
        calls = _calls(found)
        said = inline(calls.detail.partition("\n")[0])
        where = f" at {inline(calls.place)}" if calls.place else ""
        how = f"dies of a {death_words(calls.detail, '').lower()}" if "SIG" in said else "crashes"
        told = f": {said}" if calls.message else "."
        return f"{name} {how}{where} in `{calls.call}`, after the calls below{told}"


class _Answer(CallsClass):
    """A wrong answer."""

    def title_name(self, found: FindingFolder) -> str:
        """By the wrong answer, where it is known who is wrong."""
        return {"sat": "wrong_sat", "unsat": "wrong_unsat"}.get(found.wrong_answer or "", "soundness")

    def describe(self, found: FindingFolder, name: str) -> str:
        """The wrong answer, or that solvers disagree."""
        if found.guilty is None and found.answers:
            said = inline(_calls(found).detail.partition("\n")[0])
            return f"Solvers disagree after the calls below: {said}. Who is wrong is not known yet."
        if wrong := found.wrong_answer:
            right = "unsatisfiable" if wrong == "sat" else "satisfiable"
            return f"{name} answers `{wrong}` after the calls below, and what is asserted is {right}."
        return super().describe(found, name)

    def expected(self, found: FindingFolder, name: str) -> str:
        """The other answer, where it is known who is wrong."""
        if wrong := found.wrong_answer:
            return f"`{'unsat' if wrong == 'sat' else 'sat'}`.{_because(found, name)}"
        return super().expected(found, name)


class _Model(CallsClass):
    """Values that do not satisfy the assertions."""

    def title_name(self, found: FindingFolder) -> str:
        """That of an invalid model."""
        return "invalid_model"


def _calls(found: FindingFolder) -> CallsFolder:
    return cast(CallsFolder, found)


def _because(found: FindingFolder, name: str) -> str:
    """Why it is thought who is wrong."""
    reason = str(found.data.get("reason") or "")
    return f" {plain(name)}: {plain(reason)}." if reason else ""


add(
    _Answer(
        "answer", 1, 5, "Wrong answer", "contradicts itself",
        "The same answer whoever is asked, and however.", "soundness",
    ),
    _Crash(
        "crash", 10, 6, "Crash", "crashes", "An answer, or a message that it cannot be given.", "crash",
    ),
    _Model(
        "model", 21, 2, "Invalid model", "gives values that do not satisfy the assertions",
        "Values that satisfy the assertions.", "invalid-model",
    ),
    CallsClass(
        "core", 22, 2, "Wrong unsat core", "gives an unsat core that is wrong",
        "An unsat core that is unsatisfiable, of what was asserted.", "invalid-model",
    ),
    CallsClass(
        "assumptions", 23, 2, "Wrong failed assumptions", "gives failed assumptions that are wrong",
        "Failed assumptions that cannot all be true, of those that were made.", "invalid-model",
    ),
    CallsClass(
        "interpolant", 24, 2, "Wrong interpolant", "gives an interpolant that is wrong",
        "An interpolant that follows from the one side and contradicts the other.",
    ),
    CallsClass(
        "value", 25, 2, "Wrong value", "gives a wrong value",
        "A value of the term's sort, the same each time it is asked for.", "invalid-model",
    ),
    CallsClass(
        "sort", 30, 7, "Term of the wrong sort", "gives a term the wrong sort",
        "A term of the sort that its operator has.",
    ),
    CallsClass(
        "term", 31, 7, "Wrong children or operator of a term", "says of a term what it was not made of",
        "A term that says what it was made of.",
    ),
    CallsClass(
        "print", 32, 7, "Printed term does not read back", "prints a term that does not read back",
        "A printed term that reads back as the same term.",
    ),
    CallsClass(
        "levels", 33, 7, "Wrong number of levels", "says a wrong number of levels",
        "As many levels as were pushed and not popped.",
    ),
    CallsClass(
        "rejected", 35, 3, "Call rejected that should be allowed", "rejects a call that should be allowed",
        "The call is one that the solver's documentation allows: it should be accepted.",
    ),
    CallsClass(
        "leak", 60, 1, "Memory leak", "does not give memory back",
        "Memory that is given back when the solver instance is deleted.",
    ),
    CallsClass(
        "internal", 90, 4, "internal", "internal",
        "This is a fault of exhume's own, not of the solver.",
    ),
)  # fmt: skip
