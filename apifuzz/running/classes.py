"""The classes of findings about calls: one per kind of fault."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from apifuzz.running.folder import CallsFolder
from difftest.triage.classes import add
from difftest.triage.classes.base import FindingClass
from difftest.triage.classes.crash import crashes
from difftest.triage.folder import FindingFolder
from difftest.triage.markdown import inline, plain


class CallsClass(FindingClass):
    """A kind of fault: what a report says of it.

    ``said`` follows the solver's name, ``right`` is what it should do. ``like`` is the class of
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
        """What a correct solver does."""
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
        message = f": {said}" if calls.message else "."
        return f"{name} {crashes(said)}{where} in `{calls.call}`, after the calls below{message}"


class _Answer(CallsClass):
    """A wrong answer."""

    def title_name(self, found: FindingFolder) -> str:
        """By the wrong answer, where it is known who is wrong."""
        return {"sat": "wrong_sat", "unsat": "wrong_unsat"}.get(found.wrong_answer or "", "soundness")

    def describe(self, found: FindingFolder, name: str) -> str:
        """The wrong answer, or that solvers disagree."""
        if found.culprit is None and found.answers:
            said = inline(_calls(found).detail.partition("\n")[0])
            return f"Solvers disagree after the calls below: {said}. It is not known yet which is wrong."
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


_OTHERS = {"answer": _Answer, "crash": _Crash, "model": _Model}

for _name, _row in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8")).items():
    add(_OTHERS.get(_name, CallsClass)(_name, **_row))
