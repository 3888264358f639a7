"""Finds the solver runs in the segments of an issue's texts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice

from miner.commandline import Invocation, command_of, invocations_of, solver_family
from miner.drafts import Draft
from miner.markdown import Block
from miner.transcript import ANSWER, Segment


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
    # The run only printed the version or help, so it belongs to no formula.
    is_version_query: bool = False


@dataclass(slots=True)
class Section:
    """One text of an issue: its blocks, their segments and drafts."""

    where: str
    blocks: list[Block]
    drafts: list[Draft] = field(default_factory=list)
    segments: list[list[Segment]] = field(default_factory=list)
    # Drafts that are printed models rather than scripts.
    models: list[Draft] = field(default_factory=list)


_INLINE_CODE = re.compile(r"`([^`\n]{3,300})`")
_ASKS_VERSION = re.compile(r"\s--?(?:version|help|h|V)\b")
_VERSION_OPTIONS = frozenset({"--version", "-version", "--help", "-help", "-h", "-V", "--show-config"})
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
        solver = pending[-1].solver if pending else ""
        output = _output(printed, block.line, solver) if printed else None
        first = block.line + (printed[0].line if printed else 0)
        for number, invocation in enumerate(pending):
            line = block.line + invocation.line
            last = output if number == len(pending) - 1 else None
            asks_version = not _VERSION_OPTIONS.isdisjoint(invocation.options)
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
    """Whether the commands of a block are the input of a run (here-document, echo)."""
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
