"""Rows of a TOML file: the calls by which a solver makes something.

A row has a name and one call, or several equivalent calls. A call is an expression of Python,
``fpToUBV(a, b, sort)``. The letters ``a`` to ``d`` are the arguments; a call takes as many as it names.
``args`` are all arguments, ``rest`` all but the first; ``i`` and ``j`` are the first indices, ``indices`` all
of them. The solver's engine defines all other words. A word alone is applied to the arguments as the theory
files say: left-associative, chainable, and so on. ``{call = "...", when = "..."}`` is one with a condition.

Sorts after the name restrict a row to arguments of these sorts: ``to_fp BitVec``. ``str.++ Seq ...``
restricts only the first argument, and ``or ()`` is for no arguments. Such a row replaces the general one.
"""

from __future__ import annotations

import ast
import builtins
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, reduce
from itertools import combinations, pairwise
from pathlib import Path
from textwrap import indent
from types import CodeType, FunctionType
from typing import Any

from apifuzz.chance import Chance
from apifuzz.interface import Unsupported, expect
from smtlib import default_theories

LETTERS = "abcd"
_CALLS = "calls"

Find = Callable[[str], Any]
"""Finds what a word means. Raises KeyError or AttributeError where it means nothing."""

_PYTHON = vars(builtins)
_NOTHING: dict[str, Any] = {}


class Words(dict[str, Any]):
    """What words mean: those that are known, Python's own, and others as ``find`` says when first needed."""

    __slots__ = ("_find",)

    def __init__(self, known: Mapping[str, Any], find: Find = _NOTHING.__getitem__) -> None:
        super().__init__(known)
        self._find = find

    def __missing__(self, name: str) -> Any:
        found = self[name] = _PYTHON[name] if name in _PYTHON else self._find(name)
        return found


class Route:
    """One call of a row; ``plain`` is the word if the call is a word alone, else empty."""

    __slots__ = ("_call", "_named", "_when", "plain", "text", "words")

    def __init__(self, text: str, when: str = "") -> None:
        self.text = text
        self._call = Script(text, "row", is_expression=True)
        self._when = Script(when, "row", is_expression=True) if when else None
        self.plain = text if text.isidentifier() else ""
        names = ast.walk(ast.parse(f"{text}, {when or None}"))
        self.words = frozenset(node.id for node in names if isinstance(node, ast.Name))
        self._named = max((n for n, letter in enumerate(LETTERS, 1) if letter in self.words), default=0)

    def takes(self, count: int, least: int) -> bool:
        """Whether it takes ``count`` arguments: as many as it has letters; without letters any number, but at
        least ``least`` unless it is a word alone.
        """
        return count == self._named if self._named else bool(self.plain) or count >= least

    def holds(self, words: Words) -> bool:
        """Whether its condition does."""
        return self._when is None or bool(self._when.run(words))

    def make(self, words: Words) -> Any:
        """What the call gives."""
        return self._call.run(words)


class Rows:
    """The rows of one table, by name."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        self._routes = {name: tuple(_routes(value)) for name, value in table.items()}
        self._found: dict[tuple[str, tuple[str, ...]], tuple[Route, ...]] = {}

    def find(self, name: str, sorts: Sequence[str] = ()) -> tuple[Route, ...]:
        """The routes for ``name`` at arguments of sorts of these names; conditions are not checked yet."""
        key = (name, tuple(sorts))
        found = self._found.get(key)
        if found is None:
            keys = [
                " ".join((name, *(sorts or ("()",)))),
                *(f"{name} {first} ..." for first in sorts[:1]),
                name,
            ]
            row = next((k for k in keys if k in self._routes), "")
            routes = self._routes.get(row, ())
            least = least_arguments(name) if row == name else 0
            found = self._found[key] = tuple(r for r in routes if r.takes(len(sorts), least))
        return found

    def plain(self, name: str, sorts: Sequence[str]) -> str:
        """The first word that stands alone for ``name`` at these sorts; empty where there is none."""
        return next((route.plain for route in self.find(name, sorts) if route.plain), "")

    def __contains__(self, name: str) -> bool:
        return name in self._routes

    def __iter__(self) -> Iterator[tuple[str, tuple[Route, ...]]]:
        return iter(self._routes.items())

    @property
    def words(self) -> frozenset[str]:
        """All words of all rows."""
        return frozenset(word for routes in self._routes.values() for r in routes for word in r.words)


def _routes(value: Any) -> Iterator[Route]:
    for one in value if isinstance(value, list) else [value]:
        yield Route(one) if isinstance(one, str) else Route(one["call"], one["when"])


def read_rows(file: Path) -> dict[str, Rows]:
    """The tables of a file by name, but for ``calls``."""
    tables = tomllib.loads(file.read_text("utf-8"))
    return {name: Rows(table) for name, table in tables.items() if name != _CALLS}


def read_calls(file: Path) -> dict[str, Script]:
    """The table ``calls`` of a file: by the names of engines' methods, what stands for each."""
    found = tomllib.loads(file.read_text("utf-8"))[_CALLS]
    return {name.replace("-", "_"): Script(text, name) for name, text in found.items()}


def choose(routes: Sequence[Route], words: Words, chance: Chance) -> Route | None:
    """One of the routes whose conditions hold, drawn where there are several; None where there is none."""
    fitting = [route for route in routes if route.holds(words)]
    if len(fitting) > 1:
        return chance.pick(fitting)
    return fitting[0] if fitting else None


def make_by(routes: Sequence[Route], words: Words, chance: Chance, lacking: str) -> Any:
    """What one of the routes makes. Raises :class:`Unsupported`, with what is ``lacking``, if none fits."""
    route = choose(routes, words, chance)
    if route is None:
        raise Unsupported(lacking)
    return route.make(words)


def words_of(
    args: Sequence[Any], indices: Sequence[int], find: Find, more: Mapping[str, Any] | None = None
) -> Words:
    """What the words of every solver's rows mean for some arguments and indices; others as ``find`` says."""
    words = Words({"args": args, "rest": args[1:], "indices": indices, **(more or {})}, find)
    words.update(zip(LETTERS, args, strict=False))
    words.update(zip("ij", indices, strict=False))
    return words


# Operators that take more arguments than two


@lru_cache(maxsize=1024)
def associativity(name: str) -> str:
    """How an operator of the theory files takes more than two arguments; empty where it does not."""
    found = default_theories().functions.get(name, ())
    return next((s.associativity for s in found if s.associativity), "")


@lru_cache(maxsize=1024)
def least_arguments(name: str) -> int:
    """How many arguments such an operator has at least; 0 for any other."""
    found = default_theories().functions.get(name, ())
    return next((s.minimum for s in found if s.associativity), 0)


def fold(kind: str, args: Sequence[Any], call: Callable[..., Any], both: Callable[..., Any]) -> Any:
    """What ``call`` makes of the arguments, taken as ``kind`` of associativity says; ``both`` makes one
    formula of several.
    """
    match kind:
        case ":left-assoc":
            return reduce(call, args)
        case ":right-assoc":
            return reduce(lambda made, arg: call(arg, made), reversed(args))
        case ":chainable" | ":pairwise":
            pairs = pairwise(args) if kind == ":chainable" else combinations(args, 2)
            made = [call(*pair) for pair in pairs]
            return made[0] if len(made) == 1 else both(*made)
    return call(*args)


# Calls that follow each other


class Script:
    """Statements in Python's syntax, or one expression; their names are words."""

    def __init__(self, text: str, place: str, is_expression: bool = False) -> None:
        body = f"return {text}" if is_expression else text
        made = compile(f"def script():\n{indent(body, '    ')}\n", place, "exec")
        self.code = next(part for part in made.co_consts if isinstance(part, CodeType))

    def run(self, words: Words) -> Any:
        """What is returned."""
        return FunctionType(self.code, words)()


# Questions about sorts and terms, with the expected answers: rows of two expressions


_IS, _DO = "is", "do"


class Questions:
    """The tables of a TOML file by name.

    The table ``is`` has, per sort name, the question that only such sorts answer with yes; ``do`` has scripts
    that say what is asked when.
    """

    def __init__(self, file: Path) -> None:
        tables = tomllib.loads(file.read_text("utf-8"))
        self.is_: dict[str, str] = tables.pop(_IS, {})
        self.scripts = {name: Script(text, name) for name, text in tables.pop(_DO, {}).items()}
        self._tables = {
            name: Script("\n".join(f"yield {q!r}, ({q}), ({answer})" for q, answer in table.items()), name)
            for name, table in tables.items()
        }

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def ask(self, kind: str, about: object, words: Words, *names: str) -> None:
        """Ask the questions of some tables. Raises Misbehaviour of ``kind`` for an unexpected answer."""
        for name in filter(self._tables.__contains__, names):
            for text, found, expected in self._tables[name].run(words):
                if found != expected:
                    expect(kind, found, expected, f"{text} of {about!s:.300}")

    def run(self, name: str, words: Words, /, **known: Any) -> None:
        """Ask what a script says. Its words are ``known``, those of ``words``, and ``ask``, which takes the
        kind of a wrong answer, what is asked about, tables, and further words; ``also`` asks what another
        script says.
        """

        def ask(kind: str, about: object, /, *tables: str, **more: Any) -> None:
            self.ask(kind, about, Words(more, own.__getitem__) if more else own, *tables)

        def also(script: str, **more: Any) -> None:
            self.run(script, words, **(known | more))

        known |= {"ask": ask, "also": also, "ask_which": self.ask_which}
        own = Words(known, words.__getitem__)
        self.scripts[name].run(own)

    def ask_which(self, handle: Any, name: str, about: str) -> None:
        """Ask a sort every question that sorts of one name only answer with yes."""
        own = self.is_.get(name)
        for question in dict.fromkeys(self.is_.values()):
            expect("sort", getattr(handle, question)(), question == own, f"{question} of {about}")
