"""The labelled set: issues of our own, and by hand what each should give.

A file of ``labelled/`` holds cases. A line that starts with ``@@`` opens a part: ``case``, ``title``,
``tracker``, ``body``, ``comment``, and per expected formula ``formula`` with ``key=value`` marks:

    where=comment:2   in which text (body where left out; comments count from 1)
    file=a.smt2       the file's name
    run=z3 -q|cvc5    command lines: program and options, in order
    answers=sat,unsat|sat    per output, its answers
    expected=unsat    the answer said to be right
    flags=joined      these flags, and none of the other flags that are checked
    duplicate, reduced    linked to another formula of the issue

``templates.md`` holds shapes with holes, filled with formulas of ``bank.smt2`` by the rule in ``_fill``.
``crlf`` and ``nbsp`` rewrite the issue's text before it is read; the labels stay.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from corpus.records import Comment, Issue
from miner.extract import Extraction, Formula, extract_issue

FOLDER = Path(__file__).parent / "labelled"
# How many times a template is filled, with other formulas each time.
FILLINGS = 3
# Flags that a label decides on; the others are told by the text.
CHECKED_FLAGS = frozenset(
    {"incomplete", "joined", "continued", "check-sat-added", "loose", "foreign", "undeclared"}
)

_TOKEN = re.compile(r'"[^"]*"|\|[^|]*\||;[^\n]*|[()]|[^\s()";|]+')


@dataclass(slots=True)
class Label:
    """One formula that a case should give."""

    text: str = ""
    marks: dict[str, str] = field(default_factory=dict)

    @property
    def where(self) -> str:
        return self.marks.get("where", "body")


@dataclass(slots=True)
class Case:
    """An issue and what it should give."""

    name: str
    title: str = ""
    tracker: str = ""
    body: str = ""
    comments: list[str] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    rewrite: str = ""

    def issue(self) -> Issue:
        comments = tuple(
            Comment(id=number, body=self._rewritten(text)) for number, text in enumerate(self.comments, 1)
        )
        return Issue(
            tracker=self.tracker or "Z3Prover/z3",
            number=1,
            title=self.title,
            body=self._rewritten(self.body),
            comments=comments,
        )

    def _rewritten(self, text: str) -> str:
        if self.rewrite == "crlf":
            return text.replace("\n", "\r\n")
        if self.rewrite == "nbsp":
            return text.replace(" (", "\u00a0(").replace(") ", ")\u2002").replace("(assert", "\u200b(assert")
        return text


def load() -> list[Case]:
    """All cases, the filled templates last."""
    cases: list[Case] = []
    for file in sorted(FOLDER.glob("*.md")):
        if file.name != "templates.md":
            cases += parse(file.read_text(encoding="utf-8"))
    bank = [_Entry(text) for text in _bank()]
    templates = (FOLDER / "templates.md").read_text(encoding="utf-8")
    for number, template in enumerate(re.split(r"(?m)^(?=@@ case )", templates)):
        if template.strip():
            for filling in range(FILLINGS):
                first = bank[(number + 3 * filling) % len(bank)]
                second = bank[(number + 3 * filling + 1) % len(bank)]
                (case,) = parse(_fill(template, first, second))
                case.name += f" ({filling + 1})"
                cases.append(case)
    return cases


def _bank() -> list[str]:
    text = (FOLDER / "bank.smt2").read_text(encoding="utf-8").partition("\n")[2]
    return text.split(";;;;\n")


class _Entry:
    """A formula of the bank and its parts."""

    def __init__(self, text: str) -> None:
        declarations, rest = text.strip().split("\n;;\n")
        lines = rest.split("\n")
        assert lines[-1] == "(check-sat)"
        open_rest = "\n".join(lines[:-1])
        self.parts = {
            "": declarations + "\n" + rest,
            ".decl": declarations,
            ".rest": rest,
            ".open-rest": open_rest,
            ".open": declarations + "\n" + open_rest,
        }


def _fill(template: str, first: _Entry, second: _Entry) -> str:
    def filled(found: re.Match[str]) -> str:
        entry = first if found[1] == "1" else second
        text = entry.parts[found[2]]
        match found[3][:1]:
            case "&":
                return html.escape(text, quote=False)
            case "#":
                return "\n".join(f"{number:3} {line}" for number, line in enumerate(text.split("\n"), 1))
            case "|":
                return "\n".join(found[3][1:] + line for line in text.split("\n"))
        return text

    return re.sub(r"\{\{([12])((?:\.[a-z-]+)?)([&#]|\|[^}]*)?\}\}", lambda m: filled(_Found(m)), template)  # type: ignore[arg-type]


class _Found:
    """A match whose missing groups are empty."""

    def __init__(self, found: re.Match[str]) -> None:
        self.found = found

    def __getitem__(self, group: int) -> str:
        return self.found[group] or ""


def parse(text: str) -> list[Case]:
    """The cases of a file."""
    cases: list[Case] = []
    for part in re.split(r"(?m)^@@ ", text)[1:]:
        head, _, content = part.partition("\n")
        kind, _, rest = head.partition(" ")
        content = content.removesuffix("\n")
        match kind:
            case "case":
                cases.append(Case(rest))
            case "title":
                cases[-1].title = rest
            case "tracker":
                cases[-1].tracker = rest
            case "body":
                cases[-1].body = content
            case "comment":
                cases[-1].comments.append(content)
            case "crlf" | "nbsp":
                cases[-1].rewrite = kind
            case "formula":
                cases[-1].labels.append(Label(content, _marks(rest)))
            case _:
                raise ValueError(f"unknown part {kind!r}")
    return cases


def _marks(text: str) -> dict[str, str]:
    pieces = re.split(
        r"(?:^|\s+)(?=(?:where|file|run|answers|expected|flags)=|(?:duplicate|reduced)\b)", text
    )
    return {key: value for key, _, value in (piece.partition("=") for piece in pieces if piece)}


def tokens(text: str) -> tuple[str, ...]:
    """A formula without its layout and comments."""
    return tuple(token for token in _TOKEN.findall(text) if not token.startswith(";"))


@dataclass(slots=True)
class Score:
    """How often extraction was right, and what it got wrong."""

    right: int = 0
    extra: int = 0
    missing: int = 0
    mistakes: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        return self.right / (self.right + self.extra) if self.right + self.extra else 1.0

    @property
    def recall(self) -> float:
        return self.right / (self.right + self.missing) if self.right + self.missing else 1.0


@dataclass(slots=True)
class Scores:
    """Formulas by their text and place; facts are what was said of them (runs, answers, flags, links)."""

    cases: int = 0
    formulas: Score = field(default_factory=Score)
    facts: Score = field(default_factory=Score)


def score(cases: list[Case]) -> Scores:
    """Compare what the cases give with their labels."""
    scores = Scores(len(cases))
    for case in cases:
        _score_case(case, extract_issue(case.issue()), scores)
    return scores


def _score_case(case: Case, extraction: Extraction, scores: Scores) -> None:
    found = list(extraction.formulas)
    for label in case.labels:
        wanted = tokens(label.text)
        match = next((one for one in found if one.where == label.where and tokens(one.text) == wanted), None)
        if match is None:
            scores.formulas.missing += 1
            scores.formulas.mistakes.append(f"{case.name}: missing in {label.where}: {label.text[:300]}")
            continue
        found.remove(match)
        scores.formulas.right += 1
        _score_facts(case.name, label, match, scores.facts)
    for formula in found:
        scores.formulas.extra += 1
        scores.formulas.mistakes.append(f"{case.name}: extra in {formula.where}: {formula.text[:300]}")


def _score_facts(name: str, label: Label, formula: Formula, facts: Score) -> None:
    wanted, got = _wanted_facts(label), _facts(formula)
    facts.right += (wanted & got).total()
    for fact in (wanted - got).elements():
        facts.missing += 1
        facts.mistakes.append(f"{name}: missing {fact}")
    for fact in (got - wanted).elements():
        facts.extra += 1
        facts.mistakes.append(f"{name}: extra {fact}")


def _wanted_facts(label: Label) -> Counter[tuple[str, str]]:
    marks = label.marks
    facts = [(key, marks[key]) for key in ("file", "expected") if key in marks]
    facts += [("run", run) for run in marks["run"].split("|")] if "run" in marks else []
    facts += [("answers", answers) for answers in marks["answers"].split("|")] if "answers" in marks else []
    facts += [("flag", flag) for flag in marks["flags"].split(",")] if "flags" in marks else []
    facts += [("link", key) for key in ("duplicate", "reduced") if key in marks]
    return Counter(facts)


def _facts(formula: Formula) -> Counter[tuple[str, str]]:
    facts = [("run", " ".join([run.program, *run.options])) for run in formula.invocations]
    facts += [("answers", ",".join(output.answers)) for output in formula.outputs if output.answers]
    facts += [("flag", flag) for flag in formula.flags if flag in CHECKED_FLAGS]
    if formula.file:
        facts.append(("file", formula.file))
    if formula.expected is not None:
        facts.append(("expected", formula.expected.answer))
    if formula.duplicate_of is not None:
        facts.append(("link", "duplicate"))
    if formula.reduced_from is not None:
        facts.append(("link", "reduced"))
    return Counter(facts)
