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

The threads (``threads.md`` and others; ``threads-apart.md``, ``threads-fresh-apart.md`` and the
like were measured before they were looked at) have the shapes of whole reports. Their marks are
``failing=z3 -q`` (program and options of the failing run),
``expected=unsat`` and ``actual=sat``; the part ``issue`` has ``class=``, ``version=``, ``commit=``, ``good=``
(the last version without the bug), ``fixed=`` (the first without it), ``fixed-by=``, ``duplicate=``,
``crash=file:line`` and ``code=`` (languages other than SMT-LIB). What a mark leaves out must not be found.

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
from miner.classify import Classification, classify
from miner.extract import Extraction, Formula, extract_issue
from miner.hosts import known_hosts
from miner.languages import SMT_LIB
from miner.references import references_of

FOLDER = Path(__file__).parent / "labelled"
# How many times a template is filled, with other formulas each time.
FILLINGS = 3
# Flags that a label decides on; the text decides the others.
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
    marks: dict[str, str] = field(default_factory=dict)
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
        if not file.name.startswith(("templates", "threads")):
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


# What the holes of threads are filled with, in turn.
_THREAD_FILLINGS = 10
_HOLES = {
    "opt": ["proof=true", "ematching=false", "arith.solver=2", "threads=3", "phase_selection=5"],
    "copt": ["strings-exp", "sygus-inference", "bv-solver=bitblast", "nl-ext-tplanes", "cegqi"],
    "ver": ["4.8.9", "1.0.3", "0.7.0", "4.13.1", "2.6.4", "1.2.1"],
    "old": ["4.8.5", "4.8.7", "4.12.2"],
    "old2": ["1.0.2", "1.1.0"],
    "bopt": ["rewrite-level=0", "bv-solver=prop", "check-model"],
    "pull": ["4711", "982", "10203"],
    "line": ["1166", "87", "317"],
    "sha": ["1f2e3d4", "0a9ee6c", "98207552b4", "6edc06b3fb6367e8", "f2ed7b1"],
    "sha40": [
        "b8c069c6b771c9344dca6388221d407ded9040b1",
        "ca2ed449515c052c0075529f5d56c6fd0dfa53a1",
        "36af0951b0dd1e8f3a5b7c9d2e4f60718293a4b5",
    ],
}


def load_threads(name: str, fillings: int = _THREAD_FILLINGS) -> list[Case]:
    """The cases of a file of threads, each filled several times."""
    bank = [_Entry(text) for text in _bank()]
    cases: list[Case] = []
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    for number, template in enumerate(re.split(r"(?m)^(?=@@ case )", text)[1:]):
        for filling in range(fillings):
            filled = template
            for hole, values in _HOLES.items():
                filled = filled.replace("{{" + hole + "}}", values[(number + filling) % len(values)])
            place = (number + 3 * filling) % len(bank)
            (case,) = parse(_fill(filled, bank[place], bank[(place + 1) % len(bank)]))
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
        open_rest = "\n".join(line for line in lines if line != "(check-sat)")
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

    return re.sub(r"\{\{([12])((?:\.[a-z-]+)?)([&#]|\|[^}]*|)\}\}", filled, template)


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
            case "issue":
                cases[-1].marks = _marks(rest)
            case "crlf" | "nbsp":
                cases[-1].rewrite = kind
            case "formula":
                cases[-1].labels.append(Label(content, _marks(rest)))
            case _:
                raise ValueError(f"unknown part {kind!r}")
    return cases


def _marks(text: str) -> dict[str, str]:
    pieces = re.split(
        r"(?:^|\s+)(?=(?:where|file|run|answers|expected|flags|failing|actual|class|version|commit"
        r"|good|fixed|fixed-by|duplicate|crash|code)=|(?:duplicate|reduced)\b)",
        text,
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
        match = _take(found, label)
        if match is None:
            scores.formulas.missing += 1
            scores.formulas.mistakes.append(f"{case.name}: missing in {label.where}: {label.text[:300]}")
            continue
        scores.formulas.right += 1
        _score_facts(case.name, label, match, scores.facts)
    for formula in found:
        scores.formulas.extra += 1
        scores.formulas.mistakes.append(f"{case.name}: extra in {formula.where}: {formula.text[:300]}")


def _take(found: list[Formula], label: Label) -> Formula | None:
    """The first formula with the text and place of a label, which is removed from those found."""
    required = tokens(label.text)
    for formula in found:
        if formula.where == label.where and tokens(formula.text) == required:
            found.remove(formula)
            return formula
    return None


def _score_facts(name: str, label: Label, formula: Formula, facts: Score) -> None:
    required, got = _expected_facts(label), _facts(formula)
    facts.right += (required & got).total()
    for fact in (required - got).elements():
        facts.missing += 1
        facts.mistakes.append(f"{name}: missing {fact}")
    for fact in (got - required).elements():
        facts.extra += 1
        facts.mistakes.append(f"{name}: extra {fact}")


def _expected_facts(label: Label) -> Counter[tuple[str, str]]:
    marks = label.marks
    facts: list[tuple[str, str]] = [(key, marks[key]) for key in ("file", "expected") if key in marks]
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


def score_threads(cases: list[Case]) -> dict[str, Score]:
    """By kind of fact, how often what the cases give is what their labels say."""
    kinds = "formula failing expected actual class version commit good fixed fixed-by duplicate crash code"
    scores = {kind: Score() for kind in kinds.split()}
    for case in cases:
        issue = case.issue()
        extraction = extract_issue(issue)
        found = classify(issue, extraction)
        for kind, value in _said(issue, extraction, found).items():
            if kind != "class" or "class" in case.marks:
                _compare(case, kind, case.marks.get(kind), value, scores[kind])
        formulas = list(extraction.formulas)
        for label in case.labels:
            match = _take(formulas, label)
            _compare(case, "formula", "there", "there" if match else None, scores["formula"])
            if match is None:
                continue
            run = match.failing
            shown = run.invocation if run else None
            command = " ".join([shown.program, *shown.options]) if shown else None
            facts = {
                "failing": command,
                "expected": match.expected.answer if match.expected else None,
                "actual": " ".join(run.answers) or None if run else None,
            }
            for kind, value in facts.items():
                _compare(case, kind, label.marks.get(kind), value, scores[kind])
        for formula in formulas:
            _compare(case, "formula", None, formula.text[:80], scores["formula"])
    return scores


def _said(issue: Issue, extraction: Extraction, found: Classification) -> dict[str, str | None]:
    """What an issue says besides its formulas, by the names of the marks."""
    reasoned = {
        "class": found.bug_class,
        "version": found.version,
        "commit": found.commit,
        "good": found.last_good,
        "fixed": found.fixed_in,
        "fixed-by": found.fixed_by,
    }
    repeats = [one.target for one in references_of(issue, known_hosts()["github"]) if one.duplicate]
    languages = [located.written_in for located in extraction.blocks if located.written_in]
    code = ",".join(dict.fromkeys(one for one in languages if one != SMT_LIB))
    place = f"{found.crash.file}:{found.crash.line}" if found.crash and found.crash.file else None
    said = {kind: value.value if value else None for kind, value in reasoned.items()}
    return said | {"duplicate": next(iter(repeats), None), "crash": place, "code": code or None}


def _compare(case: Case, kind: str, required: str | None, got: str | None, score: Score) -> None:
    if required == got:
        score.right += required is not None
        return
    score.extra += got is not None
    score.missing += required is not None
    score.mistakes.append(f"{case.name}: {kind} is {got!r}, not {required!r}")
