"""Questions about sorts and terms, with the expected answers: rows of two expressions."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from apifuzz.engines.rows import Word, evaluate, parsed
from apifuzz.interface import expect

_IS = "is"


class Questions:
    """The tables of a TOML file by name.

    The table ``is`` has, per sort name, the question that only such sorts answer with yes.
    """

    def __init__(self, file: Path) -> None:
        tables = tomllib.loads(file.read_text("utf-8"))
        self.is_: dict[str, str] = tables.pop(_IS, {})
        self._tables = {
            name: tuple((text, parsed(text), parsed(answer)) for text, answer in table.items())
            for name, table in tables.items()
        }

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def ask(self, kind: str, about: object, word: Word, *names: str) -> None:
        """Ask the questions of some tables. Raises Misbehaviour of ``kind`` for an unexpected answer."""
        for name in names:
            for text, question, answer in self._tables.get(name, ()):
                found, expected = evaluate(question, word), evaluate(answer, word)
                if found != expected:
                    expect(kind, found, expected, f"{text} of {about!s:.300}")

    def ask_which(self, handle: Any, name: str, about: str) -> None:
        """Ask a sort every question that sorts of one name only answer with yes."""
        own = self.is_.get(name)
        for question in dict.fromkeys(self.is_.values()):
            expect("sort", getattr(handle, question)(), question == own, f"{question} of {about}")
