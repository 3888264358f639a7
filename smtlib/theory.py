"""Theories as data: reads ``theories/*.smt2`` and finds the rank of a function application.

A theory file holds one ``(theory NAME :about "..." :sorts (...) :funs (...))`` in SMT-LIB's own
declaration syntax; ``theories/README.md`` describes it. What is to be known of a function besides its
ranks (whether the standard leaves its value open, say) are attributes of its declaration.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from pathlib import Path

from smtlib.errors import TheoryError
from smtlib.reader import SExp, SExpList, read_sexps, sexp_text
from smtlib.sorts import BOOL, Sort, make_sort

Bindings = dict[str, "Sort | int | str"]
"""What the sort parameters and index variables of a signature stand for."""

_ASSOCIATIVITY = (":left-assoc", ":right-assoc", ":chainable", ":pairwise")
_MARKS = (":open", ":hard", ":doubtful", ":neutral", ":identity")
_FLAGS = (*_ASSOCIATIVITY, *_MARKS, ":as", ":extension", ":guarded")
_OF_FUNCTIONS = (
    *_ASSOCIATIVITY,
    *_MARKS,
    ":as",
    ":min",
    ":where",
    ":only",
    ":was",
    ":weight",
    ":values",
    ":note",
)
_OF_SORTS = (":where", ":only")
_OF_THEORIES = (
    *(
        ":about",
        ":sorts",
        ":abbreviations",
        ":funs",
        ":labels",
        ":needs",
        ":weight",
        ":extension",
        ":guarded",
    ),
)

_ARITHMETIC: dict[str, Callable[..., int]] = {
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


def evaluate_index(expression: SExp, bindings: Bindings) -> int:
    """The value of an index expression such as ``(+ (- i j) 1)``."""
    if isinstance(expression, str):
        if expression.isdigit():
            return int(expression)
        value = bindings[expression]
        if not isinstance(value, int):
            raise KeyError(expression)
        return value
    return _ARITHMETIC[expression[0]](*(evaluate_index(e, bindings) for e in expression[1:]))


@dataclass(frozen=True, slots=True)
class SortPattern:
    """A sort with parameters: a sort variable (``is_parameter``), or a name, index expressions, arguments."""

    name: str
    indices: tuple[SExp, ...] = ()
    args: tuple[SortPattern, ...] = ()
    is_parameter: bool = False

    def match(self, sort: Sort, bindings: Bindings) -> bool:
        """Whether ``sort`` is an instance; binds the parameters met for the first time."""
        if self.is_parameter:
            return bindings.setdefault(self.name, sort) is sort
        if (
            sort.name != self.name
            or len(sort.args) != len(self.args)
            or len(sort.indices) != len(self.indices)
        ):
            return False
        for expression, value in zip(self.indices, sort.indices, strict=True):
            if isinstance(expression, str) and not expression.isdigit():
                if bindings.setdefault(expression, value) != value:
                    return False
            elif not self._index_holds(expression, value, bindings):
                return False
        return all(p.match(s, bindings) for p, s in zip(self.args, sort.args, strict=True))

    @staticmethod
    def _index_holds(expression: SExp, value: int, bindings: Bindings) -> bool:
        try:
            return evaluate_index(expression, bindings) == value
        except KeyError:
            return False

    def instantiate(self, bindings: Bindings) -> Sort:
        """The sort under these bindings. Raises KeyError where one is missing."""
        if self.is_parameter:
            found = bindings[self.name]
            if not isinstance(found, Sort):
                raise KeyError(self.name)
            return found
        indices = tuple(evaluate_index(e, bindings) for e in self.indices)
        return make_sort(self.name, indices, tuple(a.instantiate(bindings) for a in self.args))

    def parameters(self) -> set[str]:
        """The sort parameters that occur."""
        return {self.name} if self.is_parameter else set().union(*(a.parameters() for a in self.args))

    def names(self) -> set[str]:
        """The names of the sorts that occur."""
        return set() if self.is_parameter else {self.name}.union(*(a.names() for a in self.args))

    def __str__(self) -> str:
        indices = " ".join(sexp_text(e) for e in self.indices)
        head = f"(_ {self.name} {indices})" if indices else self.name
        return f"({head} {' '.join(map(str, self.args))})" if self.args else head


@dataclass(frozen=True, slots=True)
class Signature:
    """One declared rank of a theory function.

    ``indices`` are the index variables of an indexed function (or fixed numerals),
    ``associativity`` one of the four of SMT-LIB or empty, ``minimum`` the fewest arguments that
    solvers take, ``only`` the solvers that know it (empty: all), ``needs_as`` whether its result
    sort does not follow from the arguments. ``weight`` says how often to draw it, ``values`` where
    solvers take values only; ``marks`` are explained in ``theories/README.md``.
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
        """The result sort of an application, or None where it does not fit."""
        if len(indices) != len(self.indices):
            return None
        bindings: Bindings = {}
        for variable, value in zip(self.indices, indices, strict=True):
            if variable.isdigit():
                if value != int(variable):
                    return None
            elif bindings.setdefault(variable, value) != value:
                return None
        if qualifier is not None and not self.result.match(qualifier, bindings):
            return None
        if self.associativity and len(sorts) != len(self.params):
            return self._apply_many(sorts, bindings)
        return self._apply_once(sorts, bindings)

    def _apply_once(self, sorts: tuple[Sort, ...], bindings: Bindings) -> Sort | None:
        if len(sorts) != len(self.params):
            return None
        for pattern, sort in zip(self.params, sorts, strict=True):
            if not pattern.match(sort, bindings):
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
            for left, right in itertools.pairwise(sorts):
                if self._apply_once((left, right), dict(fixed)) is None:
                    return None
            return BOOL
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
        """The names of the sorts of its arguments and result, and of those inside them."""
        return self.result.names().union(*(p.names() for p in self.params))

    @property
    def is_synonym(self) -> bool:
        """Whether this is another name of a function on strings, such as ``seq.len`` of a String."""
        return self.theory == "Sequences" and "String" in self.sort_names()

    def __str__(self) -> str:
        head = f"(_ {self.name} {' '.join(self.indices)})" if self.indices else self.name
        body = " ".join(map(str, (*self.params, self.result)))
        return f"({head} {body}{' ' + self.associativity if self.associativity else ''})"


@dataclass(frozen=True, slots=True)
class SortSymbol:
    """A sort that a theory brings: its index variables, number of arguments and side condition."""

    name: str
    indices: tuple[str, ...]
    arity: int
    theory: str
    where: SExp | None = None
    only: tuple[str, ...] = ()
    variadic: bool = False


@dataclass(frozen=True, slots=True)
class Theory:
    """What a theory file says of the whole theory.

    ``labels`` are its names in keys and reports, ``needs`` the theories without which it has little to say,
    ``weight`` how often to draw it. An ``extension`` is no theory that SMT-LIB or most solvers have; a
    ``guarded`` one is left to formulas that use it already.
    """

    name: str
    about: str = ""
    labels: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    weight: float = 1.0
    extension: bool = False
    guarded: bool = False


@dataclass(slots=True)
class Theories:
    """All loaded theories: sorts, signatures by function name, old spellings, and what is said of each."""

    sorts: dict[str, SortSymbol] = field(default_factory=dict)
    abbreviations: dict[str, Sort] = field(default_factory=dict)
    functions: dict[str, list[Signature]] = field(default_factory=dict)
    spellings: dict[str, list[str]] = field(default_factory=dict)
    theories: dict[str, Theory] = field(default_factory=dict)
    value_arguments: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """By function, the places of arguments for which solvers take values only."""
    _marked: dict[str, set[str]] = field(default_factory=dict)
    _cache: dict[object, tuple[Sort, Signature] | None] = field(default_factory=dict)

    def find(
        self,
        name: str,
        indices: tuple[int | str, ...],
        sorts: tuple[Sort, ...],
        qualifier: Sort | None = None,
    ) -> tuple[Sort, Signature] | None:
        """Result sort and signature of ``((_ name indices) sorts...)``, or None where nothing fits."""
        key = (name, indices, sorts, qualifier)
        try:
            return self._cache[key]
        except KeyError:
            pass
        found = None
        for signature in self.functions.get(name, ()):
            result = signature.apply(indices, sorts, qualifier)
            if result is not None and (qualifier is None or result is qualifier):
                found = (result, signature)
                break
        if len(self._cache) > 200_000:
            self._cache.clear()
        self._cache[key] = found
        return found

    def signatures(self) -> Iterable[Signature]:
        """Every signature, function by function."""
        for group in self.functions.values():
            yield from group

    def marked(self, mark: str) -> Set[str]:
        """The functions of which some rank has this mark, such as ``:open``."""
        return self._marked.get(mark, frozenset())

    def add_file(self, text: str, source: str) -> None:
        """Add the theories of one file. Raises :class:`TheoryError` naming ``source``."""
        for sexp in read_sexps(text):
            try:
                self._add_theory(sexp)
            except TheoryError as error:
                raise TheoryError(f"{source}: {error.message}") from error
        self._cache.clear()

    def _add_theory(self, sexp: SExp) -> None:
        if isinstance(sexp, str) or len(sexp) < 2 or sexp[0] not in ("theory", "narrow"):
            raise TheoryError(f"expected (theory NAME ...), found {sexp_text(sexp, 60)}")
        name = sexp[1]
        if sexp[0] == "narrow":
            for function in _list(_attributes(sexp[2:], (":without",)), ":without"):
                self.functions.pop(function, None)
            return
        parts = _attributes(sexp[2:], _OF_THEORIES)
        self.theories[name] = Theory(
            name,
            about=str(parts.get(":about", "")).strip('"'),
            labels=_names(parts.get(":labels", ())),
            needs=_names(parts.get(":needs", ())),
            weight=_weight(parts),
            extension=":extension" in parts,
            guarded=":guarded" in parts,
        )
        for entry in _list(parts, ":sorts"):
            self._add_sort(entry, name)
        for entry in _list(parts, ":abbreviations"):
            self.abbreviations[entry[0]] = read_sort_pattern(entry[1], frozenset()).instantiate({})
        for entry in _list(parts, ":funs"):
            self._add_signature(_signature(entry, name))

    def _add_sort(self, entry: SExpList, theory: str) -> None:
        head, arity = entry[0], entry[1]
        attributes = _attributes(entry[2:], _OF_SORTS)
        name, indices = (head, ()) if isinstance(head, str) else (head[1], tuple(head[2:]))
        self.sorts[name] = SortSymbol(
            name,
            indices,
            0 if arity == "*" else int(arity),
            theory,
            attributes.get(":where"),
            _names(attributes.get(":only", ())),
            arity == "*",
        )

    def _add_signature(self, signature: Signature) -> None:
        self.functions.setdefault(signature.name, []).append(signature)
        if signature.values:
            self.value_arguments[signature.name] = signature.values
        for mark in signature.marks:
            self._marked.setdefault(mark, set()).add(signature.name)
        for old in signature.was:
            names = self.spellings.setdefault(old, [])
            if signature.name not in names:
                names.append(signature.name)


def _names(value: SExp | tuple[()]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _attributes(items: list[SExp], known: tuple[str, ...]) -> dict[str, SExp]:
    found: dict[str, SExp] = {}
    rest = iter(items)
    for key in rest:
        if not isinstance(key, str) or key not in known:
            raise TheoryError(f"unknown attribute {sexp_text(key, 40)}; known: {' '.join(known)}")
        value = key if key in _FLAGS else next(rest, None)
        if value is None:
            raise TheoryError(f"{key} needs a value")
        found[key] = value
    return found


def _list(attributes: dict[str, SExp], key: str) -> SExpList:
    found = attributes.get(key, SExpList())
    if isinstance(found, str):
        raise TheoryError(f"{key}: expected a list, found {found}")
    return found


def _weight(attributes: dict[str, SExp]) -> float:
    text = str(attributes.get(":weight", "1"))
    if not text.replace(".", "", 1).isdecimal():
        raise TheoryError(f":weight {text}: expected a number that is not negative")
    return float(text)


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


def _signature(entry: SExp, theory: str) -> Signature:
    shown = sexp_text(entry, 80)
    parameters: frozenset[str] = frozenset()
    if not isinstance(entry, str) and entry and entry[0] == "par":
        parameters = frozenset(entry[1])
        entry = entry[2]
    if isinstance(entry, str) or len(entry) < 2:
        raise TheoryError(f"expected (NAME SORT ... SORT), found {shown}")
    head = entry[0]
    name, indices = (head, ()) if isinstance(head, str) else (head[1], tuple(head[2:]))
    split = next((i for i, e in enumerate(entry) if isinstance(e, str) and e.startswith(":")), len(entry))
    sorts = [read_sort_pattern(s, parameters) for s in entry[1:split]]
    if not sorts:
        raise TheoryError(f"no result sort in {shown}")
    attributes = _attributes(entry[split:], _OF_FUNCTIONS)
    params, result = tuple(sorts[:-1]), sorts[-1]
    associativity = next((a for a in _ASSOCIATIVITY if a in attributes), "")
    if associativity and len(params) != 2:
        raise TheoryError(f"{associativity} needs two parameters in {shown}")
    known = set().union(*(p.parameters() for p in params))
    return Signature(
        name,
        indices,
        params,
        result,
        theory,
        associativity,
        minimum=int(str(attributes.get(":min", "2"))),
        where=attributes.get(":where"),
        only=_names(attributes.get(":only", ())),
        was=_names(attributes.get(":was", ())),
        needs_as=":as" in attributes or bool(result.parameters() - known),
        weight=_weight(attributes),
        values=tuple(int(place) for place in _names(attributes.get(":values", ()))),
        marks=frozenset(_MARKS).intersection(attributes),
    )


def load_theories(extra: Iterable[Path] = ()) -> Theories:
    """The shipped theories, then the user's own files in order."""
    theories = Theories()
    folder = resources.files("smtlib") / "theories"
    for file in sorted(folder.iterdir(), key=lambda f: f.name):
        if file.name.endswith(".smt2"):
            theories.add_file(file.read_text(encoding="utf-8"), file.name)
    for path in extra:
        theories.add_file(path.read_text(encoding="utf-8"), str(path))
    return theories


@lru_cache(maxsize=1)
def default_theories() -> Theories:
    """The shipped theories, loaded once."""
    return load_theories()
