"""The s-expression reader: ``sexpdata``'s parser with SMT-LIB's tokens.

An s-expression is either a ``str``, the token as written, or an :class:`SExpList`. What a token
is follows from its first character: ``"`` string, ``#`` binary or hexadecimal, a digit numeral or
decimal, ``:`` keyword, else symbol. ``|x|`` is read as ``x`` where ``x`` needs no bars, since the two
are the same symbol in SMT-LIB. Strings keep their quotes and doubled quotes.

For bytes of unknown origin, which may be unbalanced, there is :mod:`smtlib.scanner`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, TypeGuard

import sexpdata

from smtlib.errors import ReadError

# Tokens include the blanks after them: that saves sexpdata's loop a step for each.
_ATOM = re.compile(r"""([^\s()";|'\ufeff][^\s()";|]*)[ \t\r\n]*""")
_QUOTED = re.compile(r"(\|[^|\\]*\|)[ \t\r\n]*")
_STRING = re.compile(r'("[^"]*+(?:""[^"]*+)*+")[ \t\r\n]*')
# Comments, and blanks that sexpdata does not know: text from trackers has non-breaking ones.
_GAP = re.compile(r"(?:[\s\ufeff]|;[^\n\r]*)+")
_SIMPLE_SYMBOL = re.compile(r"[A-Za-z~!@$%^&*_+=<>.?/\-][0-9A-Za-z~!@$%^&*_+=<>.?/\-]*\Z")

RESERVED = frozenset(
    "! _ as exists forall lambda let match par BINARY DECIMAL HEXADECIMAL NUMERAL STRING".split()
)
"""Words that are symbols only between bars."""


class SExpList(list[Any]):
    """A parenthesised s-expression. ``position`` is the offset of its ``(`` in the text."""

    __slots__ = ("position",)
    position: int


SExp = str | SExpList


class SmtLibParser(sexpdata.Parser):  # type: ignore[misc]
    """``sexpdata.Parser`` with SMT-LIB's tokens; errors are :class:`ReadError` with line and column.

    sexpdata calls itself for each level of nesting. Lists nested more than ``levels`` deep are left to a loop
    of our own, so that depth is not limited by Python's stack.
    """

    def __init__(self, string: str, levels: int = 100) -> None:
        super().__init__(string, nil=None, true=None, line_comment="")
        self.brackets = {"(": ")"}
        self.closing_brackets = {")"}
        self._levels = levels
        self._gaps = 0

    def parse(self) -> SExpList:
        """The top-level expressions."""
        end, top = self.parse_sexp(0)
        if end < len(self.string):
            raise self.error("')' closes nothing", end)
        return top

    def parse_sexp(self, i: int) -> tuple[int, SExpList]:
        """The expressions from offset ``i`` up to a closing parenthesis, and its offset."""
        if i and self.string[i - 1] == "'":
            # Lisp's shorthand for (quote x).
            raise self.error("a quote mark outside a string", i - 1)
        if not self._levels:
            return self._parse_deep(i)
        self._levels -= 1
        gaps = self._gaps
        end, items = super().parse_sexp(i)
        self._levels += 1
        if i and end == len(self.string):
            raise self.error("'(' is never closed", i - 1)
        found = SExpList(items if gaps == self._gaps else [item for item in items if item is not None])
        found.position = i - 1
        return end, found

    def parse_str(self, i: int) -> tuple[int, str]:
        """The string literal at offset ``i``, as written, and where it ends."""
        found = _STRING.match(self.string, i)
        if found is None:
            raise self.error("string is never closed", i)
        return found.end(), found[1]

    def parse_atom(self, i: int) -> tuple[int, str | None]:
        """The token at offset ``i``, or None for a comment, and where it ends."""
        found = _ATOM.match(self.string, i)
        if found is not None:
            return found.end(), found[1]
        found = _QUOTED.match(self.string, i)
        if found is not None:
            return found.end(), normal_symbol(found[1])
        found = _GAP.match(self.string, i)
        if found is None:
            raise self._bad_symbol(i)
        self._gaps += 1
        return found.end(), None

    def _parse_deep(self, i: int) -> tuple[int, SExpList]:
        """What ``parse_sexp`` returns, without recursion."""
        text = self.string
        current = SExpList()
        current.position = i - 1
        enclosing: list[SExpList] = []
        while i < len(text):
            token: str | SExpList | None
            if text[i] == "(":
                enclosing.append(current)
                current = SExpList()
                current.position = i
                i += 1
                continue
            if text[i] == ")":
                if not enclosing:
                    return i, current
                token, current = current, enclosing.pop()
                i += 1
            elif text[i] == '"':
                i, token = self.parse_str(i)
            else:
                i, token = self.parse_atom(i)
            if token is not None:
                current.append(token)
        if current.position >= 0:
            raise self.error("'(' is never closed", current.position)
        return i, current

    def _bad_symbol(self, i: int) -> ReadError:
        if self.string[i] == "'":
            return self.error("a quote mark outside a string", i)
        backslash = self.string.find("\\", i)
        if 0 <= backslash < self.string.find("|", i + 1):
            return self.error("a backslash in a quoted symbol", backslash)
        return self.error("quoted symbol is never closed", i)

    def error(self, message: str, position: int) -> ReadError:
        """A read error at this offset."""
        return ReadError(message, *line_and_column(self.string, position))


def line_and_column(text: str, position: int) -> tuple[int, int]:
    """Line and column, both from 1, of an offset."""
    line = text.count("\n", 0, position) + 1
    return line, position - text.rfind("\n", 0, position)


def normal_symbol(token: str) -> str:
    """``|x|`` without its bars if ``x`` is a symbol without them."""
    if token[0] == "|":
        inner = token[1:-1]
        if is_simple_symbol(inner):
            return inner
    return token


def is_simple_symbol(name: str) -> bool:
    """Whether ``name`` is a symbol without bars. ``-5`` is a symbol in SMT-LIB, but solvers read a number."""
    return bool(_SIMPLE_SYMBOL.match(name)) and name not in RESERVED and not name[:2].strip("-").isdigit()


def is_symbol(sexp: SExp) -> TypeGuard[str]:
    """Whether ``sexp`` is a symbol: between bars, or of the characters that solvers accept."""
    return isinstance(sexp, str) and (sexp[:1] == "|" or is_simple_symbol(sexp))


def quote_symbol(name: str) -> str:
    """``name`` as a symbol that can be printed: between bars where it needs them.

    Characters that no symbol can hold (``|`` and backslash) become ``_``.
    """
    inner = name[1:-1] if len(name) > 1 and name[0] == name[-1] == "|" else name
    inner = inner.replace("|", "_").replace("\\", "_")
    return inner if is_simple_symbol(inner) else f"|{inner}|"


def with_ending(name: str, ending: str) -> str:
    """A symbol with a longer name, the ending between its bars if it still needs them.

    >>> with_ending("|a b|", "_2")
    '|a b_2|'
    >>> with_ending("|let|", "_2")
    'let_2'
    """
    return normal_symbol(f"{name[:-1]}{ending}|") if name[-1] == "|" else name + ending


def read_sexps(text: str) -> SExpList:
    """All s-expressions of ``text``. Raises :class:`ReadError`."""
    if "\0" in text:
        raise ReadError("a NUL byte: this is not SMT-LIB text", *line_and_column(text, text.index("\0")))
    return SmtLibParser(text).parse()


def sexp_text(sexp: SExp, limit: int | None = None) -> str:
    """``sexp`` as text on one line, cut to ``limit`` characters if a limit is given."""
    pieces: list[str] = []
    stack: list[Iterator[SExp]] = [iter((sexp,))]
    space = ""
    while stack and (limit is None or len(pieces) <= limit):
        for item in stack[-1]:
            if isinstance(item, str):
                pieces.append(space + item)
                space = " "
                continue
            pieces.append(space + "(")
            space = ""
            stack.append(iter(item))
            break
        else:
            stack.pop()
            pieces.append(")")
            space = " "
    # The last piece is a parenthesis too many: it closes the outer list of the loop.
    text = "".join(pieces if stack else pieces[:-1])
    return text if limit is None or len(text) <= limit else text[: limit - 3] + "..."
