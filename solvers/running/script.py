"""The commands of an SMT-LIB text and their positions: just enough to match answers with questions.

Solvers get any bytes, including unbalanced and binary text. Offsets count bytes; lines and columns count as
in z3.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

from smtlib.scanner import CHECKS, LEXEME, OPAQUE, QUESTIONS, Command, commands, lexemes, names_file
from smtlib.values import read_string

ANSWERS = ("sat", "unsat", "unknown")
_INCREMENTAL = frozenset({"push", "pop", "reset-assertions", "check-sat-assuming"})
# Besides get-...: commands that need an answer or only print.
_IDLE = QUESTIONS | frozenset(
    """
    echo apply eval simplify help help-tactic display labels check-synth check-synth-next block-model
    block-model-values
    """.split()
)
_NOT_BLANK = re.compile(rb"[^\n]")


@dataclass(frozen=True)
class Script:
    """An SMT-LIB text as bytes, with its commands up to the first ``exit``."""

    data: bytes

    @classmethod
    def of(cls, text: str) -> Script:
        """The script of a text; bytes read with ``surrogateescape`` are restored."""
        return cls(text.encode("utf-8", "surrogateescape"))

    @property
    def text(self) -> str:
        """The opposite of ``of``."""
        return self.data.decode("utf-8", "surrogateescape")

    @cached_property
    def _text(self) -> str:
        # Latin-1 maps every byte to one character, so offsets in the text are offsets in the bytes.
        return self.data.decode("latin-1")

    @cached_property
    def commands(self) -> tuple[Command, ...]:
        """The top-level commands in order; what follows an unbalanced parenthesis is left out."""
        found: list[Command] = []
        for command in commands(self._text):
            found.append(command)
            if command.name == "exit":
                break
        return tuple(found)

    def text_of(self, command: Command) -> str:
        """One of its commands as text, as in ``text``."""
        return self.data[command.start : command.end].decode("utf-8", "surrogateescape")

    def _lexemes(self, command: Command) -> list[str]:
        return lexemes(self._text[command.start : command.end])

    @cached_property
    def checks(self) -> tuple[Command, ...]:
        """The commands that ask for an answer."""
        return tuple(command for command in self.commands if command.name in QUESTIONS)

    def asked_by(self, tactic: str) -> Script:
        """The script with each ``check-sat`` replaced by z3's ``(check-sat-using tactic)``."""
        found: list[bytes] = []
        start = 0
        for command in self.commands:
            if command.name == "check-sat":
                found += [self.data[start : command.start], f"(check-sat-using {tactic})".encode()]
                start = command.end
        return Script(b"".join([*found, self.data[start:]]))

    @cached_property
    def with_old_escapes(self) -> Script | None:
        r"""The same with ``\x5c`` and the like in strings, which is how characters were spelled before the
        standard had escapes; None where a character has no such spelling.
        """
        if b"\\" not in self.data:
            return self
        try:
            return Script(LEXEME.sub(_with_old_escapes, self._text).encode("ascii"))
        except UnicodeEncodeError:
            return None

    @cached_property
    def is_incremental(self) -> bool:
        """Whether a solver needs its incremental mode for this script."""
        return len(self.checks) > 1 or any(command.name in _INCREMENTAL for command in self.commands)

    @cached_property
    def prints_more(self) -> bool:
        """Whether it has commands that may print something besides its questions."""
        return any(_is_idle(command) and command.name not in QUESTIONS for command in self.commands)

    @cached_property
    def file_command(self) -> str | None:
        """What may make a solver use a file outside its working folder, if anything."""
        return names_file(self._text)

    def without_solving(self) -> bytes:
        """The text up to ``exit`` with blanks in place of the commands that solve or print.

        Lines and columns do not change.
        """
        pieces: list[bytes] = []
        start = 0
        for command in self.commands:
            if command.name == "exit":
                return b"".join((*pieces, self.data[start : command.start]))
            if _is_idle(command):
                pieces += (
                    self.data[start : command.start],
                    _NOT_BLANK.sub(b" ", self.data[command.start : command.end]),
                )
                start = command.end
        return b"".join((*pieces, self.data[start:]))

    @cached_property
    def expected(self) -> tuple[str | None, ...]:
        """Per question, the answer in the ``(set-info :status ...)`` before it and after the last check."""
        answers: list[str | None] = []
        status: str | None = None
        for command in self.commands:
            if command.name in QUESTIONS:
                # A status is about assertions. Before a query, it may be about the rules or about the goal.
                answers.append(status if status != "unknown" and command.name in CHECKS else None)
                status = None
            elif command.name == "set-info":
                tokens = self._lexemes(command)
                if tokens[2:3] == [":status"] and tokens[3] in ANSWERS:
                    status = tokens[3]
        return tuple(answers)

    @cached_property
    def speakers(self) -> tuple[tuple[int, str | None], ...]:
        """The commands that may print what looks like an answer: index, echoed word (None for a check)."""
        found: list[tuple[int, str | None]] = []
        for index, command in enumerate(self.commands):
            if command.name in QUESTIONS:
                found.append((index, None))
            elif command.name == "echo":
                word = self._lexemes(command)[2]
                if word[0] == '"' and word[1:-1].rstrip() in ANSWERS:
                    found.append((index, word[1:-1].rstrip()))
        return tuple(found)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Its tokens without bars and quotes, each on one line, also as z3 prints strings, with ``"`` for
        ``""``; the longest first.
        """
        found = {
            token.strip('|"').replace("\n", " ") for token in lexemes(self.data.decode("utf-8", "replace"))
        }
        found |= {word.replace('""', '"') for word in found if '""' in word}
        return tuple(sorted(found - {""}, key=lambda word: (-len(word), word)))

    @cached_property
    def long_texts(self) -> tuple[str, ...]:
        """Its strings and quoted symbols of several lines, with their quotes and bars."""
        found = OPAQUE.findall(self.data.decode("utf-8", "replace"))
        return tuple(dict.fromkeys(text for text in found if "\n" in text and text[0] != ";"))

    @cached_property
    def _lines(self) -> tuple[int, ...]:
        return (0, *(match.end() for match in re.finditer("\n", self._text)))

    def command_at(self, line: int, column: int) -> int | None:
        """The index of the command at a solver's ``line`` (from 1) and ``column`` (from 0), or None."""
        if not 1 <= line <= len(self._lines):
            return None
        offset = self._lines[line - 1] + column
        index = bisect_right(self.commands, offset, key=lambda command: command.start) - 1
        return index if index >= 0 else None

    def chunks(self) -> list[tuple[int, int, int]]:
        """The text cut after every check-sat: (end, lines before the chunk, column it starts in).

        A solver that reads chunk by chunk prints each answer before the next question can kill it.
        """
        cuts: list[tuple[int, int, int]] = []
        start = 0
        stop = self.commands[-1].end if self.commands and self.commands[-1].name == "exit" else len(self.data)
        for end in [*(command.end for command in self.checks), stop]:
            line = bisect_right(self._lines, start) - 1
            if end > start:
                cuts.append((end, line, start - self._lines[line]))
            start = end
        return cuts


def _is_idle(command: Command) -> bool:
    return command.name in _IDLE or command.name.startswith("get-")


def _with_old_escapes(token: re.Match[str]) -> str:
    if token[0][0] != '"' or "\\" not in token[0] or len(token[0]) < 2:
        return token[0]
    spelled = (
        c if " " <= c <= "~" and c != "\\" else f"\\x{ord(c):02x}" if ord(c) <= 0xFF else c
        for c in read_string(token[0])
    )
    return f'"{"".join(spelled).replace(chr(34), 2 * chr(34))}"'
