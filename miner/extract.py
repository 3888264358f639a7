"""Extracts the formulas of an issue, each with its position, solver runs and expected answer.

Stages: Markdown -> blocks -> segments -> drafts -> formulas. Extraction never raises and takes time linear
in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress, pairwise

from corpus.records import Issue
from miner.commandline import Invocation, command_of, invocations_of, solver_family
from miner.drafts import Draft, Piece, drafts_of_block, is_formula, is_model, join
from miner.expected import Expected, expectations
from miner.failing import FormulaRun, if_called_wrong, judge
from miner.languages import SMT_LIB, has_formulas, language_of
from miner.likeness import Likeness, Shape, likenesses, shape_of
from miner.markdown import Block, block_of, blocks_of, normalise
from miner.pairing import attach
from miner.runs import VERSION_OPTIONS, Output, Run, Section, runs_of
from miner.sexpr import ASKS_SOMETHING, FOREIGN, STANDARD
from miner.transcript import cut, is_elided
from smtlib.scanner import CHECKS, lexemes
from solvers.registry import ANY_NAME, PROFILES, kin_of


@dataclass(frozen=True, slots=True)
class LocatedBlock:
    """A block, the text that contains it (``body`` or ``comment:<id>``) and its number there (from 0).

    ``written_in``: its language, such as ``smt-lib`` or ``python``; empty if it has no code of a known one.
    """

    where: str
    index: int
    block: Block
    written_in: str = ""


@dataclass(frozen=True, slots=True)
class Formula:
    """A script found in an issue or in an attached file.

    ``text`` is for learning: only commands of SMT-LIB's core, ending in a ``check-sat`` (see ``flags``);
    ``original`` is every command as it was written. ``blocks`` are block numbers within ``where``, ``line``
    the first line in that text. ``duplicate_of`` and ``reduced_from`` are positions in the extraction.

    Flags: ``incomplete`` (something is left out or broken: ``elided``, ``unbalanced``), ``joined`` (over
    several blocks), ``continued`` (declarations taken from an earlier formula), ``check-sat-added``,
    ``undeclared``, ``foreign`` (constraints outside of SMT-LIB's core were left out), ``loose`` (stood in
    plain text).
    """

    text: str
    script: str
    original: str
    where: str
    blocks: tuple[int, ...]
    line: int
    file: str = ""
    runs: tuple[FormulaRun, ...] = ()
    expected: Expected | None = None
    flags: tuple[str, ...] = ()
    duplicate_of: int | None = None
    reduced_from: int | None = None

    @property
    def invocations(self) -> tuple[Invocation, ...]:
        """The distinct command lines of the runs, in order."""
        return tuple(dict.fromkeys(run.invocation for run in self.runs if run.invocation))

    @property
    def outputs(self) -> tuple[Output, ...]:
        """The outputs of the runs, in order."""
        return tuple(run.output for run in self.runs if run.output)

    @property
    def failing(self) -> FormulaRun | None:
        """The first run that shows the bug, if any; one with a command line before others of its symptom."""
        failing = [run for run in self.runs if run.failing]
        alike = (run for run in failing if run.invocation and run.symptom == failing[0].symptom)
        return next(alike, next(iter(failing), None))


@dataclass(frozen=True, slots=True)
class Extraction:
    """Everything extracted from an issue. ``prose`` maps ``title``, ``body`` and ``comment:<id>`` to the
    normalised text without code.
    """

    blocks: tuple[LocatedBlock, ...] = ()
    formulas: tuple[Formula, ...] = ()
    runs: tuple[Run, ...] = ()
    prose: Mapping[str, str] = field(default_factory=dict)


ATTACHMENT = "attachment:"
"""What the place of an attached file starts with."""

# No text within GitHub's limit of 65,536 characters has more of either; the rest is ignored.
_MOST_BLOCKS = 4_000
_MOST_DRAFTS = 2_500
# Formulas with more characters are compared as plain text.
_LONG_FORMULA = 150_000
# Characters kept of a title, and of a text without paragraphs.
_LONG_TITLE = 1_000
_LONG_PROSE = 12_000

# A text without any of these contains nothing to extract.
_WORTH_READING = re.compile(rf"\(|```|~~~|<pre|cvc|{ANY_NAME}|\bsat\b|unsat|    ", re.I)


def extract_issue(issue: Issue, files: Mapping[str, str] | None = None) -> Extraction:
    """Extract everything that an issue contains: blocks, formulas, solver runs and prose.

    ``files``: texts of attached files by name. Each is read like a code block, with ``attachment:<name>`` as
    its place.
    """
    sections: list[Section] = []
    earlier: list[Draft] = []
    prose = {"title": normalise(issue.title[:_LONG_TITLE])}
    for where, text in issue.texts():
        blocks = blocks_of(text)[:_MOST_BLOCKS] if _WORTH_READING.search(text) else []
        prose[where] = "\n".join(block.text for block in blocks if not block.is_code)
        if not prose[where] and "```" not in text:
            prose[where] = normalise(text[:_LONG_PROSE])
        if blocks:
            section = _read_section(where, blocks, earlier)
            sections.append(section)
            earlier += [draft for draft in section.drafts if is_formula(draft)]
    for name, text in (files or {}).items():
        section = _read_section(f"{ATTACHMENT}{name}", [block_of("fenced", "", text + "\n", 1)], ())
        for draft in section.drafts:
            draft.file = draft.file or _FILE_IN_NAME.sub("", name.rpartition("/")[2])
        sections.append(section)
    return _assemble(issue.tracker, sections, prose)


# Attached scripts are often called "a.smt2.txt".
_FILE_IN_NAME = re.compile(r"(?<=\.smt2)\.txt(?:~\d+)?$|~\d+$")


def _read_section(where: str, blocks: list[Block], earlier: Sequence[Draft]) -> Section:
    section = Section(
        where,
        blocks,
        [cut(block.text, loose=not block.is_code) for block in blocks],
        [language_of(block.text, block.language) for block in blocks],
    )
    parts = zip(blocks, section.segments, section.languages, strict=True)
    drafts = [
        draft
        for index, (block, segments, language) in enumerate(parts)
        if has_formulas(block.text, language)
        for draft in drafts_of_block(segments, index, block.line, not block.is_code)
    ]
    section.drafts = join(drafts[:_MOST_DRAFTS], earlier)
    named: set[int] = set()
    for draft in section.drafts:
        if not draft.file and not draft.invocations and draft.block not in named:
            draft.file = _named_above(section, draft.block)
        named.add(draft.block)
    return section


# "small.smt2:", "### small.smt2", "The file `small.smt2` is:", but not the option "sat.smt"
_FILE_ABOVE = re.compile(r"(?<![\w./-])(?:\./)?((?!sat\.smt\b)[\w+-][\w.+-]{0,80}\.smt2?)\b")


def _named_above(section: Section, index: int) -> str:
    """The file name that the text directly above a block gives it; empty if there is none."""
    if index == 0:
        return ""
    above = section.blocks[index - 1]
    if above.is_code:
        # "$ cat small.smt2" in a separate block.
        kinds = [segment.kind for segment in section.segments[index - 1][-3:]]
        return section.segments[index - 1][-2].file if kinds == ["shell", "open", "close"] else ""
    line = above.text.rstrip()[-200:].rpartition("\n")[2].strip()
    names = _FILE_ABOVE.findall(line)
    is_lead = line.endswith(":") or above.kind == "heading" or line.strip("*_`") in names
    return names[0] if len(names) == 1 and is_lead and len(line) <= 120 else ""


def _assemble(tracker: str, sections: list[Section], prose: Mapping[str, str]) -> Extraction:
    kept: list[tuple[Section, Draft]] = []
    for section in sections:
        for place, draft in enumerate(section.drafts):
            if is_formula(draft):
                kept.append((section, draft))
            elif is_model(draft, section.drafts[max(0, place - 20) : place + 20]):
                section.models.append(draft)
    own = solver_family(tracker.rpartition("/")[2])
    runs = [run for section in sections for run in runs_of(section, own)]
    attached = attach(runs, kept)
    expected = expectations(tracker, prose, kept, attached)
    pieces_of = [_all_pieces(draft) for _, draft in kept]
    likes = likenesses([_shape(draft, pieces) for (_, draft), pieces in zip(kept, pieces_of, strict=True)])
    _link_continued(kept, likes)
    formulas: list[Formula] = []
    for (section, draft), pieces, like, mine, (answer, said) in zip(
        kept, pieces_of, likes, attached, expected, strict=True
    ):
        complete = [_is_complete(piece, draft) for piece in pieces]
        text, flags = _for_learning(draft, pieces, complete)
        shown, answer = judge(_shown(section.where, draft, mine, said, own), answer, tracker, prose["title"])
        blocks = sorted({piece.block for piece in draft.pieces})
        formulas.append(
            Formula(
                text=text,
                script=_whole_script(list(compress(pieces, complete))),
                original="\n".join(piece.text for piece in draft.pieces),
                where=section.where,
                blocks=tuple(blocks),
                line=draft.pieces[0].line,
                file=draft.file,
                runs=shown,
                expected=answer,
                flags=tuple(sorted(draft.flags | flags)),
                duplicate_of=like.duplicate_of,
                reduced_from=like.reduced_from,
            )
        )
    formulas = _without_contrasts(_with_options(formulas))
    formulas = [_if_called_wrong(formula, prose) for formula in formulas]
    holding = {(formula.where, index) for formula in formulas for index in formula.blocks}
    located = [
        LocatedBlock(
            section.where, index, block, language or (SMT_LIB if (section.where, index) in holding else "")
        )
        for section in sections
        if not section.where.startswith(ATTACHMENT)
        for index, (block, language) in enumerate(zip(section.blocks, section.languages, strict=True))
    ]
    return Extraction(tuple(located), tuple(formulas), tuple(runs), prose)


def _if_called_wrong(formula: Formula, prose: Mapping[str, str]) -> Formula:
    """The formula, with its expected answer if the only answer of the failing run is called wrong. In a
    script that asks for values or optima, those may be the wrong ones.
    """
    failing = formula.failing
    if formula.expected is not None or failing is None or failing.symptom:
        return formula
    others = ("(get-value", "(assert-soft", "(minimize", "(maximize")
    if formula.original.count("(check-sat") > 1 or any(one in formula.original for one in others):
        return formula
    expected = if_called_wrong(failing, prose["title"], prose["body"] if formula.where == "body" else "")
    if expected is None:
        return formula
    runs = tuple(replace(run, symptom="wrong-answer") if run is failing else run for run in formula.runs)
    return replace(formula, expected=expected, runs=runs)


_NO_PART = ("(set-option", "(set-info", "(get-", "(exit", ";")


def _with_options(formulas: Sequence[Formula]) -> list[Formula]:
    """The formulas. If two of a text differ only in options, the answer with fewer options is expected."""
    texts = [[line.strip() for line in formula.text.split("\n")] for formula in formulas[:20]]
    cores = ["\n".join(line for line in text if not line.startswith(_NO_PART)) for text in texts]
    set_by = [sum(line.startswith("(set-option") for line in text) for text in texts]
    result = list(formulas)
    for place, core in enumerate(cores):
        formula = formulas[place]
        given = {run.answers for run in formula.runs if run.answers}
        if formula.expected is not None or len(formula.runs) != 1 or len(given) != 1 or len(min(given)) != 1:
            continue
        for other, same in enumerate(cores):
            plain = {run.answers for run in formulas[other].runs if run.answers}
            is_plain = same == core and set_by[other] < set_by[place]
            if is_plain and len(plain) == 1 and formulas[other].where == formula.where:
                answer = next(iter(plain))
                if answer != next(iter(given)) and answer in (("sat",), ("unsat",)):
                    symptom = "unknown" if given == {("unknown",)} else "wrong-answer"
                    bad = tuple(replace(run, failing=True, symptom=symptom) for run in formula.runs)
                    right = Expected(answer[0], "", "other options")
                    result[place] = replace(formula, expected=right, runs=bad)
                    runs = tuple(replace(run, failing=False) for run in formulas[other].runs)
                    result[other] = replace(formulas[other], runs=runs)
    return result


def _without_contrasts(formulas: Sequence[Formula]) -> list[Formula]:
    """The formulas. A run without a symptom does not fail if its text shows another formula on which a run
    fails: it is there for comparison.
    """
    bugs = {one.where for one in formulas if any(run.failing and run.symptom for run in one.runs)}
    result: list[Formula] = []
    for formula in formulas:
        failing = [run for run in formula.runs if run.failing]
        right = formula.expected is None or formula.expected.answer in (
            " ".join(run.answers) for run in failing
        )
        plain = all(run.invocation and not run.symptom and run.answers for run in failing)
        if failing and plain and right and formula.where in bugs:
            formula = replace(formula, runs=tuple(replace(run, failing=False) for run in formula.runs))
        result.append(formula)
    return result


def _shown(
    place: str, draft: Draft, attached: Sequence[Run], said: Expected | None, own: str
) -> list[FormulaRun]:
    """The runs that are shown with a formula: command lines in it, then the runs attached to it. Where none
    of the solver ``own`` has an output, the answer that the prose says is one.
    """
    # A command line shown with its output is surer than one made of words.
    is_plain = any(run.invocation and run.output and not run.is_in_words for run in attached)
    attached = [run for run in attached if not (is_plain and run.is_in_words)]
    found = [
        FormulaRun(run.invocation, run.output, later=not (run.where == place or run.where == "body"))
        for run in attached
        if not run.is_expectation
    ]
    known = {run.invocation for run in found}
    inside = [*draft.invocations, *_said_in_comments(draft)]
    inside = [one for one in inside if VERSION_OPTIONS.isdisjoint(one.options)]
    shown = [FormulaRun(one) for one in dict.fromkeys(inside) if one not in known] + found
    printed = [
        run.output.solver or own for run in shown if run.output is not None and not _is_value(run.output)
    ]
    if all(kin_of(one) != kin_of(own) for one in printed):
        if said is not None:
            # A model alone is a part of what was printed.
            shown = [run for run in shown if run.invocation or kin_of(run.solver or own) != kin_of(own)]
            shown.append(FormulaRun(None, Output(said.text, tuple(said.answer.split()))))
        elif answers := _answers_in_comments(draft):
            shown.append(FormulaRun(None, Output("\n".join(answers), answers)))
    return shown


def _is_value(output: Output) -> bool:
    """Whether an output without an answer is a model or the solver's version."""
    return not output.answers and _VALUE.match(output.text) is not None


_VALUE = re.compile(
    rf"\s*(?:\((?!error)|(?:This is )?(?:{ANY_NAME})\d? (?:version|v?\d+\.\d)|- build )", re.I
)
_IN_COMMENTS = next(profile.program for profile in PROFILES.values() if profile.options_in_comments)
_COMMAND_LINE_COMMENT = re.compile(r";+\s*COMMAND-LINE:[ \t]*([^\n]{1,500})")


def _answers_in_comments(draft: Draft) -> tuple[str, ...]:
    """The answers that the script shows in comments of their own below the commands that ask."""
    found: list[str] = []
    for before, piece in pairwise(draft.pieces):
        if not piece.word and before.word in CHECKS and (answer := _ANSWER_COMMENT.fullmatch(piece.text)):
            found.append(answer[1].lower())
    return tuple(found)


_ANSWER_COMMENT = re.compile(r";+\s*(?:->|=>|:)?\s*(sat|unsat|unknown)\s*", re.I)


def _said_in_comments(draft: Draft) -> list[Invocation]:
    """Command lines in comments, such as the options of some solvers' regression files."""
    found: list[Invocation] = []
    for piece in draft.pieces:
        mark = None if piece.word else _COMMAND_LINE_COMMENT.match(piece.text)
        if mark is not None:
            found += invocations_of(f"{_IN_COMMENTS} {mark[1]}")
        elif not piece.word and (command := command_of(piece.text.lstrip("; "))):
            found += invocations_of(command)
    return found


def _link_continued(kept: Sequence[tuple[Section, Draft]], likes: list[Likeness]) -> None:
    """A formula that another one continues is a reduced form of that one."""
    places = {id(draft): place for place, (_, draft) in enumerate(kept)}
    for place, (_, draft) in enumerate(kept):
        base = places.get(id(draft.base)) if draft.base is not None else None
        if base is not None and likes[base] == Likeness() and likes[place].duplicate_of is None:
            likes[base] = Likeness(None, place)


def _all_pieces(draft: Draft) -> list[Piece]:
    """The commands of a draft, preceded by those of the formulas that it continues."""
    chain = [draft]
    while chain[-1].base is not None and len(chain) < 50:
        chain.append(chain[-1].base)
    pieces = [piece for part in reversed(chain) for piece in part.pieces if piece.word]
    return [piece for piece in pieces if piece.word != "exit"] if len(chain) > 1 else pieces


def _whole_script(pieces: Sequence[Piece]) -> str:
    """The script as it was run: every complete command, with a ``check-sat`` if nothing else asks."""
    texts = [piece.text for piece in pieces]
    if ASKS_SOMETHING.isdisjoint(piece.word for piece in pieces):
        texts.append("(check-sat)")
    return "\n".join(texts) + "\n"


def _is_complete(piece: Piece, draft: Draft) -> bool:
    return piece.whole and not ("elided" in draft.flags and is_elided(piece.text))


def _for_learning(draft: Draft, pieces: Sequence[Piece], complete: Sequence[bool]) -> tuple[str, set[str]]:
    """The text to learn from, and flags."""
    kept: list[str] = []
    flags: set[str] = set()
    checked = False
    for piece, is_whole in zip(pieces, complete, strict=True):
        if is_whole:
            if piece.word in STANDARD:
                kept.append(_with_assumptions(piece))
            elif piece.word == "check-sat-using":
                kept.append("(check-sat)")
            elif piece.word in FOREIGN:
                flags.add("foreign")
        checked = checked or (piece.word in CHECKS and piece.whole)
    if not checked:
        kept.append("(check-sat)")
        flags.add("check-sat-added")
    if draft.base is not None:
        flags |= {"continued", "joined"}
    elif draft.unresolved and "incomplete" not in draft.flags:
        flags.add("undeclared")
    if draft.loose:
        flags.add("loose")
    return "\n".join(kept) + "\n", flags


def _with_assumptions(piece: Piece) -> str:
    """The command in standard SMT-LIB: ``(check-sat a b)`` becomes ``check-sat-assuming``."""
    if piece.word != "check-sat" or len(piece.tokens) <= 3:
        return piece.text
    return "(check-sat-assuming (" + " ".join(piece.tokens[2:-1]).replace("( ", "(").replace(" )", ")") + "))"


def _shape(draft: Draft, pieces: Sequence[Piece]) -> Shape:
    if sum(len(piece.text) for piece in pieces) > _LONG_FORMULA:
        return shape_of([("text", [piece.text for piece in pieces])], frozenset())
    checks = [piece.word for piece in pieces if piece.word in CHECKS]
    # Where a script checks matters only if it checks more than once, or under assumptions.
    compared = STANDARD | FOREIGN | CHECKS if checks[1:] else (STANDARD | FOREIGN) - {"check-sat"}
    spelled = [
        (piece.word, piece.tokens or lexemes(piece.text)) for piece in pieces if piece.word in compared
    ]
    names: set[str] = set()
    part: Draft | None = draft
    while part is not None:
        names |= part.declared | part.bound
        part = part.base
    return shape_of(spelled, frozenset(names))
