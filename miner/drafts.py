"""Groups SMT-LIB commands into scripts, within a block and across the blocks of a text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from miner.commandline import Invocation
from miner.sexpr import ASKS_SOMETHING, ASSERTS, NOTHING, Names, names_of, unquoted
from miner.transcript import Segment, is_elided
from smtlib.scanner import CHECKS, lexemes

# The names in longer commands (in characters) are ignored.
_LONG_COMMAND = 100_000
# So are the names after this many segments of a block.
_MOST_LOOKED_AT = 10_000
# How many formulas back to search for the declarations of a script that has none.
_LOOK_BACK = 12
# Maximum number of formulas per text that continue an earlier one, as each repeats what it continues.
_MOST_CONTINUED = 30


class Piece(NamedTuple):
    """One command of a script (or a comment, with an empty word)."""

    word: str
    text: str
    tokens: tuple[str, ...]
    names: Names
    whole: bool
    block: int
    line: int


@dataclass(slots=True)
class Draft:
    """A script under construction."""

    block: int
    loose: bool = False
    file: str = ""
    pieces: list[Piece] = field(default_factory=list)
    invocations: list[Invocation] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)
    declared: set[str] = field(default_factory=set)
    bound: set[str] = field(default_factory=set)
    free: set[str] = field(default_factory=set)
    words: set[str] = field(default_factory=set)
    scopes: list[set[str]] = field(default_factory=lambda: [set()])
    last_word: str = ""
    answered: bool = False
    # The draft whose declarations this one uses, if that is a formula by itself.
    base: Draft | None = None

    def add(self, piece: Piece) -> None:
        self.pieces.append(piece)
        if not piece.word:
            return
        self.words.add(piece.word)
        self.last_word = piece.word
        names = piece.names
        if names is not NOTHING:
            self.declared |= names.declared
            self.bound |= names.bound
            self.free |= names.free
        if piece.word == "push":
            self.scopes.append(set())
        elif piece.word == "pop" and len(self.scopes) > 1:
            self.scopes.pop()
        elif piece.word in ("reset", "reset-assertions"):
            self.scopes = [set()]
        if names.main:
            self.scopes[-1].add(names.main)
        if not piece.whole:
            self.flags |= {"incomplete", "unbalanced"}

    @property
    def has_check(self) -> bool:
        return not self.words.isdisjoint(CHECKS)

    @property
    def has_assert(self) -> bool:
        return not self.words.isdisjoint(ASSERTS)

    @property
    def is_header(self) -> bool:
        """Whether it has only ``set-logic``, ``set-option`` and ``set-info``."""
        return self.words <= {"set-logic", "set-option", "set-info"}

    @property
    def is_definitions(self) -> bool:
        return bool(self.words) and self.words <= {"define-fun", "define-fun-rec", "define-const"}

    @property
    def unresolved(self) -> set[str]:
        return self.free - self.declared - self.bound

    @property
    def last_block(self) -> int:
        return self.pieces[-1].block if self.pieces else self.block

    def symbols(self) -> set[str]:
        return {unquoted(token) for piece in self.pieces for token in piece.tokens}

    def command_texts(self) -> set[tuple[str, ...]]:
        return {piece.tokens for piece in self.pieces if piece.word}

    def starts_new_formula(self, piece: Piece) -> bool:
        """Whether a command must begin another script."""
        if "exit" in self.words:
            return True
        if self.last_word == "reset":
            return False
        if piece.word == "set-logic":
            return "set-logic" in self.words or self.has_check or self.has_assert
        if piece.names.main and any(piece.names.main in scope for scope in self.scopes):
            return self.has_check or self.has_assert
        # A run of a solver follows a complete script: what comes next is another script.
        return self.answered and self.has_check and piece.word not in ("get-model", "get-value", "exit")


def piece_of(segment: Segment, block: int, first_line: int, look: bool = True) -> Piece:
    """A segment as a piece of a script; the names in it are collected only with ``look``."""
    if segment.kind != "command":
        return Piece("", segment.text, (), NOTHING, True, block, first_line + segment.line)
    tokens: tuple[str, ...] = ()
    names = NOTHING
    if look and len(segment.text) <= _LONG_COMMAND:
        tokens = tuple(lexemes(segment.text))
        names = names_of(segment.word, tokens)
    return Piece(segment.word, segment.text, tokens, names, segment.whole, block, first_line + segment.line)


def drafts_of_block(segments: Sequence[Segment], block: int, first_line: int, loose: bool) -> list[Draft]:
    """The scripts of a block; every script ends with the block."""
    drafts: list[Draft] = []
    current: Draft | None = None
    # The file or input that is being shown: its name and the runs that read it.
    opened: tuple[str, list[Invocation]] | None = None
    elided = False
    # Comments before the first command of a script.
    leading: list[Piece] = []
    for index, segment in enumerate(segments):
        match segment.kind:
            case "command":
                piece = piece_of(segment, block, first_line, index < _MOST_LOOKED_AT)
                if current is None or current.starts_new_formula(piece):
                    current = Draft(block, loose)
                    if opened is not None:
                        current.file, current.invocations = opened[0], list(opened[1])
                    drafts.append(current)
                    current.pieces += leading
                    leading = []
                current.add(piece)
                if elided or is_elided(segment.text):
                    current.flags |= {"incomplete", "elided"}
                elided = False
            case "comment":
                if current is not None:
                    current.add(piece_of(segment, block, first_line))
                else:
                    leading.append(piece_of(segment, block, first_line))
            case "elision":
                before = segments[index - 1].kind if index else ""
                after = segments[index + 1].kind if index + 1 < len(segments) else ""
                if current is not None and before in ("command", "comment", "elision"):
                    current.flags |= {"incomplete", "elided"}
                elif after in ("command", "comment", "elision"):
                    elided = True
            case "open":
                current = None
                leading = []
                opened = (segment.file, list(segment.invocations))
            case "close":
                current = None
                opened = None
            case "shell" | "prompt":
                if current is not None:
                    current.answered = True
    for draft in drafts:
        _drop_fragment(draft)
    return drafts


def _drop_fragment(draft: Draft) -> None:
    """Drop a part of another script that was pasted, after a blank line, below the last check."""
    last = max((place for place, piece in enumerate(draft.pieces) if piece.word in CHECKS), default=None)
    if last is None or draft.scopes[1:]:
        return
    for place in range(last + 1, len(draft.pieces)):
        before, piece = draft.pieces[place - 1], draft.pieces[place]
        is_apart = piece.line > before.line + before.text.count("\n") + 1
        if piece.word in ASSERTS and is_apart:
            rest = draft.pieces[place:]
            if ASKS_SOMETHING.isdisjoint(one.word for one in rest):
                del draft.pieces[place:]
            return


def join(drafts: Iterable[Draft], earlier: Sequence[Draft]) -> list[Draft]:
    """Join the drafts of a section that are parts of one script spread over several blocks.

    A draft may also continue one of ``earlier``, the drafts of the sections before.
    """
    joined: list[Draft] = []
    budget = _MOST_CONTINUED
    for draft in drafts:
        before = joined[-1] if joined else None
        if before is not None and before.last_block != draft.block and _continues(before, draft):
            for piece in draft.pieces:
                before.add(piece)
            before.flags |= draft.flags | {"joined"}
            before.loose = before.loose and draft.loose
            continue
        if budget > 0:
            _rest_on(draft, [*earlier[-_LOOK_BACK:], *joined[-_LOOK_BACK:]])
            budget -= draft.base is not None
        joined.append(draft)
    return joined


def _continues(before: Draft, draft: Draft) -> bool:
    if draft.file or before.file or draft.invocations or before.has_check or "exit" in before.words:
        return False
    if not before.scopes[0].isdisjoint(draft.scopes[0]):
        return False
    if "set-logic" in draft.words and ("set-logic" in before.words or not before.is_header):
        return False
    if before.is_header:
        return not draft.loose or before.loose
    if draft.words.isdisjoint(ASSERTS) and not draft.declared:
        return draft.has_check
    return not draft.symbols().isdisjoint(before.declared - draft.declared)


def _rest_on(draft: Draft, candidates: Sequence[Draft]) -> None:
    """Set the base of a draft that uses declarations of an earlier formula."""
    if draft.file or draft.invocations or not draft.has_assert or "set-logic" in draft.words:
        return
    symbols: set[str] | None = None
    for candidate in reversed(candidates):
        if not candidate.declared or candidate.is_definitions:
            continue
        if symbols is None:
            symbols = draft.symbols() - draft.declared - draft.bound
        if symbols.isdisjoint(candidate.declared) or not draft.unresolved <= candidate.declared:
            continue
        if not candidate.scopes[0].isdisjoint(draft.scopes[0]):
            continue
        draft.base = candidate
        return


def is_model(draft: Draft, drafts: Iterable[Draft]) -> bool:
    """Whether a draft is a printed model: definitions of symbols that another draft declares."""
    return draft.is_definitions and any(
        other is not draft and not other.is_definitions and draft.declared <= other.declared
        for other in drafts
    )


def is_formula(draft: Draft) -> bool:
    """Whether a draft is a complete script rather than a part or a mention of one."""
    commands = sum(1 for piece in draft.pieces if piece.word)
    if draft.loose and commands < 2:
        return False
    if draft.base is not None:
        return not draft.command_texts() <= draft.base.command_texts() and (
            draft.has_check or not draft.loose
        )
    if draft.has_assert:
        # With a check, an ill-formed script is one too; without a check it is more likely part of another.
        return bool(draft.declared) or not draft.unresolved or (draft.has_check and not draft.loose)
    asks = not draft.words.isdisjoint(ASKS_SOMETHING)
    if _may_crash(draft):
        return True
    if any(piece.word == "check-sat" and len(piece.tokens) > 3 for piece in draft.pieces):
        return True
    return asks and (
        bool(draft.declared) or (bool({"set-option", "simplify", "get-qe"} & draft.words) and commands > 1)
    )


# Commands of scripts as they are run; an explanation shows declarations alone.
_RUN_ALONE = frozenset({"push", "pop", "reset", "reset-assertions", "exit", "get-model", "get-value"})


def _may_crash(draft: Draft) -> bool:
    """Whether a script without an assertion is complete: a solver may crash on its declarations."""
    is_shown = bool(draft.file or draft.invocations) or not draft.words.isdisjoint(_RUN_ALONE)
    return not draft.loose and bool(draft.declared) and not draft.is_definitions and is_shown
