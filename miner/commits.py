"""The commits that an issue names: of the build that shows the bug, of its fix and of its cause."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from corpus.records import Reasoned
from miner.extract import Extraction
from miner.failing import FormulaRun
from miner.hits import Hit, in_comment, strongest


@dataclass(frozen=True, slots=True)
class Commits:
    """The commits of an issue, each if it is known. A fix may be a pull request, such as ``#4711``."""

    affected: Reasoned | None
    fixed_by: Reasoned | None
    introduced_by: Reasoned | None


def commits_of(
    extraction: Extraction,
    hits: Mapping[str, list[Hit]],
    failing: Sequence[FormulaRun],
) -> Commits:
    """The commits of an issue, by what the rules found and by the program names of its failing runs."""
    fixed_by = _numbered(strongest(_fixes(hits["fixed-by"], extraction)))
    introduced_by = strongest(hits["introduced-by"])
    others = [one.value for one in (fixed_by, introduced_by) if one is not None]
    named = [hit for hit in hits["commit"] if not hit[1].value.startswith(tuple(others))]
    named = [hit for hit in named if not in_comment(hit)] or named
    affected = strongest(named) or next(filter(None, map(_commit_of, failing)), None)
    return Commits(
        affected=in_full(affected, extraction),
        fixed_by=in_full(fixed_by, extraction),
        introduced_by=in_full(introduced_by, extraction),
    )


_COMMIT_IN_NAME = re.compile(r"-g?(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)([0-9a-f]{7,40})\b")


def _commit_of(run: FormulaRun) -> Reasoned | None:
    """The commit in the program name of a failing run."""
    found = _COMMIT_IN_NAME.search(run.invocation.program) if run.invocation else None
    return Reasoned(found[1], found.string, "output", "failing-run") if found else None


def _fixes(hits: Iterable[Hit], extraction: Extraction) -> list[Hit]:
    """What fixes the issue. A commit alone is the fix, but not if the comment shows a run of it, or if the
    report names it.
    """
    report = extraction.prose["title"] + extraction.prose["body"]
    with_code = {one.where for one in extraction.blocks if one.block.is_code}
    return [
        hit
        for hit in hits
        if hit[1].rule != "fixed-by-alone" or not (hit[1].where in with_code or hit[1].value in report)
    ]


def _numbered(found: Reasoned | None) -> Reasoned | None:
    """A pull request that is named by its address gets its sign."""
    if found is not None and found.value.isdecimal() and len(found.value) < 7:
        return replace(found, value=f"#{found.value}")
    return found


_FULL_HASH = re.compile(r"/commit/([0-9a-f]{40})(?![0-9a-f])")
_HASH_START = re.compile(r"[0-9a-f]{7,39}")


def in_full(found: Reasoned | None, extraction: Extraction) -> Reasoned | None:
    """A commit with its full hash, if the texts of the issue give the address of only one that starts so."""
    if found is None or not _HASH_START.fullmatch(found.value):
        return found
    spelled = {one for text in extraction.prose.values() for one in _FULL_HASH.findall(text)}
    full = [one for one in spelled if one.startswith(found.value)]
    return replace(found, value=full[0]) if len(full) == 1 else found
