"""Findings that turn out to have one cause: keyed by their reduced formulas, they merge.

A hunt keys a test by what a quick reduction leaves of it. A full reduction and the affected releases say
more: findings whose keys are one then, and whose releases do not tell them apart, become one. The one that
was seen most stays. What shows the other is counted as showing it again. The other's own test is kept, as
are the tests that were kept with the other, so that releases may tell them apart later; the other's folder
is moved to ``merged``.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from difftest.triage.filing import FindingRecord
from difftest.triage.folder import DUPLICATES, REDUCED, FindingFolder, read_some
from difftest.triage.key import Key, count_under
from difftest.triage.store import duplicates_of, update_finding
from difftest.triage.triggers import MOST_KEPT, Trigger, keep_trigger, read_triggers
from generator.strategy import GeneratedTest

MERGED = "merged"
"""Beside the folder of findings: those that became part of another one."""


@dataclass(frozen=True, slots=True)
class Merge:
    """A finding turned out to have the cause of another one, and is part of that now."""

    kept: FindingRecord
    gone: FindingRecord


def find_merges(records: Sequence[FindingRecord]) -> list[Merge]:
    """What would merge: findings about formulas that are reduced and whose releases do not differ."""
    read = [(record, FindingFolder.read(record.path)) for record in records]
    reduced = [pair for pair in read if pair[1].kind == FindingFolder.kind and pair[1].is_reduced]
    # The one that was seen most stays.
    reduced.sort(key=lambda pair: (-pair[1].duplicates, pair[0].id))
    alike: dict[str, list[tuple[FindingRecord, FindingFolder]]] = {}
    merges = []
    for record, found in sorted(reduced, key=lambda pair: len(pair[1].key)):
        group = alike.setdefault(count_under(_key(found), alike), [])
        same = next((other for other in group if _releases(other[1]) == _releases(found)), None)
        if same is None:
            group.append((record, found))
            continue
        more, less = sorted([(record, found), same], key=lambda pair: (-pair[1].duplicates, pair[0].id))
        if more is not same:
            group[group.index(same)] = more
        merges.append(Merge(more[0], less[0]))
    return merges


def merge(found: Merge) -> None:
    """Make one of two findings: all that is known of the one that goes is kept."""
    kept, gone = FindingFolder.read(found.kept.path), FindingFolder.read(found.gone.path)
    seen = duplicates_of(kept.path)
    there = {trigger.digest for trigger in read_triggers(kept.path)}
    if isinstance(number := gone.test.get("index"), int):
        test = GeneratedTest(number, gone.tested, gone.strategy, origin=gone.origin)
        own = Trigger(test, read_some(gone.path / REDUCED))
        # A merge that was killed may have kept it.
        if own.digest not in there and keep_trigger(kept.path, own):
            there.add(own.digest)
        seen.append(test.listed)
    seen += duplicates_of(gone.path)
    for trigger in read_triggers(gone.path):
        if trigger.digest not in there and len(there) < MOST_KEPT and keep_trigger(kept.path, trigger):
            there.add(trigger.digest)
    listed = "".join(f"{line}\n" for line in dict.fromkeys(seen))
    taken = {**kept.merged, **gone.merged, found.gone.id: found.gone.key}
    merged = [{"id": identity, "key": key} for identity, key in taken.items()]
    update_finding(kept.path, {"merged": merged}, {DUPLICATES: listed})
    move_away(gone.path)


def move_away(gone: Path) -> None:
    """Move the folder of a finding that became part of another one out of the campaign's findings."""
    beside = gone.parent.parent / MERGED
    beside.mkdir(exist_ok=True)
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(beside / gone.name)  # of this finding, found and merged before
    gone.rename(beside / gone.name)


def _key(found: FindingFolder) -> str:
    """The key; if its releases are known and compared, without the one by which it was split off."""
    return str(replace(Key.read(found.key), release="")) if found.bisection else found.key


def _releases(found: FindingFolder) -> tuple[object, object]:
    """The first affected and the first fixed release, which separate causes."""
    bisection = found.bisection
    return bisection.get("first_affected"), bisection.get("first_fixed")
