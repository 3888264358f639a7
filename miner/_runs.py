"""What was run on a formula, what it printed, and what was expected of it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from miner._drafts import Draft
from miner.commandline import Invocation, command_of, invocations_of, solver_family
from miner.markdown import Block, normalise
from miner.records import Issue
from miner.transcript import ANSWER, Segment


@dataclass(frozen=True, slots=True)
class Output:
    """What a solver printed; ``answers`` are its answers to the checks, in order."""

    text: str
    answers: tuple[str, ...] = ()
    solver: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a solver: its command line, what it printed, or only one of the two."""

    where: str
    block: int
    line: int
    end: int
    invocation: Invocation | None = None
    output: Output | None = None
    # The text above said that this is what should have been printed.
    is_expectation: bool = False
    # Only the solver's version or help was asked for: says nothing of a formula.
    is_version_query: bool = False


@dataclass(frozen=True, slots=True)
class Expected:
    """The answer that somebody says is right, with the words that say so."""

    answer: str
    text: str
    source: str


@dataclass(slots=True)
class Section:
    """One text of an issue: its blocks, their segments and drafts."""

    where: str
    blocks: list[Block]
    drafts: list[Draft] = field(default_factory=list)
    segments: list[list[Segment]] = field(default_factory=list)
    models: list[Draft] = field(default_factory=list)
    is_truncated: bool = False

    def add(self, index: int, segments: list[Segment], drafts: list[Draft]) -> None:
        self.segments.append(segments)

    def note_model(self, draft: Draft) -> None:
        """Remember that a draft was no script but a printed model."""
        self.models.append(draft)


_INLINE_CODE = re.compile(r"`([^`\n]{3,300})`")
_ASKS_VERSION = re.compile(r"\s--?(?:version|help|h|V)\b")
_EXPECTS = re.compile(
    r"\b(?:expect(?:ed|s|ing)?|should (?:be|print|return|output)|correct)\b[^.\n]{0,60}[:.]?\s*$",
    re.I,
)


def runs_of(section: Section) -> list[Run]:
    """The runs of a section, in order."""
    runs: list[Run] = []
    for index, (block, segments) in enumerate(zip(section.blocks, section.segments, strict=True)):
        before = section.blocks[index - 1] if index else None
        expects = (
            before is not None and not before.is_code and _EXPECTS.search(before.text[-200:]) is not None
        )
        runs += _runs_of_block(section.where, index, block, segments, expects)
    for draft in section.models:
        text = "\n".join(piece.text for piece in draft.pieces)
        first, last = draft.pieces[0].line, draft.pieces[-1].line
        runs.append(Run(section.where, draft.block, first, last, None, Output(text, line=first)))
    return runs


def _runs_of_block(
    where: str, index: int, block: Block, segments: Sequence[Segment], expects: bool
) -> list[Run]:
    runs: list[Run] = []
    pending: list[Invocation] = []
    printed: list[Segment] = []

    def flush() -> None:
        if not pending and not printed:
            return
        asks_version = bool(pending) and all(_ASKS_VERSION.search(" " + run.text) for run in pending)
        solver = pending[-1].solver if pending else ""
        output = _output(printed, block.line, solver) if printed else None
        first = block.line + (printed[0].line if printed else 0)
        for number, invocation in enumerate(pending):
            line = block.line + invocation.line
            last = output if number == len(pending) - 1 else None
            runs.append(
                Run(where, index, line, max(first, line), invocation, last, is_version_query=asks_version)
            )
        if not pending:
            end = block.line + printed[-1].line
            runs.append(Run(where, index, first, end, None, output, expects))
        pending.clear()
        printed.clear()

    for segment in segments:
        if segment.kind == "shell":
            flush()
            pending += segment.invocations
        elif segment.kind == "output":
            printed.append(segment)
        elif (segment.kind == "open" and segment.invocations) or (
            segment.kind == "command" and pending and not printed and _is_input(segments)
        ):
            continue
        elif segment.kind not in ("comment", "elision", "close"):
            flush()
    flush()
    if not block.is_code and "`" in block.text:
        runs += _inline_runs(where, index, block)
    return runs


def _is_input(segments: Sequence[Segment]) -> bool:
    """Whether a block hands its commands to a run (here-document, echo)."""
    return any(segment.kind == "open" and segment.invocations for segment in segments)


def _inline_runs(where: str, index: int, block: Block) -> list[Run]:
    runs: list[Run] = []
    line, counted = block.line, 0
    for found in islice(_INLINE_CODE.finditer(block.text), 1000):
        code = found[1].strip()
        if command_of(code) is None and not (solver_family(code.split(" ")[0]) and " -" in code):
            continue
        line += block.text.count("\n", counted, found.start())
        counted = found.start()
        command = command_of(code) or code
        runs += [
            Run(where, index, line, line, invocation)
            for invocation in invocations_of(command, line - block.line)
            if not _ASKS_VERSION.search(" " + command)
        ]
    return runs


def _output(printed: Sequence[Segment], first_line: int, solver: str) -> Output:
    answers: list[str] = []
    for segment in printed:
        found = ANSWER.match(segment.text)
        if found:
            answers.append(found[1])
    text = "\n".join(segment.text for segment in printed)
    return Output(text, tuple(answers), solver, first_line + printed[0].line)


# --- which run belongs to which formula ---


def attach(runs: Sequence[Run], kept: Sequence[tuple[Section, Draft]]) -> list[list[Run]]:
    """For each formula, the runs that were made on it."""
    attached: list[list[Run]] = [[] for _ in kept]
    by_file: dict[str, list[int]] = {}
    by_input: dict[Invocation, int] = {}
    by_section: dict[str, list[int]] = {}
    for number, (section, draft) in enumerate(kept):
        by_section.setdefault(section.where, []).append(number)
        if draft.file:
            by_file.setdefault(draft.file, []).append(number)
        for invocation in draft.invocations:
            by_input[invocation] = number
    starts = {
        where: [kept[number][1].pieces[0].line for number in numbers] for where, numbers in by_section.items()
    }
    for run in runs:
        if run.is_version_query:
            continue
        target = _target(
            run, kept, by_file, by_input, by_section.get(run.where, []), starts.get(run.where, [])
        )
        if target is not None:
            attached[target].append(run)
    return attached


def _target(
    run: Run,
    kept: Sequence[tuple[Section, Draft]],
    by_file: dict[str, list[int]],
    by_input: dict[Invocation, int],
    here: Sequence[int],
    starts: Sequence[int],
) -> int | None:
    invocation = run.invocation
    if invocation is not None:
        if invocation in by_input:
            return by_input[invocation]
        for file in invocation.files:
            named = by_file.get(file)
            if named:
                nearby = [number for number in named[-20:] if kept[number][0].where == run.where]
                return (nearby or named)[0]
    if not here:
        return 0 if len(kept) == 1 and invocation is not None else None
    # The nearest formula by lines; the one above where two are as near.
    place = bisect_left(starts, run.line)
    best: tuple[int, int, int] | None = None
    for index in range(max(0, place - 3), min(len(here), place + 3)):
        draft = kept[here[index]][1]
        if invocation is not None and invocation.files and draft.file and draft.file not in invocation.files:
            continue
        first, last = draft.pieces[0].line, draft.pieces[-1].line
        same = 0 if draft.block <= run.block <= draft.last_block else 1
        if last <= run.line:
            distance, below = run.line - last, 0
        else:
            distance, below = max(0, first - run.end), 1
        candidate = (same, distance * 2 + below, here[index])
        if best is None or candidate < best:
            best = candidate
    return best[2] if best else None


# --- what was expected ---

_A = r"[`'\"*_(]{0,3}\b(?P<a>unsat|sat)(?:isfiable|isfiability)?\b"
_ADVERB = r"(?:\s+\w+){0,3}?"
_SUBJECT = (
    r"(?:formula|instance|problem|benchmark|file|input|query|script|example|constraint|case|test|one)s?"
)
_RULES: tuple[tuple[str, bool, re.Pattern[str]], ...] = tuple(
    (name, opposite, re.compile(pattern, re.IGNORECASE))
    for name, opposite, pattern in (
        (
            "should-not",
            True,
            rf"\b(?:should|must|can)(?:\s+not|n't|not)\s+(?:be|return|report|say|give|answer){_ADVERB}\s+{_A}",
        ),
        (
            "expected",
            False,
            r"\bexpect(?:ed|s|ing)?\b(?:\s+(?:answer|result|output|status|verdict|behaviou?r|value))?"
            r"(?:\s+(?:is|was|be|to\s+be|to\s+get|would\s+be|should\s+be|z3\s+to\s+(?:return|report)|it\s+to\s+be))?"
            rf"(?:\s+(?:the|an?|answer|result))*[\s:=\-*`]{{0,8}}{_A}",
        ),
        ("should", False, rf"\b(?:should|ought\s+to|must|supposed\s+to){_ADVERB}\s+{_A}"),
        (
            "correct",
            False,
            r"\b(?:correct|right|true|proper|real)\s+(?:answer|result|status|verdict|output)(?:\s+\w+){0,3}?"
            rf"\s*(?:is|was|:|should\s+be|=|,)\s*{_A}",
        ),
        (
            "correctly",
            False,
            rf"\bcorrectly\s+(?:returns?|reports?|says?|gives?|answers?|outputs?|prints?|solved\s+as){_ADVERB}\s*{_A}",
        ),
        (
            "wrongly",
            True,
            r"\b(?:incorrect(?:ly)?|wrong(?:ly)?|erroneous(?:ly)?|mistakenly|falsely|unsoundly|bogus)"
            rf"(?:\s+(?:answer|result|verdict|status))?{_ADVERB}\s*:?\s*{_A}",
        ),
        (
            "on-this",
            False,
            rf"\b(?:on|for)\s+(?:this|an?|the|following|these)(?:\s+(?:simple|small|following|clearly|trivially))*\s+{_A}"
            rf"[`'\"*]{{0,2}}\s+{_SUBJECT}",
        ),
        ("this-formula", False, rf"\b(?:this|the\s+following)\s+{_A}[`'\"*]{{0,2}}\s+{_SUBJECT}"),
        (
            "is-in-fact",
            False,
            r"\b(?:is|are|it's)\s+(?:actually|clearly|obviously|indeed|in\s+fact|trivially|definitely|certainly|provably|easily|really)"
            rf"\s+{_A}",
        ),
        (
            "formula-is",
            False,
            rf"\b(?:formula|instance|problem|constraints?|query|assertions?)\s+(?:is|are)\s+{_A}",
        ),
    )
)
_SAYS = re.compile(
    r"\b(?P<who>z3|cvc5|cvc4|yices2?|bitwuzla|boolector|mathsat5?|opensmt2?|smtinterpol)\b[^.\n;:]{0,60}?"
    r"\b(?:says?|returns?|reports?|gives?|answers?|outputs?|prints?|yields?|finds?|agree\w*(?:\s+on)?|claims?)\b"
    rf"(?:\s+(?:that|it|is|the|on|formula|result|answer|back|correctly|with)){{0,4}}\s*:?\s*{_A}",
    re.IGNORECASE,
)
_ACCORDING = re.compile(
    rf"{_A}[`'\"*_)]{{0,2}}\s+(?:according\s+to|\(?by|in|with)\s+(?P<who>z3|cvc5|cvc4|yices2?|bitwuzla|boolector|mathsat5?)\b",
    re.IGNORECASE,
)
_TRACKER_SOLVERS = ("z3", "cvc5", "cvc4", "yices", "bitwuzla", "boolector", "opensmt", "mathsat")
_STATUS = re.compile(r":status\s+(sat|unsat)\b")


def _opposite(answer: str) -> str:
    return "sat" if answer == "unsat" else "unsat"


def expectation_in(text: str, source: str, own_solver: str = "") -> Expected | None:
    """The answer a text says is the right one."""
    if "sat" not in text.lower():
        return None
    for name, opposite, pattern in _RULES:
        found = pattern.search(text)
        if found is not None:
            answer = found["a"].lower()
            if name in ("expected", "should") and "incorrect" in found[0].lower():
                continue
            return Expected(_opposite(answer) if opposite else answer, _quote(found[0]), source)
    for pattern in (_SAYS, _ACCORDING):
        for found in pattern.finditer(text):
            who = found["who"].lower().rstrip("2")
            if own_solver and who != own_solver and not own_solver.startswith(who):
                return Expected(found["a"].lower(), _quote(found[0]), f"{source}, {who}")
    return None


def _quote(text: str) -> str:
    return " ".join(text.split())[:200]


def expectations(
    issue: Issue, kept: Sequence[tuple[Section, Draft]], attached: Sequence[Sequence[Run]]
) -> list[Expected | None]:
    """For each formula, the answer that is said to be right."""
    own = _own_solver(issue.tracker)
    near = _prose_near(kept)
    in_body = sum(1 for section, _ in kept if section.where == "body")
    result: list[Expected | None] = []
    for (section, draft), runs, prose in zip(kept, attached, near, strict=True):
        found = _stated_inside(draft)
        for run in runs:
            if found is None and run.output is not None:
                found = _in_output(run)
        for text in prose:
            found = found or expectation_in(text[:4000], "text", own)
        if found is None and section.where == "body" and in_body == 1:
            found = expectation_in(normalise(issue.title[:500]), "title", own)
        result.append(found)
    return result


def _own_solver(tracker: str) -> str:
    name = tracker.lower().rpartition("/")[2]
    return next((solver for solver in _TRACKER_SOLVERS if name.startswith(solver)), "")


def _stated_inside(draft: Draft) -> Expected | None:
    for piece in draft.pieces:
        if piece.word == "set-info":
            found = _STATUS.search(piece.text)
            if found:
                return Expected(found[1], piece.text, "set-info")
    for piece in draft.pieces:
        if ";" in piece.text and (not piece.word or len(piece.text) < 10_000):
            for comment in re.findall(r";+([^\n]*)", piece.text):
                expected = expectation_in(comment, "comment")
                if expected is not None:
                    return expected
    return None


def _in_output(run: Run) -> Expected | None:
    output = run.output
    assert output is not None
    if run.is_expectation:
        answer = next((answer for answer in output.answers if answer in ("sat", "unsat")), "")
        return Expected(answer, output.text[:200], "output block") if answer else None
    if len(output.text) < 5000 and (
        "xpect" in output.text or "hould" in output.text or "rong" in output.text
    ):
        return expectation_in(output.text, "output")
    return None


def _prose_near(kept: Sequence[tuple[Section, Draft]]) -> list[list[str]]:
    """The prose that speaks of each formula: what follows it, then what leads to it."""
    near: list[list[str]] = [[] for _ in kept]
    sections: dict[str, tuple[Section, list[int]]] = {}
    for number, (section, _) in enumerate(kept):
        sections.setdefault(section.where, (section, []))[1].append(number)
    for section, numbers in sections.values():
        leads: list[list[str]] = [[] for _ in numbers]
        firsts = [min(piece.block for piece in kept[number][1].pieces) for number in numbers]
        for index, text in _prose(section):
            # The formula that begins after this text, and the one above it.
            after = bisect_left(firsts, index + 1)
            above = after - 1
            if above < 0 or (text.rstrip().endswith(":") and after < len(numbers) and firsts[above] != index):
                leads[after].append(text)
            else:
                near[numbers[above]].append(text)
        for place, number in enumerate(numbers):
            near[number] += reversed(leads[place])
    return near


def _prose(section: Section) -> Iterable[tuple[int, str]]:
    for index, (block, segments) in enumerate(zip(section.blocks, section.segments, strict=True)):
        if block.is_code:
            text = "\n".join(segment.text for segment in segments if segment.kind == "prose")
            if text:
                yield index, text
        elif block.kind != "html":
            yield index, block.text if len(block.text) < 20_000 else block.text[:20_000]
