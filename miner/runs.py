"""Finds the solver runs in the segments of an issue's texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from miner.commandline import Invocation, command_of, invocations_of, solver_family
from miner.drafts import Draft
from miner.markdown import Block, unescaped
from miner.transcript import ANSWER, Segment
from solvers.registry import ANY_NAME, kin_of


@dataclass(frozen=True, slots=True)
class Output:
    """What a solver printed. ``answers``: to its checks, in order. ``line``: from 1, in the body."""

    text: str
    answers: tuple[str, ...] = ()
    solver: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a solver: its command line, its output, or both. Lines count from 1 in the body."""

    where: str
    block: int
    line: int
    end: int
    invocation: Invocation | None = None
    output: Output | None = None
    # The text above says that this is the expected output.
    is_expectation: bool = False
    # The command line is made of options that the text names.
    is_in_words: bool = False
    # The command line is a field of the report, so it is of all its formulas.
    is_field: bool = False
    # The run only printed the version or help, so it belongs to no formula.
    is_version_query: bool = False


@dataclass(slots=True)
class Section:
    """One text of an issue: its blocks, their segments and drafts."""

    where: str
    blocks: list[Block]
    segments: list[list[Segment]]
    # What each block is written in, if that is not SMT-LIB 2 (see miner.languages).
    languages: list[str] = field(default_factory=list)
    drafts: list[Draft] = field(default_factory=list)
    # Drafts that are printed models rather than scripts.
    models: list[Draft] = field(default_factory=list)


_INLINE_CODE = re.compile(r"`([^`\n]{3,300})`")
# "Running "z3 timeout=1000 a.smt2"", in quotation marks
_QUOTED_COMMAND = re.compile(
    rf'"((?:[\w.~/-]{{0,80}}/)?(?:{ANY_NAME})[\w.-]{{0,30}}[ ][^"\n]{{2,200}})"', re.IGNORECASE
)
# "Commandline: cvc4 --strings-exp a.smt2", "**Command line arguments**: `--incremental`",
# "The options are `-q`"
_LABELLED = re.compile(
    r"(?:^[ \t>]*|[.;] )[*_#]{0,3}(?:the[ ])?(?:command[- ]?line(?:[ ](?:arguments?|options?))?"
    r"|(?:solver[ ])?command|cmd|options?|arguments?|flags?|invocation)(?:[ ]used)?"
    r"(?:[*_]{0,2}[ ]?:[*_]{0,2}[ \t]*`{0,3}|[ ](?:is|are|was|were)[ ]`)([^`\n]{2,300})",
    re.IGNORECASE | re.MULTILINE,
)
# What may stand between a command line in a text and its output below.
_LEADS_ON = re.compile(r"[`*\s]*[^.`]{0,60}[.:]?\s*")
# "`z3 -q a.smt2` -> unsat"
_GIVES = re.compile(
    r"`?\s*(?:->|=>|\u2192|[:=|\u2013]|(?:returns?|gives?|prints?|says?|outputs?|answers?|reports?|yields?|produces?)\b)"
    r"\s*[`'\"*]{0,2}((?:unsat|sat|unknown)(?:,\s?(?:unsat|sat|unknown)\b)*)\b"
)
# "fish: Job 1, 'z3 a.smt2' terminated by signal", "[1]    2041 segmentation fault (core dumped)  z3 a.smt2"
_ENDED = re.compile(
    r"\bJob \d+, '([^'\n]{3,300})' (?:terminated|has ended)"
    r"|^(?:\[\d+\]|\S{1,80}: line \d+:)\s+\+?\s*\d+\s+(?:segmentation fault|abort(?:ed)?|killed|trace trap"
    r"|bus error|illegal hardware instruction)(?:\s+\(core dumped\))?\s+(\S[^\n]{2,300})",
    re.IGNORECASE | re.MULTILINE,
)
_HAS_OPTION = re.compile(r"\s--?[a-zA-Z]|\w=\w")
_OPTION = re.compile(r"--?[a-zA-Z]|[a-z_][\w.]*=\S")
# "CVC4 with `--check-models` crashes", "CVC4 --check-models throws"
_IN_WORDS = re.compile(
    rf"(?<![\w./`-])((?:{ANY_NAME})\d?)(?:\s+with)?(?:\s+(?:the\s+)?(?:options?|flags?|arguments?))?"
    r"((?:\s+`?(?:--?[a-zA-Z][\w:-]{0,60}(?:=[\w./-]{1,60})?|[a-z_]+(?:\.[a-z_]+)+=\w[\w.]*)`?){1,8})",
    re.IGNORECASE,
)
# "With `smt.ematching=false` it answers sat", "when I pass --cegqi", "segfaults with --cegqi"
_WITH_OPTIONS = re.compile(
    r"\b(?:with|using|under|(?:if|when)\s+(?:(?:I|we|you)\s+)?(?:only\s+)?(?:pass|use|set|add|put|enable|specify|provide)|(?:if|when)(?=\s+`?-)|pass(?:ing)?"
    r"|enabl(?:e|ing)|turning\s+on|setting|specifying|adding)\s+(?:only\s+)?(?:the\s+)?(?:(?:options?|arguments?|flags?|parameters?)\s+)?"
    r"[*_]{0,2}((?:`--?[a-zA-Z][\w-]{0,60}\s\w{1,30}`|`?(?:--[a-zA-Z][\w-]{1,60}(?:=[\w./-]{1,60})?|\+[a-z][\w-]{2,30}(?=\s)"
    r"|[a-z_]\w*(?:\.\w+)*=\w[\w.]*|[a-z_]\w*(?:\.\w+)+\s=\s\w[\w.]*)`?(?:,?\s+(?:and\s+)?)?){1,6})",
    re.IGNORECASE,
)
# "With `--cegqi` the answer is right": not the run that shows the bug
_RIGHT = re.compile(
    r"[^.\n]{0,60}\b(?:right|correct(?:ly)?|works?|fine|expected|goes\s+away|disappears)\b(?!\s+but)",
    re.IGNORECASE,
)
# "it should be sat, which is the answer with `--cegqi`"
_RIGHT_BEFORE = re.compile(
    r"\b(?:right|correct(?:ly)?|fine|expected|should\s+be|works?|goes\s+away|disappears|says\s+so|agrees|confirms)\b[^.\n]{0,80}$",
    re.IGNORECASE,
)
# "While z3str3 and CVC4 return:", above an output
_CREDITS = re.compile(
    rf"(?:^|\n)[ \t*]*(?:(?:and|while|both|or|{ANY_NAME})\d?[ ,:/*&]*)+$"
    rf"|\b({ANY_NAME})\d?\b[^.:\n]{{0,60}}?\b(?:returns?|gives?|says?|prints?|reports?|outputs?|answers?|yields?"
    r"|produces?|responds?)[^.:\n]{0,80}[:.]?\s*$",
    re.IGNORECASE,
)
# "# with z3-4.8.5", above a command line
_VERSION_ABOVE = re.compile(r"#[^\n]{0,80}?\b[vV]?(\d{1,2}\.\d{1,3}(?:\.\d{1,3}){0,2})\b")
VERSION_OPTIONS = frozenset({"--version", "-version", "--help", "-help", "-h", "-V", "--show-config"})
_EXPECTS = re.compile(
    r"\b(?:expect(?:ed|s|ing)?|should (?:be|print|return|output)|correct)\b[^.\n]{0,60}[:.]?\s*$", re.I
)


def runs_of(section: Section, own: str = "") -> list[Run]:
    """The runs of a section, in order. ``own``: the program that options without a program are of."""
    runs: list[Run] = []
    for index, (block, segments) in enumerate(zip(section.blocks, section.segments, strict=True)):
        before = section.blocks[index - 1] if index else None
        lead = before.text[-200:] if before and not before.is_code else ""
        expects = bool(lead and _EXPECTS.search(lead))
        credited = _CREDITS.search(lead) if lead else None
        found = _runs_of_block(section.where, index, block, segments, expects)
        if runs and found and index and _introduces(runs[-1], section.blocks[:index], found[0]):
            found[0] = replace(found[0], invocation=runs.pop().invocation)
        # Of "z3str3 and CVC4 return:" the last.
        names = re.findall(ANY_NAME, credited[0].lower()) if credited else []
        runs += [_credited(run, names[-1]) for run in found] if names else found
        if not block.is_code and ("`" in block.text or ":" in block.text or "-" in block.text):
            texts = [one.text for one in section.blocks[max(0, index - 3) : index] if not one.is_code]
            above = texts[-1] if texts else ""
            runs += _inline_runs(section.where, index, block, own, above)
    for draft in section.models:
        text = "\n".join(piece.text for piece in draft.pieces)
        first, last = draft.pieces[0].line, draft.pieces[-1].line
        runs.append(Run(section.where, draft.block, first, last, None, Output(text, line=first)))
    return runs


def _introduces(run: Run, above: Sequence[Block], printed: Run) -> bool:
    """Whether the texts above an output end with the command line that printed it."""
    if run.invocation is None or run.output is not None or not len(above) - 2 <= run.block < len(above):
        return False
    if printed.invocation is not None or printed.is_expectation or printed.output is None:
        return False
    if any(block.is_code for block in above[run.block :]):
        return False
    rest = above[run.block].text.rpartition(run.invocation.text)[2]
    return all(_LEADS_ON.fullmatch(text) for text in (rest, *(one.text for one in above[run.block + 1 :])))


def _credited(run: Run, solver: str) -> Run:
    """A run without a command line as one of the solver that the text above names."""
    if run.invocation is not None or run.output is None:
        return run
    return replace(run, output=replace(run.output, solver=solver))


def _runs_of_block(
    where: str, index: int, block: Block, segments: Sequence[Segment], expects: bool
) -> list[Run]:
    runs: list[Run] = []
    pending: list[Invocation] = []
    printed: list[Segment] = []
    version = ""
    # Whether the commands are the input of a run (here-document, echo).
    is_input = any(segment.kind == "open" and segment.invocations for segment in segments)

    def flush() -> None:
        if not pending and not printed:
            return
        named = pending[-1] if pending else _named_by_shell(printed)
        output = _output(printed, block.line, named.solver if named else "") if printed else None
        first = block.line + (printed[0].line if printed else 0)
        for number, invocation in enumerate(pending):
            line = block.line + invocation.line
            last = output if number == len(pending) - 1 else None
            asks_version = not VERSION_OPTIONS.isdisjoint(invocation.options)
            end = max(first, line)
            runs.append(Run(where, index, line, end, invocation, last, is_version_query=asks_version))
        if not pending:
            end = block.line + printed[-1].line
            runs.append(Run(where, index, first, end, named, output, expects and named is None))
        pending.clear()
        printed.clear()

    for segment in segments:
        if segment.kind == "shell":
            flush()
            pending += [replace(one, version=one.version or version) for one in segment.invocations]
            version = ""
        elif segment.kind == "output":
            printed.append(segment)
        elif (segment.kind == "open" and segment.invocations) or (
            segment.kind == "command" and pending and not printed and is_input
        ):
            continue
        elif segment.kind not in ("comment", "elision", "close"):
            flush()
            said = _VERSION_ABOVE.match(segment.text) if segment.kind == "prose" else None
            version = said[1] if said else ""
    flush()
    return _with_versions(runs)


# What "--version" prints, where it is nothing but the number.
_BARE_VERSION = re.compile(r"\s*v?(\d{1,2}\.\d{1,3}(?:\.\d{1,3}){0,2})\s*")


def _with_versions(runs: list[Run]) -> list[Run]:
    """The runs of a block. Those of a program whose version another one printed have that version."""
    versions = {
        run.invocation.program: found[1]
        for run in runs
        if run.is_version_query and run.invocation and run.output
        if (found := _BARE_VERSION.fullmatch(run.output.text))
    }
    return [
        replace(run, invocation=replace(run.invocation, version=versions[run.invocation.program]))
        if run.invocation and not run.invocation.version and run.invocation.program in versions
        else run
        for run in runs
    ]


def _named_by_shell(printed: Sequence[Segment]) -> Invocation | None:
    """The command line that a shell's message about the end of a run names."""
    for segment in printed[-20:]:
        for found in _ENDED.finditer(segment.text[-2000:]):
            named = invocations_of(found[1] or found[2], segment.line)
            is_cut = "\u2026" in found[0] or "..." in found[0]
            if len(named) == 1 and not is_cut and (named[0].options or named[0].files):
                return named[0]
    return None


def _inline_runs(where: str, index: int, block: Block, own: str, above: str) -> list[Run]:
    """The command lines in prose: in code spans, and after words such as "Command line:"."""
    text = unescaped(block.text)
    runs: list[Run] = []
    known: set[str] = set()
    for found in islice(_mentions(text), 1000):
        code = found[1].strip()
        command = command_of(code)
        if found.re is _QUOTED_COMMAND and not _HAS_OPTION.search(code):
            continue
        if command is None and solver_family(code.split(" ")[0]):
            command = code if _HAS_OPTION.search(code) or found.re is _LABELLED else None
        line = text.count("\n", 0, found.start(1))
        invocations = invocations_of(command, line) if command else []
        if command is None and own and found.re is _LABELLED and _OPTION.match(code):
            program = _program_in(f"{above}\n{text[: found.start()]}", own)
            invocations = [replace(one, text=code) for one in invocations_of(f"{program} {code}", line)]
        for invocation in invocations:
            if invocation.text not in known and VERSION_OPTIONS.isdisjoint(invocation.options):
                known.add(invocation.text)
                at = block.line + line
                output = None
                if len(invocations) == 1 and (gives := _GIVES.match(text, found.end(1))):
                    output = Output(gives[0], tuple(re.findall(r"\w+", gives[1])), invocation.solver, at)
                is_field = found.re is _LABELLED and not invocation.files
                runs.append(Run(where, index, at, at, invocation, output, is_field=is_field))
    if runs or not own:
        return runs
    said = _IN_WORDS.search(text)
    if said is not None and kin_of(said[1]) == kin_of(own):
        command = f"{said[1].lower()} {' '.join(said[2].replace('`', ' ').split())}"
    elif (said := _failing_options(text)) is not None:
        words = re.findall(r"[\w.=/+-]+", said[1].replace(" and ", " ").replace(" = ", "="))
        command = f"{_program_in(text[: said.start()], own)} {' '.join(words)}"
    else:
        return []
    line = text.count("\n", 0, said.start())
    at = block.line + line
    return [Run(where, index, at, at, one, is_in_words=True) for one in invocations_of(command, line)]


_NAMES = re.compile(rf"(?<![\w./`-])(?:{ANY_NAME})\d?(?![\w/-])", re.IGNORECASE)


def _program_in(text: str, own: str) -> str:
    """The program that the end of a text names: the tracker's ``own`` one, or a predecessor of it."""
    named = _NAMES.findall(text[-120:])
    return next((one.lower() for one in reversed(named) if kin_of(one) == kin_of(own)), own)


def _failing_options(text: str) -> re.Match[str] | None:
    """The first options in words that are not of a run with the right answer."""
    for found in islice(_WITH_OPTIONS.finditer(text), 20):
        if not _RIGHT.match(text, found.end()) and not _RIGHT_BEFORE.search(text[: found.start()][-200:]):
            return found
    return None


def _mentions(text: str) -> Iterator[re.Match[str]]:
    if any(sign in text for sign in (":", " is `", " are `", " was `", " were `")):
        yield from _LABELLED.finditer(text)
    if "`" in text:
        yield from _INLINE_CODE.finditer(text)
    if '"' in text:
        yield from _QUOTED_COMMAND.finditer(text)


def _lines(text: str) -> Sequence[str]:
    """The text of an output; its lines, if it opens a parenthesis that is never closed, as after a crash."""
    return text.split("\n") if text[:1] == "(" and text.count("(") > text.count(")") else (text,)


def _output(printed: Sequence[Segment], first_line: int, solver: str) -> Output:
    answers = tuple(
        found[1] for segment in printed for line in _lines(segment.text) if (found := ANSWER.match(line))
    )
    text = "\n".join(segment.text for segment in printed)
    return Output(text, answers, solver, first_line + printed[0].line)
