"""Whether a report should be sent: what the maintainers wrote about such reports, and what is known already,
in the ledger, in the corpus of past issues, and among the reports beside it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from corpus.store import Corpus
from difftest.errors import DifftestError
from difftest.triage.checking import Complaint, complaints_about, family_of
from difftest.triage.folder import DOCUMENT, REPORT, FindingFolder
from difftest.triage.history import Sought, resembled, telling_operators
from difftest.triage.ledger import Ledger, tells_of_memory
from difftest.triage.written import Written
from solvers.registry import PROFILES, form_of
from solvers.report_form import Fact, Form, Kind, Policy, Section

_LIKELY = 0.6
"""The least score of an issue that is named."""
_MOST_ISSUES = 3
_CLASSES = {Kind.ANSWER: "soundness", Kind.MODEL: "invalid-model", Kind.CRASH: "crash"}
_CLASS = re.compile(r"\((regular|expert|experimental)\)")
_OPTION = re.compile(r"`(?:--|\(set-option :)?([\w.:-]+)")
_FRAME = re.compile(r"#\d+\s+(\S+)")
_SOURCE = re.compile(r"[\w-]+\.(?:cpp|cc|c|h):\d+")


@dataclass(frozen=True, slots=True)
class CheckedReport:
    """A report with its file, and all that is to be done before it is sent."""

    file: Path
    complaints: tuple[Complaint, ...]


def reports_in(paths: Iterable[Path]) -> list[Path]:
    """The reports at these paths: files, folders of findings, and folders (or campaigns) of such folders.
    DifftestError for a path without any.
    """
    found: list[Path] = []
    for path in paths:
        inside = path / "findings" if (path / "findings").is_dir() else path
        files = [path] if path.is_file() else [path / REPORT]
        if not files[0].is_file():
            files = sorted(inside.glob(f"*/{REPORT}"))
        if not files:
            raise DifftestError(f"{path}: no {REPORT} there; name a report, a finding or a campaign")
        found += files
    return list(dict.fromkeys(found))


def check_reports(files: Iterable[Path], ledger: Ledger, corpus: Corpus | None) -> list[CheckedReport]:
    """Check each report by itself, and all together. DifftestError if one cannot be read."""
    reports = {file: Written.read(file) for file in files}
    found: dict[Path, list[Complaint]] = {file: list(complaints_about(r)) for file, r in reports.items()}
    for file, report in reports.items():
        finding = FindingFolder.read(file.parent) if (file.parent / DOCUMENT).is_file() else None
        found[file] += [Complaint("policy", what) for what in _policies(report)]
        found[file] += [Complaint("ledger", what) for what in _in_ledger(finding, report, ledger)]
        if corpus is not None:
            found[file] += [Complaint("known issue", what) for what in _in_corpus(finding, report, corpus)]
    for file, what in (*_twice(reports), *_too_many(reports)):
        found[file].append(Complaint("together", what))
    return [CheckedReport(file, tuple(complaints)) for file, complaints in found.items()]


def _form(report: Written) -> Form:
    return form_of(family_of(report))


def _policies(report: Written) -> Iterator[str]:
    """What the maintainers wrote about such reports."""
    for policy in _form(report).policies:
        if _applies(policy, report):
            yield f"{policy.says} ({policy.source})"
    if tells_of_memory(report.section(Section.ACTUAL)):
        yield "memory is written or read where it must not be: report it in private first"


def _applies(policy: Policy, report: Written) -> bool:
    options = report.facts.get(Fact.OPTIONS, "")
    text = f"{options}\n{report.section(Section.COMMAND)}\n{report.input.text}"
    return (
        (policy.pattern is None or policy.pattern.search(text) is not None)
        and (not policy.classes or bool(set(policy.classes) & set(_CLASS.findall(options))))
        and (not policy.kinds or report.kind in policy.kinds)
    )


def _in_ledger(finding: FindingFolder | None, report: Written, ledger: Ledger) -> Iterator[str]:
    """The entry of the finding's key, or of a report with this title."""
    entry = ledger.silencing_finding(finding) if finding is not None else None
    entry = entry or next((one for one in ledger.entries if one.title == report.title != ""), None)
    if entry is not None:
        yield f"the ledger lists it: {entry}"


def _in_corpus(finding: FindingFolder | None, report: Written, corpus: Corpus) -> Iterator[str]:
    """Issues that are probably about the same fault and that the report does not name."""
    sought = _sought(finding, report)
    if not telling_operators(sought.text):
        # Any formula of Booleans is like any other.
        sought = replace(sought, text="")
    for near in resembled(corpus, sought)[:_MOST_ISSUES]:
        number = near.issue.rpartition("#")[2]
        named = re.search(rf"#{number}\b|/{number}\b", report.section(Section.NOTES))
        if near.score >= _LIKELY and not named:
            title = f", {near.title!r}" if near.title else ""
            yield f"look at {near.issue}{title}: {near.why}; name it in the notes if it is related"


def _sought(finding: FindingFolder | None, report: Written) -> Sought:
    """What is looked for of a report: that of its finding, if there is one."""
    if finding is not None:
        return replace(Sought.of(finding), bug_class=str(finding.data["class"]))
    printed = report.section(Section.ACTUAL)
    frame = _FRAME.search(report.section(Section.STACK))
    source = _SOURCE.search(f"{report.title}\n{printed}")
    place = source[0] if source else frame[1] if frame else None
    text = report.input.text if report.input.language == "smt2" else ""
    message = next((line for line in printed.splitlines() if re.search("rror|ssert|atal|VIOL", line)), "")
    options = tuple(_OPTION.findall(report.facts.get(Fact.OPTIONS, "")))
    kind = _CLASSES.get(report.kind, "") if report.kind else ""
    return Sought(family_of(report), place, message, report.kind is Kind.CRASH, text, options, kind)


def _twice(reports: Mapping[Path, Written]) -> Iterator[tuple[Path, str]]:
    """Reports of one input, or of crashes in one function: one cause is one report."""
    seen: dict[tuple[str, ...], Path] = {}
    for file, report in reports.items():
        stack = _FRAME.findall(report.section(Section.STACK))
        marks = [("input", report.input.text)] if report.input.text else []
        marks += [("stack", family_of(report), *stack[:2])] if len(stack) > 1 else []
        for mark in marks:
            other = seen.setdefault(mark, file)
            if other != file:
                yield file, f"the same {mark[0]} as {other}: one cause is one report"


def _too_many(reports: Mapping[Path, Written]) -> Iterator[tuple[Path, str]]:
    """More reports for a tracker than its maintainers take in a week."""
    for_tracker: dict[str, list[Path]] = defaultdict(list)
    for file, report in reports.items():
        for_tracker[family_of(report)].append(file)
    for family, files in for_tracker.items():
        most = PROFILES[family].tracker.most_a_week if family else 0
        for file in files[most:] if most else ():
            yield file, f"{_form(reports[file]).repository} takes {most} reports a week: send it later"
