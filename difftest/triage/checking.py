"""What is missing or wrong in a report before it is sent, against the form of docs/triage.md.

Each rule is a function that yields what to do, a line each. It holds for reports that exhume wrote and for
those that people wrote.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from difftest.triage.written import Written, blocks_of, prose_of
from smtlib import ReadError, read_sexps
from smtlib.mentions import known_theories
from solvers.registry import PROFILES
from solvers.report_form import OPTIONAL, Fact, Kind, Row, Section

_LONGEST_TITLE = 160
_LONGEST_INPUT = 4_000
_LEAST_REASON = 20
_CODE = re.compile(r"`([^`\n]+)`")
# Of a place only where its parts meet, so that time is linear in a long title.
_PLACE = re.compile(r"[\w./-]\.(?:cpp|cc|c|h|hpp|py|rs|pyx|pxi):\d|\w::\w|\bin [\w.:~]")
_OPTION = re.compile(r"(?:tactic |simplifier )?`[^`]+` \((?:regular|expert|experimental)\)")
_SAFE_MODE = ("affected", "not affected", "refused", "not known")
_DIED = re.compile(
    r"exit status [1-9]|SIG[A-Z]+|Segmentation fault|Aborted|ASSERTION VIOLATION|Fatal failure|suffered a",
    re.I,
)
# A line that continues the paragraph of the line before: no item of a list, no row of a table.
_BROKEN = re.compile(r"^[^\n|].*\n(?![-*|>#\n]|\d+\. )(.{1,20})", re.M)
# The other files of a finding, links to them, and what only exhume knows.
_OURS = {
    r"\bseeds? \d|\brun \d+\b.{0,200}\bseed\b|--seed\b": "a seed: it means nothing to others",
    r"\btraces?\b(?! of)|\.trace\b": "a trace of exhume: show the input",
    r"starter (?:tracker|corpus)": "the starter tracker: nobody else has it",
    r"\]\((?!https?://|#)": "a relative link: it leads nowhere in a tracker",
    r"(?<![\w./:~-])/(?:home|root|tmp|work|Users)/\S": "a path of this machine",
    r"<!--": "a comment: trackers keep it",
    r"(?im)^#+ severity|^[^\w\n]*severity\b": (
        "a severity: the fact line says what a maintainer needs to judge it"
    ),
}


@dataclass(frozen=True, slots=True)
class Complaint:
    """Something that is missing or wrong: the rule, and what to do."""

    rule: str
    what: str


def complaints_about(report: Written) -> Iterator[Complaint]:
    """All that is wrong with a report, in its order."""
    for rule in _RULES:
        for what in rule(report):
            yield Complaint(rule.__name__.strip("_").replace("_", " "), what)


def family_of(report: Written) -> str:
    """The solver that the title names first; empty if that is none."""
    name = report.title.partition(":")[0].strip()
    return name if name in PROFILES else ""


def _title(report: Written) -> Iterator[str]:
    if not report.title:
        yield "write '# SOLVER: what goes wrong' in the first line"
        return
    if ": " not in report.title:
        yield "begin the title with the solver and a colon"
    elif not family_of(report):
        yield f"begin the title with a solver ({', '.join(PROFILES)}) and a colon"
    if len(report.title) > _LONGEST_TITLE:
        yield f"shorten the title to {_LONGEST_TITLE} characters"
    if report.kind is Kind.CRASH and not _PLACE.search(report.title):
        yield "name the function of the crash, or the place that it prints, in the title"


def _fact_line(report: Written) -> Iterator[str]:
    family = family_of(report)
    needed = [fact for fact in Fact if fact is not Fact.SAFE_MODE or _has_safe_mode(family)]
    if list(report.facts) != needed:
        yield f"write one line below the title: {'; '.join(f'{fact}: ...' for fact in needed)}"
        return
    if report.kind is None:
        yield f"Kind is one of {', '.join(Kind)}"
    options = report.facts[Fact.OPTIONS]
    if options != "default" and _OPTION.sub("", options).strip(", "):
        yield "Options: write 'default', or each as `OPTION` (regular), (expert) or (experimental)"
    names = [name.strip() for name in report.facts[Fact.THEORIES].split(",")]
    if unknown := [name for name in names if name not in known_theories() and name != "none"]:
        yield f"Theories: {unknown[0]!r} is none; use the names of the theory files, or 'none'"
    language = report.facts[Fact.LANGUAGE]
    if language not in ("standard", "Python interface") and not language.startswith("extension of "):
        yield "Language is 'standard', 'extension of SOLVER' or 'Python interface'"
    if (language == "Python interface") != (report.input.language == "python"):
        yield "Language is 'Python interface' if, and only if, the input is a Python program"
    if report.facts.get(Fact.SAFE_MODE, _SAFE_MODE[0]) not in _SAFE_MODE:
        yield f"Safe mode is one of {', '.join(_SAFE_MODE)}"


def _has_safe_mode(family: str) -> bool:
    return family in PROFILES and bool(PROFILES[family].safe_mode)


def _sections(report: Written) -> Iterator[str]:
    known = list(Section)
    for heading in report.headings:
        if heading not in known:
            yield f"'## {heading}' is no section: move its text to one of {', '.join(known)}"
    for section in known:
        if section not in OPTIONAL and not report.section(section):
            yield f"'## {section}' is missing or empty"
    there = [known.index(Section(heading)) for heading in report.headings if heading in known]
    if there != sorted(set(there)):
        yield f"bring the sections in the order {', '.join(known)}, each once"


def _input(report: Written) -> Iterator[str]:
    text = report.section(Section.INPUT)
    blocks = list(blocks_of(text))
    if not text:
        return
    if len(blocks) != 1 or prose_of(text):
        yield "show one code block and nothing else; other inputs are other reports"
    block = report.input
    if block.language not in ("smt2", "python"):
        yield "begin the block with ```smt2, or ```python if no text shows the fault"
    if len(block.text) > _LONGEST_INPUT:
        yield f"make the input smaller ({len(block.text)} characters): exhume reduce"
    if block.language == "smt2":
        try:
            read_sexps(block.text)
        except (ReadError, RecursionError) as problem:
            yield f"the input cannot be read: {problem}"


def _command(report: Written) -> Iterator[str]:
    text = report.section(Section.COMMAND)
    if not text:
        return
    command = _command_of(report)
    if not command:
        yield "write the command line as `code`, on the first line"
    elif command.startswith("exhume "):
        yield "name a command that does without exhume"
    elif command.startswith("python") and report.input.language == "smt2" and not any(blocks_of(text)):
        yield "show the Python program that reads the input"


def _command_of(report: Written) -> str:
    found = _CODE.match(report.section(Section.COMMAND))
    return found[1] if found else ""


def _expected(report: Written) -> Iterator[str]:
    reason = _CODE.sub("", prose_of(report.section(Section.EXPECTED))).strip()
    needs_none = (Kind.CRASH, Kind.MEMORY, Kind.INTERFACE)
    if report.section(Section.EXPECTED) and report.kind not in needs_none and len(reason) < _LEAST_REASON:
        yield "give a reason that can be checked: a witness, the model put in, two other solvers"


def _actual(report: Written) -> Iterator[str]:
    text = report.section(Section.ACTUAL)
    if not text:
        return
    blocks = list(blocks_of(text))
    if len(blocks) != 1 or blocks[0].language != "console":
        yield "show one block that begins with ```console: '$ ' and the command, then what it printed"
        return
    first = blocks[0].text.partition("\n")[0]
    command = _command_of(report)
    if not first.startswith("$ "):
        yield "begin the block with '$ ' and the command"
    elif command and first[2:].strip() != command:
        yield f"the command here is not that of '## {Section.COMMAND}' ({command})"
    if report.kind is Kind.CRASH and not _DIED.search(text):
        yield "say how the process ended, below the block: 'Exit status 139 (SIGSEGV).'"


def _versions(report: Written) -> Iterator[str]:
    rows = report.rows
    if not report.section(Section.VERSIONS):
        return
    needed = [row for row in Row if row not in (Row.NEWEST, Row.FIXED)]
    if missing := [row for row in needed if not rows.get(row)]:
        yield f"write '- {missing[0]}: ...'" + (f", also {', '.join(missing[1:])}" if missing[1:] else "")
    is_open = "not known" in (rows.get(Row.FIRST_AFFECTED), rows.get(Row.LAST_GOOD))
    if is_open:
        yield "look for the first affected and the last good release: exhume bisect"
    if fixed := rows.get(Row.FIXED):
        yield f"it is fixed in {fixed}: nothing to report"
    newest = rows.get(Row.NEWEST, "")
    if re.search(r"\b(?:not affected|free|fixed)\b", newest):
        yield f"the newest release is not affected ({newest}): nothing to report"
    elif not (newest or fixed or missing or is_open):
        yield f"write '- {Row.NEWEST}: ...': whether the newest release, or a commit, has it"


def _stack(report: Written) -> Iterator[str]:
    text = report.section(Section.STACK)
    blocks = list(blocks_of(text))
    if report.kind is Kind.CRASH and len(blocks) != 1:
        yield "show the stack of the crash in one block (gdb -batch -ex run -ex bt --args COMMAND)"
    elif re.search(r"\b0x[0-9a-f]{6,}", text):
        yield "leave out the addresses"


def _last_line(report: Written) -> Iterator[str]:
    if not report.last:
        yield "end with 'Found by exhume (STRATEGY).' in a line of its own"


def _paragraphs(report: Written) -> Iterator[str]:
    for name in (Section.EXPECTED, Section.ACTUAL, Section.NOTES):
        if broken := _BROKEN.search(prose_of(report.section(name))):
            yield f"{name}: write a paragraph on one line, trackers keep line breaks: {broken[1]!r}"


def _ours(report: Written) -> Iterator[str]:
    prose = {name: prose_of(text) for name, text in report.sections.items()}
    prose["the beginning"] = f"{report.title}\n{report.line}"
    for name, text in prose.items():
        for pattern, why in _OURS.items():
            if found := re.search(pattern, text):
                yield f"{name}: remove {' '.join(found[0].split())!r}, {why}"
    shown = {word for word in re.findall(r"[\w.-]+", _command_of(report)) if "." in word}
    every = re.findall(r"`([\w.-]+\.(?:smt2|py|txt|log))`", "\n".join(prose.values()))
    for file in dict.fromkeys(every):
        if file not in shown and file != "read.py":
            yield f"it names {file}, which it does not show"


_RULES: tuple[Callable[[Written], Iterator[str]], ...] = (
    _title, _fact_line, _sections, _input, _command, _expected, _actual, _versions, _stack, _last_line,
    _paragraphs, _ours,
)  # fmt: skip
