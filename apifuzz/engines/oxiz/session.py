"""One term manager of oxiz and what is kept with it: rows, constants, how terms were made, their texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import oxiz

from apifuzz.chance import Chance
from apifuzz.engines.rows import (
    Questions,
    Route,
    Words,
    associativity,
    choose,
    fold,
    make_by,
    read_rows,
    words_of,
)
from apifuzz.interface import Unsupported
from smtlib import Sort

QUESTIONS = Questions(Path(__file__).with_name("questions.toml"))
_ROWS = read_rows(Path(__file__).with_name("calls.toml"))
OPERATORS, VALUES, CONSTANTS, SORTS = (_ROWS[n] for n in ("operators", "values", "constants", "sorts"))
OBJECTS, BINDERS, SOLVER = (_ROWS[name] for name in ("objects", "binders", "solver"))

_LONG = 1 << 63
_MOST_TEXT = 2000


def is_long(number: int) -> bool:
    """Whether oxiz takes a number as a numeral: those of 64 bits with a sign."""
    return -_LONG <= number < _LONG


class Session:
    """A term manager; shared by an engine and its siblings.

    With ``owns`` there is a context, too, whose terms have Python's operators. ``constants`` are the declared
    ones by name, with their sorts; ``variables`` are those to be bound, names and sorts by id. ``texts`` are
    terms by id as oxiz reads them: it takes any free name for a Boolean constant.
    """

    def __init__(self, owns: bool = False) -> None:
        self.ctx = oxiz.Context() if owns else None
        self.manager = self.ctx.tm if self.ctx is not None else oxiz.TermManager()
        self.constants: dict[str, tuple[Any, Sort]] = {}
        self.variables: dict[int, tuple[str, str]] = {}
        self.texts: dict[int, str] = {}
        self._made: dict[int, tuple[Any, Callable[[], Any]]] = {}
        # By identity: of two terms with one id, one may have an owner and the other none. They are kept, so
        # that no identity is used twice.
        self._owned: dict[int, Any] = {}

    # Words of rows

    def word(self, name: str) -> Any:
        """What a word of a row means: a method of the manager, a function of the module, or its own."""
        match name:
            case "ctx":
                return self.ctx
            case "tm":
                return self.manager
            case "owned":
                return lambda *terms: any(id(term) in self._owned for term in terms)
            case "is_long":
                return is_long
        return getattr(self.manager if name.startswith("mk_") else oxiz, name)

    def words(
        self, args: Sequence[Any], indices: Sequence[int] = (), more: Mapping[str, Any] | None = None
    ) -> Words:
        """The words for some arguments and indices."""
        return words_of(args, indices, self.word, more)

    # Sorts

    def sort(self, sort: Sort, chance: Chance) -> str:
        """The text that oxiz has for a sort."""
        args = [self.sort(part, chance) for part in sort.args]
        routes, words = SORTS.find(sort.name, [""] * len(args)), self.words(args, sort.indices)
        found: str = make_by(routes, words, chance, f"sort {sort}")
        return found

    def object_of(self, sort: Sort, chance: Chance) -> Any:
        """oxiz's object for a sort; Unsupported where the interface makes none."""
        args = [self.object_of(part, chance) for part in sort.args]
        routes = OBJECTS.find(sort.name, [""] * len(args))
        return make_by(routes, self.words(args, sort.indices), chance, f"an object for {sort}")

    # Terms

    def make(self, name: str, routes: Sequence[Route], words: Words, chance: Chance) -> Any:
        """A term by one of the routes, which is remembered."""
        route = choose(routes, words, chance)
        if route is None:
            raise Unsupported(name)

        def again() -> Any:
            if not route.plain:
                return route.make(words)
            call, args = getattr(self.manager, route.plain), words["args"]
            # A minus of one argument is another operator than that of two.
            kind = associativity(name) if len(args) > 1 else ""
            return fold(kind, args, call, lambda *parts: self.manager.mk_and(list(parts)))

        made = again()
        if not isinstance(made, str):
            # A call that names neither the manager nor its methods is one of terms with an owner.
            if not route.plain and not any(word.startswith("mk_") or word == "tm" for word in route.words):
                self._owned[id(made)] = made
            self._made[made.id] = made, again
        return made

    def again(self, term: Any) -> Any:
        """The term made again by the same calls; None where it is not known by which."""
        known = self._made.get(term.id)
        return known[1]() if known else None

    def text(self, term: Any) -> str:
        """The term as oxiz reads it; empty where it does not."""
        return self.texts.get(term.id, "")

    def keep_text(self, term: Any, text: str) -> None:
        """Remember how oxiz reads a term, unless that is long."""
        if len(text) <= _MOST_TEXT:
            self.texts[term.id] = text
