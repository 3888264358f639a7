"""Traces: the calls of one run as text, a line a call, that can be read, cut, replayed and translated.

::

    exhume-trace 1 cvc5 42          format version, solver, seed of the run
    ; a comment                     on a line of its own, or at the end of one
    set quantifiers false           settings of the run, directly after the first line
    3812 new                        seed of the engine's choices, action, arguments
    18 make-sort (_ BitVec 8)
    return s1                       the ids of what the call returned

Every argument is one s-expression of SMT-LIB on one line. Sorts and terms that the run has made are the
symbols ``s1`` and ``t1``; a name that looks like one of them is written between bars. A line ``refused``
takes back the call before it, which was written before the engine found that the solver cannot do it. After a
crash the last call has no ``return``. Traces may come from strangers: everything here is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Final

from base.errors import ExhumeError
from base.files import read_at_most
from smtlib.reader import is_simple_symbol

VERSION: Final = 1
"""The format that is written, and the newest that is read."""

MAGIC: Final = "exhume-trace"
"""The first word of every trace."""

CROSS_CHECK: Final = "cross-check"
WITNESSES: Final = "check-witnesses"
"""The settings for what a run is made on, besides the solver."""

MAX_TEXT: Final = 64 << 20
"""Longer traces are refused: texts in characters, files in bytes."""

MAX_LINE: Final = 1 << 20
"""Longer lines are refused, in characters."""

MAX_DEPTH: Final = 200
"""Arguments nested deeper are refused."""

_TOKEN = re.compile(
    r"""[ \t\r\ufeff]+
    |(;.*)
    |(\()|(\))
    |("[^"]*+(?:""[^"]*+)*+"|\|[^|\\]*\||[^\s()";|]+)
    """,
    re.VERBOSE,
)
_ID = re.compile(r"[st](?:0|[1-9][0-9]{0,8})\Z")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9:._-]{0,79}\Z")
_ATOM = re.compile(r"""[^\s()";|]+\Z""")
_SEED = re.compile(r"[0-9]{1,20}\Z")


class TraceError(ExhumeError):
    """A trace cannot be read or replayed: ``line`` (from 1; 0 where it is not known) and ``reason``."""

    def __init__(self, reason: str, line: int = 0) -> None:
        super().__init__(reason, line)
        self.reason = reason
        self.line = line

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}" if self.line else self.reason


@dataclass(frozen=True, slots=True)
class Line:
    """One call: the seed of the engine's choices, the action, its arguments, and the ids it returned.

    ``number`` is the number of the line in the text that it was read from, from 1; equality ignores it.
    """

    seed: int
    action: str
    args: tuple[str, ...] = ()
    returns: tuple[str, ...] = ()
    number: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Trace:
    """A run: solver, seed, settings as (name, value) in order, calls in order."""

    solver: str
    seed: int
    settings: tuple[tuple[str, str], ...] = ()
    lines: tuple[Line, ...] = ()

    def setting(self, name: str) -> str:
        """The value of a setting, the last one counts; empty if there is none."""
        return dict(self.settings).get(name, "")


# Writing


def print_trace(trace: Trace) -> str:
    """The text of a trace, which reads back to the same trace.

    Raises :class:`TraceError` where a part of it cannot be written on its line.
    """
    return "".join(f"{line}\n" for line in _printed(trace))


def _printed(trace: Trace) -> Iterator[str]:
    yield from print_header(trace.solver, trace.seed, trace.settings)
    for line in trace.lines:
        yield print_call(line)
        if line.returns:
            yield print_return(line.returns)


def print_header(solver: str, seed: int, settings: Iterable[tuple[str, str]] = ()) -> Iterator[str]:
    """The first lines of a trace, without line ends."""
    yield _checked(f"{MAGIC} {VERSION} {quote_name(solver)} {seed}", 4)
    for name, value in settings:
        if not _WORD.match(name):
            raise TraceError(f"no name of a setting: {name[:60]!r}")
        yield _checked(f"set {name} {value}", 3)


@lru_cache(maxsize=1 << 12)
def print_call(line: Line) -> str:
    """The line of a call, without its return and without line end.

    Raises :class:`TraceError` where it would not read back.
    """
    if not _WORD.match(line.action):
        raise TraceError(f"no name of an action: {line.action[:60]!r}")
    return _checked(call_text(line), 2 + len(line.args))


def call_text(line: Line) -> str:
    """The line of a call whose arguments are known to be expressions on one line."""
    return " ".join((str(line.seed), line.action, *line.args))


def print_return(ids: Iterable[str]) -> str:
    """The ``return`` line of these ids, without line end."""
    return "return " + " ".join(ids)


def _checked(text: str, count: int) -> str:
    """``text``, which must be ``count`` expressions on one line."""
    try:
        found = len(split_line(text))
    except TraceError as error:
        raise TraceError(f"cannot be written on one line: {error.reason}") from error
    if found != count:
        raise TraceError(f"cannot be written: {text[:60]!r} is {found} expressions, not {count}")
    return text


def quote_name(name: str) -> str:
    """``name`` as a symbol of a trace: between bars where it is no plain symbol or looks like an id.

    Characters that no symbol on one line can hold become ``_``.
    """
    inner = re.sub(r"[|\\\n\r\0]", "_", name)
    return inner if is_simple_symbol(inner) and not is_id(inner) else f"|{inner}|"


def quote_word(text: str) -> str:
    """``text`` (an option's value, say) as one token: as it is where that reads back, else in bars."""
    return text if _ATOM.match(text) and not is_id(text) else quote_name(text)


def unquote_name(token: str) -> str:
    """The name that a symbol of a trace stands for."""
    return token[1:-1] if len(token) > 1 and token[0] == token[-1] == "|" else token


def is_id(token: str) -> bool:
    """Whether a token is the id of a sort or a term."""
    return _ID.match(token) is not None


def ids_in(argument: str) -> list[str]:
    """The ids that occur in an argument, from left to right, as often as they occur."""
    if argument[:1] in ("s", "t"):
        return [argument] if is_id(argument) else []
    return [found[4] for found in _TOKEN.finditer(argument) if found[4] and is_id(found[4])]


def replace_ids(argument: str, new: dict[str, str]) -> str:
    """``argument`` with ids replaced as whole symbols; those that ``new`` does not name stay."""

    def replaced(found: re.Match[str]) -> str:
        return new.get(found[4], found[4]) if found[4] else found[0]

    return _TOKEN.sub(replaced, argument)


# Reading


def load_trace(file: Path) -> Trace:
    """The trace in a file. Raises :class:`TraceError`, and OSError where the file cannot be read."""
    data = read_at_most(file, MAX_TEXT)
    if data is None:
        raise TraceError(f"longer than {MAX_TEXT >> 20} MiB: not a trace")
    return read_trace(data.decode("utf-8", "replace"))


def read_trace(text: str) -> Trace:
    """The trace that ``text`` is. Raises :class:`TraceError` with line and reason."""
    if len(text) > MAX_TEXT:
        raise TraceError(f"longer than {MAX_TEXT >> 20} Mi characters: not a trace")
    reader = _Reader()
    for number, line in enumerate(text.split("\n"), 1):
        try:
            reader.add(split_line(line), number)
        except TraceError as error:
            raise TraceError(error.reason, number) from None
    return reader.trace()


class _Reader:
    """Takes the lines of a trace one by one, split into expressions."""

    def __init__(self) -> None:
        self.solver: str | None = None
        self.seed = 0
        self.settings: list[tuple[str, str]] = []
        self.lines: list[Line] = []
        self.may_return = False

    def add(self, tokens: list[str], number: int) -> None:
        match tokens:
            case []:
                return
            case _ if self.solver is None:
                self._first(tokens)
            case ["set", *words]:
                if self.lines:
                    raise TraceError("settings stand before the first call")
                if len(words) != 2 or not _WORD.match(words[0]):
                    raise TraceError("expected 'set NAME VALUE'")
                self.settings.append((words[0], words[1]))
            case ["return", *ids]:
                if not self.may_return:
                    raise TraceError("a return that follows no call")
                if not ids or not all(map(is_id, ids)):
                    raise TraceError("expected 'return ID ...' with ids like s1 and t1")
                self.lines[-1] = replace(self.lines[-1], returns=tuple(ids))
                self.may_return = False
            case ["refused", *rest]:
                if rest:
                    raise TraceError("expected 'refused' alone")
                if not self.may_return:
                    raise TraceError("a refusal that follows no call")
                self.lines.pop()
                self.may_return = False
            case [seed, *call]:
                number_of_seed = _seed(seed)
                if not call or not _WORD.match(call[0]):
                    raise TraceError("expected 'SEED ACTION ARGUMENT ...'")
                self.lines.append(Line(number_of_seed, call[0], tuple(call[1:]), (), number))
                self.may_return = True

    def _first(self, tokens: list[str]) -> None:
        if tokens[0] != MAGIC:
            raise TraceError(f"not a trace: it does not begin with '{MAGIC} {VERSION} SOLVER SEED'")
        if len(tokens) < 2 or tokens[1] != str(VERSION):
            shown = tokens[1][:20] if len(tokens) > 1 else "none"
            raise TraceError(f"version {shown} of traces is unknown; this is version {VERSION}")
        if len(tokens) != 4 or tokens[2][0] in '("':
            raise TraceError(f"expected '{MAGIC} {VERSION} SOLVER SEED'")
        self.solver, self.seed = unquote_name(tokens[2]), _seed(tokens[3])

    def trace(self) -> Trace:
        if self.solver is None:
            raise TraceError("not a trace: it is empty")
        return Trace(self.solver, self.seed, tuple(self.settings), tuple(self.lines))


def _seed(token: str) -> int:
    if not (token.isascii() and _SEED.match(token)):
        raise TraceError(f"expected a seed, a numeral of at most 20 digits, found {token[:60]!r}")
    return int(token)


def split_line(text: str) -> list[str]:
    """The expressions of one line, each as written; comments are left out.

    Raises :class:`TraceError` (without a line number) where parentheses, strings or symbols do not close.
    """
    if len(text) > MAX_LINE:
        raise TraceError(f"longer than {MAX_LINE >> 20} Mi characters")
    found: list[str] = []
    depth = start = position = 0
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None:
            what = {'"': "a string is never closed", "|": "a quoted symbol is never closed"}
            unknown = f"a character that no trace holds: {text[position]!r}"
            raise TraceError(what.get(text[position], unknown))
        group = token.lastindex
        if group == 2:
            if depth == 0:
                start = position
            depth += 1
            if depth > MAX_DEPTH:
                raise TraceError(f"nested deeper than {MAX_DEPTH}")
        elif group == 3:
            depth -= 1
            if depth < 0:
                raise TraceError("')' closes nothing")
            if depth == 0:
                found.append(text[start : token.end()])
        elif group == 4 and depth == 0:
            found.append(token[4])
        position = token.end()
    if depth:
        raise TraceError("'(' is never closed")
    return found
