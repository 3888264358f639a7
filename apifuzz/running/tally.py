"""Counts of a campaign, and the file that keeps them from one run of it to the next."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from apifuzz.running.runs import RunResult
from base.documents import from_document, to_document
from base.files import put_json
from difftest.campaign.stored import NoCampaign, SettingsDiffer

FILE = "apifuzz.json"
FORMAT = 1

KINDS = ("states", "tried", "refused", "idle", "operators", "sorts", "options", "fed", "answers")
"""The counts that a run brings along."""


@dataclass(slots=True)
class Tally:
    """Counts over runs. ``done`` holds runs beyond ``first``, the number below which all are done.

    ``errors`` counts the errors of runs by kind, before anything else is known of them; ``seen`` the runs per
    key that were counted under it, ``looks`` how many errors that begin alike were looked at, ``missed`` how
    many of these did not show again, and ``first_key`` what the first that did came to.
    """

    first: int = 0
    done: set[int] = field(default_factory=set)
    runs: int = 0
    calls: int = 0
    seconds: float = 0.0
    solver_seconds: float = 0.0
    unconfirmed: int = 0
    duplicates: int = 0
    known: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)
    seen: Counter[str] = field(default_factory=Counter)
    looks: Counter[str] = field(default_factory=Counter)
    first_key: dict[str, str] = field(default_factory=dict)
    statistics: dict[str, Counter[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for kind in KINDS:
            self.statistics.setdefault(kind, Counter())

    def count(self, number: int, result: RunResult) -> None:
        """A run is done."""
        self.done.add(number)
        while self.first in self.done:
            self.done.discard(self.first)
            self.first += 1
        self.runs += 1
        self.calls += result.calls
        self.solver_seconds += result.seconds
        self.outcomes[result.outcome] += 1
        if result.fault:
            self.errors[result.fault.kind] += 1
        for kind, counts in result.statistics.items():
            if kind in self.statistics:
                self.statistics[kind].update(counts)

    def is_done(self, number: int) -> bool:
        """Whether a run was counted already."""
        return number < self.first or number in self.done


def read(out: Path) -> tuple[dict[str, Any], Tally]:
    """What the campaign in ``out`` was begun with, and its counts; NoCampaign where that cannot be read."""
    file = out / FILE
    try:
        data = json.loads(file.read_text("utf-8"))
        if data["format"] != FORMAT:
            raise ValueError(f"format {data['format']}")
        return dict(data["settings"]), from_document(data["counts"], Tally)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as problem:
        raise NoCampaign(f"{file}: no campaign can be read there: {problem}") from problem


def load(out: Path, settings: Mapping[str, Any]) -> Tally:
    """What the campaign in ``out`` has counted; new where there is none.

    Raises SettingsDiffer where it was begun with others, NoCampaign where its file cannot be read.
    """
    if not (out / FILE).exists():
        return Tally()
    stored, tally = read(out)
    for name, value in json.loads(json.dumps(dict(settings))).items():
        if stored.get(name) != value:
            raise SettingsDiffer(
                f"{out}: the campaign there was begun with {name} {stored.get(name)!r}, not {value!r};"
                " give these, or another folder"
            )
    return tally


def save(out: Path, settings: Mapping[str, Any], tally: Tally) -> None:
    """Keep the counts, whole or not at all."""
    put_json(out / FILE, {"format": FORMAT, "settings": dict(settings), "counts": to_document(tally)})


def called(trace: str) -> Counter[str]:
    """The calls per action in a trace's text, for a run that could not count them itself."""
    return Counter(_actions(trace.splitlines()))


def _actions(lines: Iterable[str]) -> Iterable[str]:
    for line in lines:
        words = line.split(None, 2)
        if len(words) >= 2 and words[0].isdigit():
            yield words[1]
