"""Theories as data: reads ``theories/*.smt2`` and finds the rank of a function application.

A theory file holds one ``(theory NAME :about "..." :sorts (...) :funs (...))`` in SMT-LIB's own declaration
syntax, described in ``theories/README.md``. Everything about a function besides its ranks (such as whether
the standard leaves its value open) is an attribute of its declaration.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from pathlib import Path

from smtlib.errors import ReadError, SortError, TheoryError
from smtlib.families import FAMILIES, family_rank
from smtlib.reader import SExp, SExpList, read_sexps, sexp_text
from smtlib.signature import Signature, SortPattern, SortSymbol, read_sort_pattern
from smtlib.sorts import BOOL, Sort

_ASSOCIATIVITY = (":left-assoc", ":right-assoc", ":chainable", ":pairwise")
_MARKS = (":open", ":hard", ":doubtful", ":neutral", ":identity", ":bare", ":nonstandard")
_FLAGS = (*_ASSOCIATIVITY, *_MARKS, ":as", ":extension", ":guarded", ":read-only")
_OF_FUNCTIONS = (*_ASSOCIATIVITY, *_MARKS, *":as :min :where :only :was :weight :values :note".split())
_OF_SORTS = (":where", ":only")
_OF_THEORIES = (
    ":about :sorts :abbreviations :funs :combines :needs :weight :nonstandard :extension :guarded :read-only"
).split()


@dataclass(frozen=True, slots=True)
class Theory:
    """The attributes of a whole theory.

    ``combines`` names the theories between which it converts, ``needs`` those that it is used with,
    ``weight`` says how often to draw it. What is ``nonstandard`` is in no theory of SMT-LIB; an ``extension``
    is not in most solvers either. A ``guarded`` theory is used only in formulas that already use it.
    """

    name: str
    about: str = ""
    combines: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    weight: float = 1.0
    nonstandard: bool = False
    extension: bool = False
    guarded: bool = False


@dataclass(slots=True)
class Theories:
    """All loaded theories: sorts, signatures by function name, old spellings, attributes."""

    sorts: dict[str, SortSymbol] = field(default_factory=dict)
    abbreviations: dict[str, Sort] = field(default_factory=dict)
    functions: dict[str, list[Signature]] = field(default_factory=dict)
    spellings: dict[str, list[str]] = field(default_factory=dict)
    theories: dict[str, Theory] = field(default_factory=dict)
    read_only: dict[str, list[Signature]] = field(default_factory=dict)
    """Further signatures by function name, which are read but never drawn."""
    value_arguments: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """By function, the positions of arguments for which solvers accept only values."""
    _marked: dict[str, set[str]] = field(default_factory=dict)
    _cache: dict[object, tuple[Sort, Signature] | None] = field(default_factory=dict)

    def find(
        self,
        name: str,
        indices: tuple[int | str, ...],
        sorts: tuple[Sort, ...],
        qualifier: Sort | None = None,
    ) -> tuple[Sort, Signature] | None:
        """Result sort and signature of ``((_ name indices) sorts...)``, or None if no rank fits."""
        key = (name, indices, sorts, qualifier)
        try:
            return self._cache[key]
        except KeyError:
            pass
        found = None
        for signature in (*self.functions.get(name, ()), *self.read_only.get(name, ())):
            result = signature.apply(indices, sorts, qualifier)
            if result is not None and (qualifier is None or result is qualifier):
                found = (result, signature)
                break
        else:
            result = family_rank(name, indices, sorts, qualifier)
            if result is not None:
                theory = FAMILIES[name][0]
                found = (result, Signature(name, (), (), SortPattern(result.text), theory))
        if len(self._cache) > 200_000:
            self._cache.clear()
        self._cache[key] = found
        return found

    def knows(self, name: str) -> bool:
        """Whether a function has this name."""
        return name in self.functions or name in self.read_only or name in FAMILIES

    def signatures(self) -> Iterable[Signature]:
        """Every signature that may be drawn, function by function."""
        for group in self.functions.values():
            yield from group

    def is_common(self, signature: Signature) -> bool:
        """Whether all solvers have it."""
        return not signature.only and not self.theories[signature.theory].extension

    def is_standard(self, declared: Signature | SortSymbol) -> bool:
        """Whether it is in a theory of SMT-LIB, and all solvers have it."""
        is_marked = declared.name in self.marked(":nonstandard")
        return not declared.only and not is_marked and not self.theories[declared.theory].nonstandard

    def marked(self, mark: str) -> Set[str]:
        """The functions with a rank that has this mark, such as ``:open``."""
        return self._marked.get(mark, frozenset())

    def bare_sort(self, name: str) -> Sort | None:
        """The sort of a ``:bare`` constant that is written without ``as``; None for others."""
        if name not in self.marked(":bare"):
            return None
        result = self.functions[name][0].result
        return result.instantiate(dict.fromkeys(result.parameters(), BOOL))

    def add_file(self, text: str, source: str) -> None:
        """Add the theories of one file. Raises :class:`TheoryError` naming ``source``."""
        try:
            for sexp in read_sexps(text):
                with _readable(sexp):
                    self._add_theory(sexp)
        except (ReadError, TheoryError) as error:
            raise TheoryError(f"{source}: {error}") from error
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
            combines=_names(parts.get(":combines", ())),
            needs=_names(parts.get(":needs", ())),
            weight=_weight(parts),
            nonstandard=":nonstandard" in parts or ":extension" in parts,
            extension=":extension" in parts,
            guarded=":guarded" in parts,
        )
        for entry in _list(parts, ":sorts"):
            with _readable(entry):
                self._add_sort(entry, name)
        for entry in _list(parts, ":abbreviations"):
            with _readable(entry):
                self.abbreviations[entry[0]] = read_sort_pattern(entry[1], frozenset()).instantiate({})
        for entry in _list(parts, ":funs"):
            with _readable(entry):
                self._add_signature(_signature(entry, name), ":read-only" in parts)

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

    def _add_signature(self, signature: Signature, read_only: bool) -> None:
        known = self.read_only if read_only else self.functions
        known.setdefault(signature.name, []).append(signature)
        if signature.values:
            self.value_arguments[signature.name] = signature.values
        for mark in signature.marks:
            self._marked.setdefault(mark, set()).add(signature.name)
        for old in signature.was:
            names = self.spellings.setdefault(old, [])
            if signature.name not in names:
                names.append(signature.name)


@contextmanager
def _readable(entry: SExp) -> Iterator[None]:
    """Turn any error about the shape of ``entry`` into a TheoryError that shows it."""
    try:
        yield
    except (AttributeError, LookupError, SortError, TypeError, ValueError):
        raise TheoryError(f"cannot be read: {sexp_text(entry, 80)}") from None


def _names(value: SExp | tuple[()]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _attributes(items: Sequence[SExp], known: Sequence[str]) -> dict[str, SExp]:
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
    text = attributes.get(":weight", "1")
    if not isinstance(text, str) or not re.fullmatch(r"[0-9]+(?:\.[0-9]+)?", text):
        raise TheoryError(f":weight {sexp_text(text, 40)}: expected a number such as 0.5")
    return float(text)


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
    """The shipped theories, then the user's files in order."""
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


@lru_cache(maxsize=1)
def common_functions() -> frozenset[str]:
    """The functions of the shipped theories that all solvers have."""
    theories = default_theories()
    return frozenset(s.name for s in theories.signatures() if theories.is_common(s))
