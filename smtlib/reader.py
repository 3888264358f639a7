"""The s-expression reader: ``sexpdata``'s parser, taught SMT-LIB's lexicon.

An s-expression is either a ``str``, the token as written, or an :class:`SExpList`. What a token
is follows from its first character: ``"`` string, ``#`` binary or hexadecimal, a digit numeral or
decimal, ``:`` keyword, else symbol. ``|x|`` is read as ``x`` where ``x`` needs no bars, since the two
are one symbol in SMT-LIB. Strings keep their quotes and doubled quotes.

The loop that builds the lists is ours and iterative, because ``sexpdata``'s own recurses once per
level of nesting and tells no line or column.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import sexpdata

from smtlib.errors import ReadError

_TOKEN = re.compile(
    r"""[\s\ufeff]+|;[^\n\r]*                    # white space (trackers have non-breaking ones), comments
    |(\()|(\))
    |([^\s()";|]+)                              # symbol, keyword, number
    |("[^"]*+(?:""[^"]*+)*+")
    |(\|[^|\\]*\|)
    """,
    re.VERBOSE,
)
_SIMPLE_SYMBOL = re.compile(r"[A-Za-z~!@$%^&*_+=<>.?/\-][0-9A-Za-z~!@$%^&*_+=<>.?/\-]*\Z")

RESERVED = frozenset(
    "! _ as exists forall lambda let match par BINARY DECIMAL HEXADECIMAL NUMERAL STRING".split()
)
"""Words that are no symbols unless written between bars."""


class SExpList(list[Any]):
    """A parenthesised s-expression. ``position`` is the offset of its ``(`` in the text."""

    __slots__ = ("position",)
    position: int


SExp = str | SExpList


class SmtLibParser(sexpdata.Parser):  # type: ignore[misc]
    """``sexpdata.Parser`` with SMT-LIB's tokens; ``parse`` gives the list of top-level expressions."""

    def __init__(self, string: str) -> None:
        super().__init__(string, nil=None, true=None)

    def parse_sexp(self, i: int) -> tuple[int, SExpList]:
        """Read from offset ``i`` to the end of the text; errors carry line and column."""
        text = self.string
        end = len(text)
        match = _TOKEN.match
        top = current = SExpList()
        top.position = i
        open_lists: list[SExpList] = []
        append = current.append
        while i < end:
            found = match(text, i)
            if found is None:
                raise self._lexical_error(i)
            group = found.lastindex
            if group == 3:
                append(found[3])
            elif group == 1:
                open_lists.append(current)
                current = SExpList()
                current.position = i
                append(current)
                append = current.append
            elif group == 2:
                if not open_lists:
                    raise self.error("')' closes nothing", i)
                current = open_lists.pop()
                append = current.append
            elif group == 4:
                append(found[4])
            elif group == 5:
                append(self.atom(found[5]))
            i = found.end()
        if open_lists:
            raise self.error("'(' is never closed", current.position)
        return i, top

    def atom(self, token: str) -> str:
        """The symbol that a token between bars stands for."""
        return normal_symbol(token)

    def _lexical_error(self, i: int) -> ReadError:
        what = {'"': "string", "|": "quoted symbol"}[self.string[i]]
        backslash = self.string.find("\\", i)
        if what == "quoted symbol" and 0 <= backslash < self.string.find("|", i + 1):
            return self.error("a backslash in a quoted symbol", backslash)
        return self.error(f"{what} is never closed", i)

    def error(self, message: str, position: int) -> ReadError:
        """A read error at this offset."""
        return ReadError(message, *line_and_column(self.string, position))


def line_and_column(text: str, position: int) -> tuple[int, int]:
    """Line and column, both from 1, of an offset."""
    line = text.count("\n", 0, position) + 1
    return line, position - text.rfind("\n", 0, position)


def normal_symbol(token: str) -> str:
    """``|x|`` without its bars where ``x`` is a symbol without them too."""
    if token[0] == "|":
        inner = token[1:-1]
        if is_simple_symbol(inner):
            return inner
    return token


def is_simple_symbol(name: str) -> bool:
    """Whether ``name`` is a symbol without bars. ``-5`` is one in SMT-LIB, but solvers read a number."""
    return bool(_SIMPLE_SYMBOL.match(name)) and name not in RESERVED and not name[:2].strip("-").isdigit()


def is_symbol(token: str) -> bool:
    """Whether ``token`` can name something: between bars, or of the characters that solvers take."""
    return token[0] == "|" or is_simple_symbol(token)


def quote_symbol(name: str) -> str:
    """``name`` as a symbol that can be printed: between bars where it needs them.

    Characters that no symbol can hold (``|`` and backslash) become ``_``.
    """
    inner = name[1:-1] if len(name) > 1 and name[0] == name[-1] == "|" else name
    inner = inner.replace("|", "_").replace("\\", "_")
    return inner if is_simple_symbol(inner) else f"|{inner}|"


def read_sexps(text: str) -> SExpList:
    """All s-expressions of ``text``. Raises :class:`ReadError`."""
    if "\0" in text:
        raise ReadError("a NUL byte: this is no SMT-LIB text", *line_and_column(text, text.index("\0")))
    _, top = SmtLibParser(text).parse_sexp(0)
    return top


def sexp_text(sexp: SExp, limit: int | None = None) -> str:
    """``sexp`` as text on one line, cut to ``limit`` characters where one is given."""
    pieces: list[str] = []
    size = 0
    for piece in _pieces(sexp):
        pieces.append(piece)
        size += len(piece)
        if limit is not None and size > limit:
            return "".join(pieces)[: limit - 3] + "..."
    return "".join(pieces)


def _pieces(sexp: SExp) -> Iterator[str]:
    if isinstance(sexp, str):
        yield sexp
        return
    stack: list[Iterator[SExp]] = [iter(sexp)]
    yield "("
    first = True
    while stack:
        for item in stack[-1]:
            if not first:
                yield " "
            first = False
            if isinstance(item, str):
                yield item
                continue
            yield "("
            stack.append(iter(item))
            first = True
            break
        else:
            stack.pop()
            yield ")"
            first = False
