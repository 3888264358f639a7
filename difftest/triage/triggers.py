"""Some of the tests that were counted under a finding's key although they are not its own: ``triggers.jsonl``
in the finding's folder, a line per test.

A key says what a test shows, not why. Of the tests that a hunt reduced to find their key, a few are kept with
what was left of them, so that other releases may tell them apart later (``difftest.triage.splitting``).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from generator.strategy import GeneratedTest

FILE = "triggers.jsonl"
MOST_KEPT = 8
_MOST_BYTES = 1 << 18


@dataclass(frozen=True, slots=True)
class Trigger:
    """A test, and what a quick reduction left of its text."""

    test: GeneratedTest
    reduced: str

    @property
    def digest(self) -> str:
        """Names the reduced text."""
        return hashlib.sha256(self.reduced.encode("utf-8", "surrogateescape")).hexdigest()


def keep_trigger(folder: Path, trigger: Trigger) -> None:
    """Add a test to those of a finding's folder; one that takes more than 256 KiB is left out."""
    line = json.dumps({"test": asdict(trigger.test), "reduced": trigger.reduced})
    if len(line) <= _MOST_BYTES:
        with (folder / FILE).open("a", encoding="utf-8") as handle:
            handle.write(f"{line}\n")


def read_triggers(folder: Path) -> Iterator[Trigger]:
    """The tests kept in a finding's folder; lines that cannot be read are passed over."""
    try:
        with (folder / FILE).open("rb") as handle:
            data = handle.read((MOST_KEPT + 1) * _MOST_BYTES)
    except OSError:
        return
    for line in data.splitlines():
        try:
            read = json.loads(line)
            yield Trigger(GeneratedTest(**_with_tuples(read["test"])), str(read["reduced"]))
        except (ValueError, KeyError, TypeError, AttributeError):
            continue


def _with_tuples(fields: dict[str, Any]) -> dict[str, Any]:
    """With the tuples that JSON made lists of."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}
