"""One term manager of bitwuzla and what is kept with it: sorts, constants, how terms were made."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bitwuzla
from bitwuzla import Kind, RoundingMode

from apifuzz.engine import KEPT
from apifuzz.engines.rows import Questions, read_rows, words_of
from apifuzz.interface import Unsupported
from smtlib import Sort

TERMINATOR_CALLS = 2000
"""How often a check may ask its terminator before it gives up: a measure of work that does not depend on the
machine. bitwuzla asks every few hundred microseconds, so that most checks end within a second."""

# Widths of exponent and significand that a build without ``--fpexp`` takes.
_FORMATS = frozenset(((5, 11), (8, 24), (11, 53), (15, 113)))


def lacks_format(sort: Sort) -> bool:
    """Whether this is a floating-point sort that bitwuzla refuses to make (but lets conversions give)."""
    return sort.name == "FloatingPoint" and sort.indices not in _FORMATS


class Terminator:
    """Ends a check after a number of questions; a callable, as bitwuzla asks for."""

    def __init__(self) -> None:
        self.next_calls = self.left = TERMINATOR_CALLS
        """How often the next check may ask, and the one that is under way."""

    def start(self) -> None:
        """Prepare a check; called before each one."""
        self.left, self.next_calls = self.next_calls, TERMINATOR_CALLS

    def __call__(self) -> bool:
        self.left -= 1
        return self.left < 0


QUESTIONS = Questions(Path(__file__).with_name("questions.toml"))
_ROWS = read_rows(Path(__file__).with_name("calls.toml"))
OPERATORS, VALUES, SORTS, WAYS = (_ROWS[name] for name in ("operators", "values", "sorts", "ways"))
_NAMED = {entry.name: entry for kinds in (RoundingMode, Kind) for entry in kinds}


def kind_named(name: str) -> Any:
    """A kind, or a rounding mode."""
    return _NAMED[name]


class Session:
    """A term manager; shared by an engine and its siblings.

    ``declared`` holds the uninterpreted sorts by name, ``constants`` the declared constants and functions in
    order, ``made`` the kind, the ids of the children and the indices that terms were made with, by term id.
    Ids are never given out twice, so that ``made`` holds no term alive.
    """

    def __init__(self) -> None:
        self.manager = bitwuzla.TermManager()
        # bitwuzla 0.9 crashes where Python's garbage collector finds terms in a cycle and takes the manager
        # away before them.
        KEPT.append(self.manager)
        self.declared: dict[str, Any] = {}
        self.constants: list[Any] = []
        self.names: dict[int, str] = {}
        self.made: dict[int, tuple[Any, tuple[int, ...], tuple[int, ...]]] = {}

    def sort(self, sort: Sort) -> Any:
        """bitwuzla's sort for ``sort``."""
        if sort.name in self.declared and not sort.args:
            return self.declared[sort.name]
        if lacks_format(sort):
            raise Unsupported(f"floating-point format {sort}")
        if sort.name == "Array" and any(part.is_function for part in sort.args):
            raise Unsupported("functions in arrays")
        args = [self.sort(part) for part in sort.args]
        routes = SORTS.find(sort.name, [""] * len(args))
        if not routes:
            raise Unsupported(f"sort {sort}")
        return routes[0].make(words_of(args, sort.indices, self.word))

    def word(self, name: str) -> Any:
        """What a word of a row means: a kind, a rounding mode, a function of the manager."""
        if name == "make":
            return lambda kind, *args: self.make(kind, args)
        return _NAMED[name] if name in _NAMED else getattr(self.manager, name)

    def make(self, kind: Any, args: Sequence[Any], indices: Sequence[int] = ()) -> Any:
        """``mk_term`` of arguments and indices as they are; remembered for inspection."""
        made = self.manager.mk_term(kind, list(args), *([list(indices)] if indices else ()))
        if made.num_children() == len(args):
            self.made[made.id()] = (kind, tuple([a.id() for a in args]), tuple(indices))
        return made
