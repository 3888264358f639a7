"""An overview of the findings of a campaign, and which of them may have the same cause."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from typing import Any

from difftest.triage.folder import FindingFolder
from difftest.triage.key import Key, count_under
from difftest.triage.kinds import title_of


def overview(found: Sequence[FindingFolder]) -> tuple[list[dict[str, Any]], list[tuple[list[str], str]]]:
    """A row per finding, as ``triage --json`` lists it, and groups of ids that may have the same cause, each
    with what they share.
    """
    rows = list(map(finding_row, found))
    groups = [(group, "key") for group in one_key(rows)]
    groups += [(group, "class, theories and releases") for group in maybe_one_cause(rows)]
    groups += [(group, "operators (all have those of the first)") for group in grown_from_one(rows)]
    for row in rows:
        others = {identity for group, _ in groups if row["id"] in group for identity in group}
        row["maybe_same_as"] = sorted(others - {row["id"]})
    return rows, groups


def finding_row(found: FindingFolder) -> dict[str, Any]:
    """One finding as ``triage --json`` lists it; what is not known is null."""
    before, after = found.size
    bisection = found.bisection
    return {
        "id": str(found.data["id"]),
        "class": str(found.data["class"]),
        "kind": found.kind,
        "solver": str(found.data["solver"]),
        "key": found.key,
        "title": title_of(found),
        "theories": list(found.theories),
        "size": before,
        "reduced_size": after,
        "unit": found.unit,
        "complete": found.is_small,
        "guilty": found.data.get("guilty"),
        "reason": str(found.data.get("reason") or ""),
        "first_affected": bisection.get("first_affected"),
        "since_the_oldest": bisection.get("since_the_oldest"),
        "first_fixed": bisection.get("first_fixed"),
        "bisected": bool(bisection),
        "duplicates": found.duplicates,
        "resembles": found.data.get("resembles"),
        "file": found.origin or None,
        "path": str(found.path),
    }


def still_to_do(found: Sequence[FindingFolder], campaign: str) -> list[str]:
    """What was not done yet to the findings of a campaign, each with the command that does it."""
    campaign = shlex.quote(campaign)
    counts = (
        (sum(not folder.is_small for folder in found), "not fully reduced", f"reduce --all {campaign}"),
        (
            sum(not folder.unbisectable and not folder.bisection for folder in found),
            "not bisected",
            f"bisect --all {campaign}",
        ),
        (
            # What a release fixed needs no comparison: nobody reports it.
            sum(
                folder.data.get("resembles") is None and not folder.bisection.get("first_fixed")
                for folder in found
            ),
            "not compared with known issues",
            f"triage {campaign} --corpus FILE",
        ),
    )
    return [f"{n} of {len(found)} findings {what}: exhume {command}" for n, what, command in counts if n]


def one_key(rows: list[dict[str, Any]]) -> list[list[str]]:
    """The ids of findings of hunts whose keys, by their reduced formulas, fold into one as a hunt would fold
    them.
    """
    alike: dict[str, list[str]] = {}
    for row in sorted((row for row in rows if row["kind"] == "formula"), key=lambda row: len(row["key"])):
        alike.setdefault(count_under(row["key"], alike), []).append(row["id"])
    return [group for group in alike.values() if len(group) > 1]


def maybe_one_cause(rows: list[dict[str, Any]]) -> list[list[str]]:
    """The ids of findings with different keys that bisection does not tell apart: the same class, solver and
    theories, the same first affected and first fixed release. Where the releases differ, so do the causes.
    """
    alike: dict[tuple[object, ...], list[str]] = {}
    for row in rows:
        if row["bisected"] and not (row["since_the_oldest"] and row["first_fixed"] is None):
            mark = (row["class"], row["solver"], *row["theories"], row["first_affected"], row["first_fixed"])
            alike.setdefault(mark, []).append(row["id"])
    return [group for group in alike.values() if len(group) > 1]


def grown_from_one(rows: list[dict[str, Any]]) -> list[list[str]]:
    """The ids of findings of hunts whose operators hold all of another one's, that one first; not of those
    that releases tell apart.
    """
    of_key = {row["key"]: row for row in reversed(rows) if row["kind"] == "formula"}
    groups = []
    for root, keys in _grown(of_key).items():
        near = [of_key[key]["id"] for key in keys if not _releases_differ(of_key[root], of_key[key])]
        groups.append([of_key[root]["id"], *near])
    return [group for group in groups if len(group) > 1]


def _grown(keys: Iterable[str]) -> dict[str, list[str]]:
    """Keys that have all that a smaller one has, and more, by that key: what its operators show, theirs may
    show, too. Keys without operators have none below them, nor have keys that are below others.
    """
    found: dict[str, list[str]] = {}
    roots: dict[str, Key] = {}
    read = {key: read for key in keys if not (read := Key.read(key)).release}
    for text, key in sorted(read.items(), key=lambda pair: (len(pair[1].operators), pair[1].size)):
        below = [root for root, other in roots.items() if key.grew_from(other)]
        for root in below:
            found.setdefault(root, []).append(text)
        if key.operators and not below:
            roots[text] = key
    return found


def _releases_differ(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether bisection tells two findings apart."""
    marks = [(row["first_affected"], row["first_fixed"]) for row in (one, other)]
    return one["bisected"] and other["bisected"] and marks[0] != marks[1]
