"""Signatures: ranks with sort parameters and index variables, matched against the sorts of arguments."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from dataclasses import dataclass

from smtlib.reader import SExp, sexp_text
from smtlib.sorts import BOOL, SAME_SORTS, Sort, indexed, make_sort

Bindings = dict[str, "Sort | int | str"]
"""The values of the sort parameters and index variables of a signature."""

INDEX_FUNCTIONS: dict[str, Callable[..., int]] = {
    "+": lambda *a: sum(a),
    "-": operator.sub,
    "*": operator.mul,
    "max": max,
    "min": min,
    "div": operator.floordiv,
    "bits": lambda n: max(1, (n - 1).bit_length()),
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "and": lambda *a: all(a),
    "or": lambda *a: any(a),
}
"""The functions of index expressions, by name."""


def evaluate_index(expression: SExp, bindings: Bindings) -> int:
    """The value of an index expression such as ``(+ (- i j) 1)``."""
    if isinstance(expression, str):
        if expression.isdigit():
            return int(expression)
        value = bindings[expression]
        if not isinstance(value, int):
            raise KeyError(expression)
        return value
    return INDEX_FUNCTIONS[expression[0]](*(evaluate_index(e, bindings) for e in expression[1:]))


def match_index(expression: SExp, value: int | str, bindings: Bindings) -> bool:
    """Whether ``value`` is the value of an index expression; binds a variable that is not bound yet."""
    if isinstance(expression, str) and not expression.isdigit():
        return bindings.setdefault(expression, value) == value
    try:
        return evaluate_index(expression, bindings) == value
    except KeyError:
        return False


@dataclass(frozen=True, slots=True)
class SortPattern:
    """A sort with parameters: a sort variable (``is_parameter``), or a name, index expressions, arguments."""

    name: str
    indices: tuple[SExp, ...] = ()
    args: tuple[SortPattern, ...] = ()
    is_parameter: bool = False

    def match(self, sort: Sort, bindings: Bindings) -> bool:
        """Whether ``sort`` is an instance; binds parameters that are not bound yet."""
        if self.is_parameter:
            return bindings.setdefault(self.name, sort) is sort
        if sort.name != self.name or len(sort.args) != len(self.args):
            return False
        if len(sort.indices) != len(self.indices):
            return False
        for expression, value in zip(self.indices, sort.indices, strict=True):
            if not match_index(expression, value, bindings):
                return False
        # Most have no arguments, and a run matches thousands.
        return not self.args or all(p.match(s, bindings) for p, s in zip(self.args, sort.args, strict=True))

    def instantiate(self, bindings: Bindings) -> Sort:
        """The sort under these bindings. Raises KeyError if one is missing."""
        if self.is_parameter:
            found = bindings[self.name]
            if not isinstance(found, Sort):
                raise KeyError(self.name)
            return found
        indices = tuple([evaluate_index(e, bindings) for e in self.indices])
        sort = make_sort(self.name, indices, tuple([a.instantiate(bindings) for a in self.args]))
        return SAME_SORTS.get(sort, sort) if self.args else sort

    def parameters(self) -> set[str]:
        """The sort parameters that occur."""
        return {self.name} if self.is_parameter else set().union(*(a.parameters() for a in self.args))

    def names(self) -> set[str]:
        """The names of the sorts that occur."""
        return set() if self.is_parameter else {self.name}.union(*(a.names() for a in self.args))

    def __str__(self) -> str:
        head = indexed(self.name, [sexp_text(e) for e in self.indices])
        return f"({head} {' '.join(map(str, self.args))})" if self.args else head


@dataclass(frozen=True, slots=True)
class Signature:
    """One declared rank of a theory function.

    ``indices`` are the index variables of an indexed function (or fixed numerals), ``associativity`` is one
    of SMT-LIB's four attributes or empty, ``minimum`` the smallest number of arguments that solvers accept,
    ``only`` the solvers that have it (empty: all), ``needs_as`` whether its result sort does not follow from
    the arguments. ``weight`` is how often to draw it, ``values`` the positions where solvers accept only
    values; ``theories/README.md`` explains ``marks``.
    """

    name: str
    indices: tuple[str, ...]
    params: tuple[SortPattern, ...]
    result: SortPattern
    theory: str
    associativity: str = ""
    minimum: int = 2
    where: SExp | None = None
    only: tuple[str, ...] = ()
    was: tuple[str, ...] = ()
    needs_as: bool = False
    weight: float = 1.0
    values: tuple[int, ...] = ()
    marks: frozenset[str] = frozenset()

    def apply(
        self, indices: tuple[int | str, ...], sorts: tuple[Sort, ...], qualifier: Sort | None
    ) -> Sort | None:
        """The result sort of an application, or None if it does not fit."""
        if len(indices) != len(self.indices):
            return None
        bindings: Bindings = {}
        if not all(map(match_index, self.indices, indices, itertools.repeat(bindings))):
            return None
        if qualifier is not None and not self.result.match(qualifier, bindings):
            return None
        if self.associativity and len(sorts) != len(self.params):
            return self._apply_many(sorts, bindings)
        return self._apply_once(sorts, bindings)

    def _apply_once(self, sorts: tuple[Sort, ...], bindings: Bindings) -> Sort | None:
        if len(sorts) != len(self.params):
            return None
        if not all(p.match(s, bindings) for p, s in zip(self.params, sorts, strict=True)):
            return None
        try:
            if self.where is not None and not evaluate_index(self.where, bindings):
                return None
            return self.result.instantiate(bindings)
        except (KeyError, TypeError, ZeroDivisionError):
            return None

    def _apply_many(self, sorts: tuple[Sort, ...], fixed: Bindings) -> Sort | None:
        if len(sorts) < 2:
            return self._apply_few(sorts, fixed)
        if self.associativity in (":chainable", ":pairwise"):
            pairs = itertools.pairwise(sorts)
            return None if any(self._apply_once(p, dict(fixed)) is None for p in pairs) else BOOL
        leftwards = self.associativity == ":left-assoc"
        accumulated, rest = (sorts[0], sorts[1:]) if leftwards else (sorts[-1], sorts[-2::-1])
        for sort in rest:
            pair = (accumulated, sort) if leftwards else (sort, accumulated)
            step = self._apply_once(pair, dict(fixed))
            if step is None:
                return None
            accumulated = step
        return accumulated

    def _apply_few(self, sorts: tuple[Sort, ...], bindings: Bindings) -> Sort | None:
        if len(sorts) < self.minimum or not all(self.params[0].match(s, bindings) for s in sorts):
            return None
        try:
            return self.result.instantiate(bindings)
        except KeyError:
            return sorts[0] if sorts else None

    def sort_names(self) -> set[str]:
        """The names of all sorts in its arguments and result."""
        return self.result.names().union(*(p.names() for p in self.params))

    @property
    def is_synonym(self) -> bool:
        """Whether this is another name of a function on strings, such as ``seq.len`` of a String."""
        return self.theory == "Sequences" and "String" in self.sort_names()

    def __str__(self) -> str:
        head = indexed(self.name, self.indices)
        body = " ".join(map(str, (*self.params, self.result)))
        return f"({head} {body}{' ' + self.associativity if self.associativity else ''})"


@dataclass(frozen=True, slots=True)
class SortSymbol:
    """A sort of a theory: its index variables, number of arguments and side condition."""

    name: str
    indices: tuple[str, ...]
    arity: int
    theory: str
    where: SExp | None = None
    only: tuple[str, ...] = ()
    variadic: bool = False


def read_sort_pattern(sexp: SExp, parameters: frozenset[str]) -> SortPattern:
    """The pattern that ``sexp`` denotes, with these names as sort parameters."""
    if isinstance(sexp, str):
        return SortPattern(sexp, is_parameter=sexp in parameters)
    if sexp[0] == "_":
        return SortPattern(sexp[1], tuple(sexp[2:]))
    args = tuple(read_sort_pattern(s, parameters) for s in sexp[1:])
    if isinstance(sexp[0], str):
        return SortPattern(sexp[0], (), args)
    return SortPattern(sexp[0][1], tuple(sexp[0][2:]), args)
