"""From segments to formulas: which commands belong to one script, within a block and over blocks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from miner.commandline import Invocation
from miner.sexpr import ASKS_SOMETHING, ASSERTS, NOTHING, Names, names_of, unquoted
from miner.transcript import Segment, is_elided
from smtlib.scanner import CHECKS, lexemes

# Commands longer than this are stored, but their names are not looked at.
_LONG_COMMAND = 100_000
# Nor at those of commands after so many in one block (none that GitHub takes has as many).
_MOST_LOOKED_AT = 10_000
# How many formulas back the declarations of a fragment are looked for.
_LOOK_BACK = 12
# How many formulas of one text may go on from earlier ones: each repeats what it goes on from.
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
    """A script as it grows."""

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
    # The draft whose declarations this one goes on from, when that one was a formula already.
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
        """Nothing but logic, options and information."""
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

    def starts_anew(self, piece: Piece) -> bool:
        """Whether a command cannot belong to this script any more."""
        if "exit" in self.words:
            return True
        if self.last_word == "reset":
            return False
        if piece.word == "set-logic":
            return "set-logic" in self.words or self.has_check or self.has_assert
        if piece.names.main and any(piece.names.main in scope for scope in self.scopes):
            return self.has_check or self.has_assert
        # Something was run in between: what follows is another script, if this one was finished.
        return self.answered and self.has_check and piece.word not in ("get-model", "get-value", "exit")


def piece_of(segment: Segment, block: int, first_line: int, look: bool = True) -> Piece:
    """The piece a segment gives; ``look`` says whether to look at the names in it."""
    if segment.kind != "command":
        return Piece("", segment.text, (), NOTHING, True, block, first_line + segment.line)
    tokens: tuple[str, ...] = ()
    names = NOTHING
    if look and len(segment.text) <= _LONG_COMMAND:
        tokens = tuple(lexemes(segment.text))
        names = names_of(segment.word, tokens)
    return Piece(segment.word, segment.text, tokens, names, segment.whole, block, first_line + segment.line)


def drafts_of_block(segments: Sequence[Segment], block: int, first_line: int, loose: bool) -> list[Draft]:
    """The scripts that a block holds, each closed at the block's end."""
    drafts: list[Draft] = []
    current: Draft | None = None
    # An opened file or input: its name and the runs that read it.
    opened: tuple[str, list[Invocation]] | None = None
    elided = False
    # Comments that stand before the first command of a script.
    leading: list[Piece] = []
    for index, segment in enumerate(segments):
        match segment.kind:
            case "command":
                piece = piece_of(segment, block, first_line, index < _MOST_LOOKED_AT)
                if current is None or current.starts_anew(piece):
                    current = Draft(block, loose)
                    if opened is not None:
                        current.file, current.invocations = opened[0], list(opened[1])
                    drafts.append(current)
                    current.pieces += leading
                    leading = []
                current.add(piece)
                if is_elided(segment.text):
                    current.flags |= {"incomplete", "elided"}
                if elided:
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
    return drafts


def join(drafts: Iterable[Draft], earlier: Sequence[Draft]) -> list[Draft]:
    """Join the drafts of one section where one script was cut over several blocks.

    ``earlier`` are the drafts of the sections before, whose declarations a comment may go on from.
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
    """Find the formula whose declarations a draft without its own goes on from."""
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
    """Definitions of what another draft declares are a model that was printed."""
    if not draft.is_definitions:
        return False
    return any(
        other is not draft and not other.is_definitions and draft.declared <= other.declared
        for other in drafts
    )


def is_formula(draft: Draft) -> bool:
    """Whether a draft is a script to learn from, and not a piece of one or a mention."""
    commands = sum(1 for piece in draft.pieces if piece.word)
    if draft.loose and commands < 2:
        return False
    if draft.base is not None:
        return not draft.command_texts() <= draft.base.command_texts() and (
            draft.has_check or not draft.loose
        )
    if draft.has_assert:
        # A script that a solver was given may be ill-formed; without a check it is rather a part of one.
        return bool(draft.declared) or not draft.unresolved or (draft.has_check and not draft.loose)
    asks = not draft.words.isdisjoint(ASKS_SOMETHING)
    if any(piece.word == "check-sat" and len(piece.tokens) > 3 for piece in draft.pieces):
        return True
    return asks and (
        bool(draft.declared) or (bool({"set-option", "simplify", "get-qe"} & draft.words) and commands > 1)
    )
