"""Sorts: immutable and interned, so that equal sorts are one object and compare by identity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from smtlib.errors import SortError

MAX_DEPTH: Final = 200
"""Sorts nested deeper than this are refused; real formulas stay far below."""

MAX_TEXT: Final = 20_000
"""Sorts with longer text (in characters) are refused: repeated doubling by definitions would explode."""

_END_OF_INDICES = 10**1000


def read_index(token: object, digits: int = 9) -> int | None:
    """The number in a token, if that is a numeral whose digits, leading zeros apart, are not too many."""
    if isinstance(token, str) and token.isascii() and token.isdecimal():
        number = token.lstrip("0") or "0"
        return int(number) if len(number) <= digits else None
    return None


def indexed(name: str, indices: Sequence[object]) -> str:
    """``(_ NAME INDEX ...)``, or the name alone."""
    return f"(_ {name} {' '.join(map(str, indices))})" if indices else name


class Sort:
    """A sort such as ``Int``, ``(_ BitVec 8)`` or ``(Array Int Bool)``.

    Made by :func:`make_sort` only. ``name`` is the sort symbol, ``indices`` the numerals of
    an indexed sort, ``args`` the argument sorts. ``str()`` gives SMT-LIB text.
    """

    __slots__ = ("args", "depth", "indices", "name", "text")

    name: Final[str]
    indices: Final[tuple[int, ...]]
    args: Final[tuple[Sort, ...]]
    text: Final[str]
    depth: Final[int]

    def __init__(self, name: str, indices: tuple[int, ...], args: tuple[Sort, ...]) -> None:
        self.name = name
        self.indices = indices
        self.args = args
        self.depth = 1 + max((a.depth for a in args), default=0)
        head = indexed(name, indices)
        self.text = f"({head} {' '.join(a.text for a in args)})" if args else head

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Sort({self.text})"

    def __reduce__(self) -> tuple[object, ...]:
        return make_sort, (self.name, self.indices, self.args)

    @property
    def is_function(self) -> bool:
        """Whether this is a higher-order sort ``(-> A B)``."""
        return self.name == "->"


_interned: dict[tuple[str, tuple[int, ...], tuple[Sort, ...]], Sort] = {}


def make_sort(name: str, indices: tuple[int, ...] = (), args: tuple[Sort, ...] = ()) -> Sort:
    """Return the one sort object of this name, these indices and these arguments.

    Raises :class:`SortError` if it is nested too deep or too long, or an index has more than 1000 digits.
    """
    key = (name, indices, args)
    found = _interned.get(key)
    if found is None:
        if any(a.depth >= MAX_DEPTH for a in args):
            raise SortError(f"sort nested deeper than {MAX_DEPTH}")
        if sum(len(a.text) for a in args) > MAX_TEXT:
            raise SortError(f"sort longer than {MAX_TEXT} characters")
        if any(index >= _END_OF_INDICES for index in indices):
            raise SortError(f"sort {name} with an index of more than 1000 digits")
        found = _interned.setdefault(key, Sort(name, indices, args))
    return found


BOOL: Final = make_sort("Bool")
INT: Final = make_sort("Int")
REAL: Final = make_sort("Real")
STRING: Final = make_sort("String")
REGLAN: Final = make_sort("RegLan")
ROUNDING_MODE: Final = make_sort("RoundingMode")
COMPLEX: Final = make_sort("Complex")
SAME_SORTS: Final = {
    make_sort("Seq", (), (make_sort("Unicode"),)): STRING,
    make_sort("RegEx", (), (STRING,)): REGLAN,
}
"""Sorts that solvers with a sort of characters take for another one."""


def bit_vector(width: int) -> Sort:
    """The sort of bit-vectors of ``width`` bits."""
    return make_sort("BitVec", (width,))


def floating_point(exponent: int, significand: int) -> Sort:
    """The sort of floating-point numbers with these widths in bits (hidden bit counted)."""
    return make_sort("FloatingPoint", (exponent, significand))


def array(index: Sort, element: Sort) -> Sort:
    """The sort of arrays from ``index`` to ``element``."""
    return make_sort("Array", (), (index, element))


def subsorts(sort: Sort) -> list[Sort]:
    """``sort`` and every sort inside it, each once, outermost first."""
    seen = [sort]
    for known in seen:
        seen.extend(a for a in known.args if a not in seen)
    return seen
