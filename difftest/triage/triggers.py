"""Some of the tests that were counted under a finding's key although they are not its own: ``triggers.jsonl``
in the finding's folder, a line per test.

A key says what a test shows, not why. Of the tests that a hunt reduced to find their key, a few are kept with
what was left of them, so that other releases may tell them apart later (``difftest.triage.splitting``).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from base.documents import from_document, to_document
from base.files import append_lines
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


def keep_trigger(folder: Path, trigger: Trigger) -> bool:
    """Add a test to those of a finding's folder; whether it was: one that takes more than 256 KiB is not."""
    line = json.dumps(to_document(trigger))
    if len(line) > _MOST_BYTES:
        return False
    append_lines(folder / FILE, line)
    return True


def read_triggers(folder: Path) -> Iterator[Trigger]:
    """The tests kept in a finding's folder; lines that cannot be read are skipped."""
    try:
        with (folder / FILE).open("rb") as handle:
            data = handle.read((MOST_KEPT + 1) * _MOST_BYTES)
    except OSError:
        return
    for line in data.splitlines():
        try:
            yield from_document(json.loads(line), Trigger)
        except (ValueError, RecursionError):
            continue
