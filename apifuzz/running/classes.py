"""The classes of findings about calls: one per kind of fault."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import cast

from apifuzz.running.folder import CallsFolder
from difftest.triage.classes import add
from difftest.triage.classes.base import FindingClass
from difftest.triage.classes.crash import crash_headline
from difftest.triage.folder import FindingFolder
from difftest.triage.markdown import plain
from solvers.report_form import Kind
from solvers.running.outcomes import opposite


class CallsClass(FindingClass):
    """A kind of fault: what a report says of it. ``right`` is what the solver should do."""

    kind = CallsFolder.kind
    most_misses = 5

    def __init__(self, name: str, rank: int, colour: int, kind: str, title: str, right: str) -> None:
        self.name, self.rank, self.colour, self.reported_as = name, rank, colour, Kind(kind)
        self._title, self._right = title, right

    def headline(self, found: FindingFolder) -> str:
        """What goes wrong, and in which call."""
        return f"{self._title} in {_calls(found).call}"

    def expected(self, found: FindingFolder, name: str) -> str:
        """What a correct solver does."""
        return f"{self._right}{_because(found, name)}"


class _Crash(CallsClass):
    """A solver that dies."""

    def headline(self, found: FindingFolder) -> str:
        """How, and where if it says so."""
        calls = _calls(found)
        return crash_headline(calls.detail, calls.place)


class _Answer(CallsClass):
    """A wrong answer."""

    def headline(self, found: FindingFolder) -> str:
        """The wrong answer, where it is known who is wrong."""
        return f"wrong {found.wrong_answer}" if found.wrong_answer else super().headline(found)

    def expected(self, found: FindingFolder, name: str) -> str:
        """The other answer, where it is known who is wrong."""
        if wrong := found.wrong_answer:
            return f"`{opposite(wrong)}`.{_because(found, name)}"
        return super().expected(found, name)


def _calls(found: FindingFolder) -> CallsFolder:
    return cast(CallsFolder, found)


def _because(found: FindingFolder, name: str) -> str:
    """Why it is thought who is wrong."""
    reason = str(found.data.get("reason") or "")
    return f" {plain(name)}: {plain(reason)}." if reason else ""


_OTHERS = {"answer": _Answer, "crash": _Crash}

for _name, _row in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8")).items():
    add(_OTHERS.get(_name, CallsClass)(_name, **_row))
