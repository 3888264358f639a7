"""Findings for programs that show what a run in continuous integration found: SARIF 2.1.0, JUnit XML, and a
summary in Markdown.

All three list findings with the worst first, and the files that only the new build of ``exhume regress``
refuses (``refused``): these are regressions, too, and nothing is filed about them. Text of formulas and
solvers is data in each format: it is escaped, cut, and free of control characters.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

from base.text import counted
from base.version import VERSION
from difftest.triage.classes import class_of_finding, every_class, worst_first
from difftest.triage.folder import FindingFolder
from difftest.triage.kinds import title_of
from difftest.triage.ledger import general_key
from difftest.triage.markdown import fenced, inline, plain, printable

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
FINGERPRINT = "exhumeKey/v1"
REFUSED = "refused"
REFUSED_FILE = "only the new build refuses this file"
_MOST_TEXT = 4_000
# A step's summary on GitHub has at most a megabyte.
_MOST_SHOWN = 10
_MOST_ROWS = 500
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _cut(text: str) -> str:
    text = printable(text).rstrip("\n")
    return text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]}\n... ({len(text) - _MOST_TEXT} more)"


def _address(folder: FindingFolder, campaign: Path) -> str:
    """The path of the formula to show: below the campaign's folder as it was named, if that is relative, so
    that it is relative to where the command ran.
    """
    named = Path(campaign.name) if campaign.is_absolute() or ".." in campaign.parts else campaign
    inside = folder.path.parent.name if folder.path.parent != campaign else ""
    return (named / inside / folder.path.name / folder.reproduction[0]).as_posix()


# SARIF


def to_sarif(campaign: Path, found: Sequence[FindingFolder], refused: Sequence[str] = ()) -> str:
    """The findings as a SARIF log with one run; a rule is a class of findings, or ``refused``.

    Source: OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0.
    """
    named = {one.name: one for one in map(class_of_finding, found)}
    classes = sorted(named.values(), key=lambda one: (one.rank, one.name))
    places = {one.name: place for place, one in enumerate(classes)}
    rules = [
        _sarif_rule(one.name, f"{one.name.replace('-', ' ')} of an SMT solver", one.level) for one in classes
    ]
    results = [_sarif_result(folder, campaign, places) for folder in worst_first(found)]
    if refused:
        rules.append(_sarif_rule(REFUSED, REFUSED_FILE, "error"))
        results += [_sarif_refused(file, len(classes)) for file in refused]
    driver = {"name": "exhume", "version": VERSION, "semanticVersion": VERSION, "rules": rules}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    log = {"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2) + "\n"


def _sarif_rule(name: str, about: str, level: str) -> dict[str, Any]:
    return {
        "id": name,
        "name": "".join(word.capitalize() for word in name.split("-")),
        "shortDescription": {"text": about},
        "defaultConfiguration": {"level": level},
    }


def _sarif_location(address: str, lines: int) -> dict[str, Any]:
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(os.fsencode(address))},
            "region": {"startLine": 1, "endLine": lines},
        }
    }


def _sarif_result(folder: FindingFolder, campaign: Path, places: Mapping[str, int]) -> dict[str, Any]:
    data = folder.data
    name = str(data["class"])
    lines = printable(folder.reproduction[1]).count("\n") + 1
    location = _sarif_location(_address(folder, campaign), lines)
    if place := folder.crash_place:
        location["logicalLocations"] = [{"fullyQualifiedName": printable(place)}]
    text = "\n\n".join(filter(None, (title_of(folder), folder.reason, *folder.evidence)))
    return {
        "ruleId": name,
        "ruleIndex": places[name],
        "level": class_of_finding(folder).level,
        "message": {"text": _cut(text)},
        "locations": [location],
        # The alert stays the same one when the release changes.
        "partialFingerprints": {FINGERPRINT: _digest(general_key(folder.key))},
        "properties": {
            "id": str(data["id"]),
            "key": printable(folder.key),
            "solver": printable(str(data["solver"])),
            "theories": list(folder.theories),
            "duplicates": folder.duplicates,
        },
    }


def _sarif_refused(file: str, place: int) -> dict[str, Any]:
    # The file's own path if it is in the working folder: an address has to be relative.
    named = Path(file).relative_to(Path.cwd()) if Path(file).is_relative_to(Path.cwd()) else Path(file).name
    return {
        "ruleId": REFUSED,
        "ruleIndex": place,
        "level": "error",
        "message": {"text": f"{REFUSED_FILE}: {printable(file)}"},
        "locations": [_sarif_location(str(named), 1)],
        "partialFingerprints": {FINGERPRINT: _digest(f"{REFUSED}|{file}")},
    }


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode(errors="replace")).hexdigest()


# JUnit


def to_junit(
    name: str, found: Sequence[FindingFolder], seconds: float = 0.0, refused: Sequence[str] = ()
) -> str:
    """The findings as a JUnit test suite: a failure for each, and for each refused file, and a passed test
    for each class without.
    """
    suites = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(suites, "testsuite", name=_xml(name))
    for folder in worst_first(found):
        kind = _xml(str(folder.data["class"]))
        title = f"{title_of(folder)} ({folder.data['id']})"
        case = ElementTree.SubElement(suite, "testcase", classname=f"exhume.{kind}", name=_xml(title))
        failure = ElementTree.SubElement(case, "failure", type=kind, message=_xml(folder.reason or title))
        failure.text = _xml("\n\n".join((folder.key, _cut(folder.reproduction[1]), *_printed(folder))))
    for file in refused:
        case = ElementTree.SubElement(suite, "testcase", classname=f"exhume.{REFUSED}", name=_xml(file))
        ElementTree.SubElement(case, "failure", type=REFUSED, message=REFUSED_FILE)
    shown = {str(folder.data["class"]) for folder in found}
    quiet = [one.name for one in every_class() if one.kind == "formula" and one.name not in shown]
    for kind in quiet:
        ElementTree.SubElement(suite, "testcase", classname=f"exhume.{kind}", name=f"no {kind}")
    failures = len(found) + len(refused)
    counts = {"tests": failures + len(quiet), "failures": failures, "errors": 0, "skipped": 0}
    for element in (suites, suite):
        element.attrib.update({key: str(count) for key, count in counts.items()})
        element.set("time", f"{seconds:.3f}")
    ElementTree.indent(suites)
    text = ElementTree.tostring(suites, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _xml(text: str) -> str:
    """Text with only what XML 1.0 allows; the serialiser escapes it."""
    return _NOT_XML.sub("\ufffd", text)


def _printed(folder: FindingFolder) -> Iterator[str]:
    """The command line of each solver with what it printed."""
    for entry in folder.solvers:
        name = str(entry.get("name"))
        printed, ending = folder.printed(name)
        yield _cut(f"$ {folder.command(name)}\n{printed}\n[{ending}]")


# Markdown


def to_markdown(
    title: str, facts: Sequence[tuple[str, str]], found: Sequence[FindingFolder], campaign: Path
) -> str:
    """A summary for people: ``facts``, a table of the findings, and the worst of them with their formulas."""
    lines = [f"## {plain(title)}", ""]
    lines += [f"- {plain(label)}: {plain(value)}" for label, value in facts]
    counts = Counter(str(folder.data["class"]) for folder in found)
    said = ", ".join(f"{count} {plain(name)}" for name, count in sorted(counts.items()))
    lines += ["", f"**{counted(len(found), 'finding')}**{': ' * bool(said)}{said}", ""]
    if not found:
        return "\n".join(lines)
    ordered = worst_first(found)
    lines += ["| class | solver | title | folder |", "| --- | --- | --- | --- |"]
    for folder in ordered[:_MOST_ROWS]:
        cells = [str(folder.data["class"]), str(folder.data["solver"]), title_of(folder), folder.path.name]
        lines.append("| " + " | ".join(plain(cell).replace("|", "\\|") for cell in cells) + " |")
    if len(found) > _MOST_ROWS:
        lines += ["", f"{len(found) - _MOST_ROWS} more are in the folder."]
    for folder in ordered[:_MOST_SHOWN]:
        lines += ["", f"<details><summary>{plain(title_of(folder))}</summary>", ""]
        lines += [plain(folder.reason), ""] if folder.reason else []
        lines += [fenced(_cut(folder.reproduction[1]), folder.language), ""]
        lines += [fenced(text, "console") for text in _printed(folder)]
        lines += ["", f"Folder: {inline(_address(folder, campaign))}", "", "</details>"]
    return "\n".join(lines) + "\n"
