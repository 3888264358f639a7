"""The scope at a point of a script: sorts, symbols, datatypes; with push and pop."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from smtlib.errors import SortError
from smtlib.families import alias_sort
from smtlib.reader import SExp, SExpList, sexp_text
from smtlib.signature import evaluate_index
from smtlib.sorts import BOOL, MAX_DEPTH, SAME_SORTS, Sort, make_sort, read_index, subsorts
from smtlib.terms import Declaration, Term
from smtlib.theory import Theories

MAX_LEVELS = 100_000
"""More open levels are refused."""

# Sorts of all solvers that some solver lets a script declare.
_REDECLARED = frozenset(("Array", "Seq", "Set"))


@dataclass(frozen=True, slots=True)
class SortDefinition:
    """A sort symbol of the script: declared (``body`` None) or defined by ``define-sort``."""

    name: str
    arity: int
    params: tuple[str, ...] = ()
    body: SExp | Sort | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Constructor:
    """A datatype constructor and its selectors."""

    declaration: Declaration
    selectors: tuple[Declaration, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Datatype:
    """One datatype of a group declared together. ``params`` are sort parameters (see ``parameter``)."""

    name: str
    params: tuple[Sort, ...]
    constructors: tuple[Constructor, ...]
    group: tuple[str, ...]

    @property
    def symbols(self) -> list[Declaration]:
        """Every constructor, followed by its selectors."""
        return [symbol for c in self.constructors for symbol in (c.declaration, *c.selectors)]

    @property
    def sort(self) -> Sort:
        """The sort, over the datatype's own parameters."""
        return make_sort(self.name, (), self.params)


def parameter(name: str) -> Sort:
    """The sort that represents a datatype's sort parameter; scripts cannot name it."""
    return make_sort("'" + name)


def is_parameter(sort: Sort) -> bool:
    """Whether ``sort`` is a datatype's sort parameter."""
    return sort.name[0] == "'"


def unify(pattern: Sort, sort: Sort, bindings: dict[Sort, Sort]) -> bool:
    """Whether ``sort`` is an instance of ``pattern``; binds its parameters."""
    if pattern is sort:
        return True
    if is_parameter(pattern):
        return bindings.setdefault(pattern, sort) is sort
    if pattern.name != sort.name or pattern.indices != sort.indices or len(pattern.args) != len(sort.args):
        return False
    return all(unify(p, s, bindings) for p, s in zip(pattern.args, sort.args, strict=True))


def instantiate(pattern: Sort, bindings: Mapping[Sort, Sort]) -> Sort:
    """``pattern`` with its parameters replaced; unbound ones stay."""
    if is_parameter(pattern):
        return bindings.get(pattern, pattern)
    if not pattern.args:
        return pattern
    return make_sort(pattern.name, pattern.indices, tuple(instantiate(a, bindings) for a in pattern.args))


def has_parameters(sort: Sort) -> bool:
    """Whether a datatype's sort parameter occurs in ``sort``."""
    return is_parameter(sort) or any(has_parameters(a) for a in sort.args)


def determines(params: tuple[Sort, ...], result: Sort) -> bool:
    """Whether every sort parameter of ``result`` occurs in ``params``."""
    inside = {s for p in params for s in subsorts(p) if is_parameter(s)}
    return all(s in inside for s in subsorts(result) if is_parameter(s))


@dataclass(slots=True)
class Environment:
    """Names in scope. ``symbols`` lists every rank of a name, newest last (z3 allows overloading)."""

    theories: Theories
    sorts: dict[str, SortDefinition] = field(default_factory=dict)
    symbols: dict[str, list[Declaration]] = field(default_factory=dict)
    named: dict[str, Term] = field(default_factory=dict)
    datatypes: dict[str, Datatype] = field(default_factory=dict)
    maps: dict[str, SExp] = field(default_factory=dict)
    """Functions on arrays that z3's ``declare-map`` has declared, with what they apply to the elements."""
    global_declarations: bool = False
    is_higher_order: bool = False
    """Whether the logic is one of cvc5's higher-order logics, where ``(-> A (-> B C))`` is ``(-> A B C)``."""
    _instances: dict[tuple[str, tuple[Sort, ...], bool], Sort] = field(default_factory=dict)
    """What defined sorts stand for with these arguments, as long as no sort is added or removed."""
    _levels: list[list[tuple[str, str]]] = field(default_factory=list)
    _recent: list[tuple[str, str]] = field(default_factory=list)

    def push(self, count: int) -> None:
        """Open ``count`` levels. Raises SortError if that makes more than ``MAX_LEVELS``."""
        if len(self._levels) + count > MAX_LEVELS:
            raise SortError(f"push {count}: more than {MAX_LEVELS} levels are open")
        self._levels.extend([] for _ in range(count))

    def pop(self, count: int) -> None:
        """Close ``count`` levels and their declarations. Raises SortError if fewer are open."""
        if count > len(self._levels):
            raise SortError(f"pop {count}: only {len(self._levels)} levels are open")
        for _ in range(count):
            for table, name in reversed(self._levels.pop()):
                self._remove(table, name)

    def _remove(self, table: str, name: str) -> None:
        if table == "symbols":
            self.symbols[name].pop()
            if not self.symbols[name]:
                del self.symbols[name]
        else:
            getattr(self, table).pop(name, None)
            if table == "sorts":
                self._instances.clear()

    def start_command(self) -> None:
        """Start recording additions, for :meth:`undo_command`."""
        self._recent.clear()

    def undo_command(self) -> None:
        """Remove what a failed command has added."""
        for table, name in reversed(self._recent):
            self._remove(table, name)
            if self._levels and not self.global_declarations:
                self._levels[-1].pop()
        self._recent.clear()

    def reset(self) -> None:
        """Remove everything, and the logic; z3 and cvc5 keep ``:global-declarations``."""
        self.is_higher_order = False
        for table in (
            "sorts",
            "symbols",
            "named",
            "datatypes",
            "maps",
            "_levels",
            "_instances",
        ):
            getattr(self, table).clear()

    def reset_assertions(self) -> None:
        """Close all levels; declarations outside them stay, as in z3 and cvc5."""
        self.pop(len(self._levels))

    def _log(self, table: str, name: str) -> None:
        self._recent.append((table, name))
        if self._levels and not self.global_declarations:
            self._levels[-1].append((table, name))

    def declare(self, declaration: Declaration) -> Declaration:
        """Add a symbol. Raises SortError if the name is in scope with the same rank."""
        name = declaration.name
        if name in self.named:
            raise SortError(f"{name} already names a term")
        for known in self.symbols.get(name, ()):
            if known.params == declaration.params:
                raise SortError(f"{name} is already declared with this rank")
        self.symbols.setdefault(name, []).append(declaration)
        self._log("symbols", name)
        return declaration

    def name_term(self, name: str, term: Term) -> None:
        """Give ``term`` the name of a ``:named`` attribute."""
        if name in self.symbols or name in self.named:
            raise SortError(f":named {name}: the name is taken")
        self.named[name] = term
        self._log("named", name)

    def add_map(self, name: str, function: SExp) -> None:
        """Add a function on arrays that ``declare-map`` declares."""
        self.maps[name] = function
        self._log("maps", name)

    def add_sort(self, definition: SortDefinition) -> None:
        """Add a sort symbol. Raises SortError if the name is taken."""
        if definition.name in self.sorts or self._is_reserved_sort(definition.name):
            raise SortError(f"sort {definition.name} is already declared")
        self.sorts[definition.name] = definition
        self._instances.clear()
        self._log("sorts", definition.name)

    def _is_reserved_sort(self, name: str) -> bool:
        """Whether every solver refuses a script's own sort of this name."""
        symbol = self.theories.sorts.get(name)
        common = symbol is not None and not symbol.only and name not in _REDECLARED
        return common or name in self.theories.abbreviations

    def add_datatype(self, datatype: Datatype) -> None:
        """Add a datatype whose sort is in scope, with its constructors, selectors and testers."""
        self.datatypes[datatype.name] = datatype
        self._log("datatypes", datatype.name)
        for constructor in datatype.constructors:
            self.declare(constructor.declaration)
            for selector in constructor.selectors:
                self.declare(selector)

    def constructor(self, name: str) -> Declaration | None:
        """The newest constructor of this name."""
        known = reversed(self.symbols.get(name, []))
        return next((declaration for declaration in known if declaration.origin == "constructor"), None)

    # Sorts

    def sort(self, sexp: SExp, params: Mapping[str, Sort] | None = None, depth: int = 0) -> Sort:
        """The sort that ``sexp`` denotes; ``params`` are sort parameters in scope."""
        if depth > MAX_DEPTH:
            raise SortError(f"sort nested deeper than {MAX_DEPTH}")
        if isinstance(sexp, str):
            return self._named_sort(sexp, params or {})
        if not sexp:
            raise SortError("() is not a sort")
        if sexp[0] == "_":
            return self._indexed_sort(sexp)
        if not isinstance(sexp[0], str):
            raise SortError(f"{sexp_text(sexp, 60)} is not a sort")
        if len(sexp) == 1:  # z3 accepts (Float32)
            return self._named_sort(sexp[0], params or {})
        args = tuple(self.sort(s, params, depth + 1) for s in sexp[1:])
        return self._applied_sort(sexp[0], args, depth)

    def _named_sort(self, name: str, params: Mapping[str, Sort]) -> Sort:
        return params[name] if name in params else self._applied_sort(name, ())

    def _applied_sort(self, name: str, args: tuple[Sort, ...], depth: int = 0) -> Sort:
        if name == "->":
            if len(args) < 2:
                raise SortError("(-> ...) needs at least two sorts")
            return self.function_sort(args[:-1], args[-1])
        definition = self.sorts.get(name)
        if definition is not None:
            if definition.arity != len(args):
                raise SortError(f"sort {name} takes {definition.arity} arguments, got {len(args)}")
            if isinstance(definition.body, Sort):
                return definition.body
            if definition.body is not None:
                key = name, args, self.is_higher_order
                if key not in self._instances:
                    params = dict(zip(definition.params, args, strict=True))
                    self._instances[key] = self.sort(definition.body, params, depth + 1)
                return self._instances[key]
            return make_sort(name, (), args)
        if name in self.theories.abbreviations:
            return self.theories.abbreviations[name]
        symbol = self.theories.sorts.get(name)
        if symbol is None or symbol.indices:
            alias = alias_sort(name, args)
            if alias is None:
                raise SortError(f"unknown sort {name}")
            return alias
        if symbol.variadic:
            fits = bool(args)
        elif symbol.arity == 0:  # z3 takes (Int Bool) for Int
            fits, args = True, ()
        else:  # z3's arrays may have several indices
            fits = len(args) == symbol.arity or (name == "Array" and len(args) > symbol.arity)
        if not fits:
            raise SortError(f"sort {name} takes {symbol.arity} arguments, got {len(args)}")
        sort = make_sort(name, (), args)
        return sort if "Unicode" in self.sorts else SAME_SORTS.get(sort, sort)

    def definition(self, sexp: SExp, params: Collection[str]) -> SExp | Sort:
        """What a sort defined as ``sexp`` with these parameters stands for: a sort, or text to be read where
        the name is used. Raises SortError if no use of it can be a sort.

        z3 counts the arguments of its own sorts only where the name is used.
        """
        if not params:
            with suppress(SortError):
                return self.sort(sexp)
        self._require_known(sexp, params)
        return sexp

    def _require_known(self, sexp: SExp, params: Collection[str], depth: int = 0) -> None:
        """Raise SortError for a sort that is unknown, or the script's and takes other arguments."""
        if isinstance(sexp, str) or depth > MAX_DEPTH or not sexp or not isinstance(sexp[0], str):
            if not (isinstance(sexp, str) and sexp in params):
                self.sort(sexp, {}, depth)
            return
        head, *args = sexp
        if head == "_":
            self.sort(sexp)
            return
        definition = self.sorts.get(head)
        if definition is not None and definition.arity != len(args):
            raise SortError(f"sort {head} takes {definition.arity} arguments, got {len(args)}")
        own = (self.sorts, self.theories.sorts, self.theories.abbreviations)
        if not any(head in known for known in own) and alias_sort(head, (BOOL,) * len(args)) is None:
            if head != "->":
                raise SortError(f"unknown sort {head}")
        for arg in args:
            self._require_known(arg, params, depth + 1)

    def function_sort(self, params: tuple[Sort, ...], result: Sort) -> Sort:
        """The sort of functions from ``params`` to ``result``."""
        results = result.args if self.is_higher_order and result.is_function else (result,)
        return make_sort("->", (), (*params, *results))

    def _indexed_sort(self, sexp: SExpList) -> Sort:
        shown = sexp_text(sexp, 60)
        symbol = self.theories.sorts.get(sexp[1]) if len(sexp) > 1 and isinstance(sexp[1], str) else None
        if symbol is None or len(symbol.indices) != len(sexp) - 2:
            raise SortError(f"unknown sort {shown}")
        digits = 1000 if symbol.name == "FiniteField" else 9
        read = [read_index(i, digits) for i in sexp[2:]]
        indices = tuple(i for i in read if i is not None)
        if len(indices) < len(read):
            raise SortError(f"{shown}: indices must be numerals of at most {digits} digits")
        if symbol.where is not None and not evaluate_index(
            symbol.where, dict(zip(symbol.indices, indices, strict=True))
        ):
            raise SortError(f"{shown}: {sexp_text(symbol.where)} does not hold")
        return make_sort(symbol.name, indices)
