"""Applications: finds the rank of a function for its arguments, with the conversions that solvers make."""

from __future__ import annotations

import re
from collections.abc import Callable

from smtlib.environment import Environment, determines, has_parameters, instantiate, parameter, unify
from smtlib.errors import SortError
from smtlib.reader import SExp, sexp_text
from smtlib.sorts import BOOL, COMPLEX, INT, REAL, Sort, indexed, make_sort
from smtlib.terms import Declaration, Kind, Op, Term, TermTable

_OF_NUMBERS = frozenset(
    """
    + - * / div mod abs < <= > >= ^ to_real to_int is_int divisible rem div0 mod0 /0 int_to_bv sin cos tan
    asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp log complex.make complex.real complex.imag
    """.split()
)
"""Functions on numbers only: z3 also takes a Bool."""

_ARITHMETIC = _OF_NUMBERS | {"=", "distinct", "ite"}
"""Functions for whose arguments z3 converts between Bool, Int and Real."""

_ARRAY = frozenset(("select", "store"))
_FIELD_ELEMENT = re.compile(r"ff(-?[0-9]{1,1000})\Z")


def _columns(sort: Sort) -> tuple[Sort, ...]:
    """The sorts of the arguments and the result of an array, a function or z3's set: for z3 they are one."""
    if sort.name == "Set":
        return (*sort.args, BOOL)
    return sort.args if sort.name in ("Array", "->") else ()


def _element(sort: Sort) -> Sort | None:
    columns = _columns(sort)
    return columns[-1] if columns else None


INDEXED_BY_FUNCTION: dict[str, Callable[[Sort], Sort | None]] = {
    "map": _element,
    "as-array": lambda sort: None,
    "ac-op": lambda sort: sort,
    "transitive-closure": lambda sort: sort,
    "nullable.lift": lambda sort: sort.args[0] if sort.name == "Nullable" else None,
}
"""Operators whose index is a function, and the sort that each argument has inside that function."""


def _result_sort(operator: str, args: tuple[Term, ...], inner: tuple[Sort, ...], result: Sort) -> Sort:
    if operator == "map":
        sort = args[0].sort
        return sort if sort.name == "Set" else make_sort("Array", (), (*sort.args[:-1], result))
    if operator == "as-array":
        return make_sort("Array", (), (*inner, result))
    return make_sort("Nullable", (), (result,)) if operator == "nullable.lift" else result


def describe(term: Term, limit: int = 60) -> str:
    """A short form of ``term`` for messages: its head and the heads of its arguments."""
    if not term.args:
        return term.op.text
    args = " ".join(a.op.text if not a.args else f"({a.op.text} ...)" for a in term.args)
    text = f"({term.op.text} {args})"
    return text if len(text) <= limit else text[: limit - 4] + " ...)"


def head_text(declaration: Declaration, result: Sort) -> str:
    """The head of an application of a script's function: with ``as`` if its sort does not follow."""
    if has_parameters(declaration.result) and not determines(declaration.params, declaration.result):
        return f"(as {declaration.name} {result})"
    return declaration.name


class Applications:
    """Applies functions of the script and of the theories to terms."""

    def __init__(self, environment: Environment, table: TermTable) -> None:
        self.environment = environment
        self.table = table
        self.has_open = False
        """Whether some term of the command has an open sort: one that follows from where the term is used."""

    def apply(self, name: str, args: tuple[Term, ...]) -> Term:
        """``(name args...)`` for any ``name``. Raises :class:`SortError`."""
        ranks = self.environment.symbols.get(name)
        if ranks is not None:
            return self._script_function(name, ranks, args)
        if name in self.environment.maps:
            return self.indexed_by_function("map", self.environment.maps[name], args, name)
        if name == "@" and len(args) > 1:
            return self.higher_order(args[0], args[1:])
        if name.startswith(("is-", "is_")) and self.environment.constructor(name[3:]):
            return self.tester(name[3:], args)
        return self.operator(name, (), None, args)

    # Symbols of the script

    def constant(self, name: str) -> Term:
        """The symbol ``name`` without arguments."""
        for declaration in reversed(self.environment.symbols[name]):
            if not declaration.params:
                self.has_open = self.has_open or has_parameters(declaration.result)
                return self.table.symbol(declaration)
        declaration = self.environment.symbols[name][-1]
        sort = self.environment.function_sort(declaration.params, declaration.result)
        op = self.table.op(Kind.SYMBOL, name, None, (), declaration)
        return self.table.make(op, (), sort)

    def _script_function(self, name: str, ranks: list[Declaration], args: tuple[Term, ...]) -> Term:
        for declaration in reversed(ranks):
            made = self._instance(declaration, args, None)
            if made is not None:
                return made
        for declaration in reversed(ranks):
            converted = self._converted_arguments(declaration.params, args)
            if converted is not None:
                made = self._instance(declaration, converted, None)
                if made is not None:
                    return made
        newest = ranks[-1]
        if not newest.params and newest.result.name in ("->", "Array"):
            return self.higher_order(self.table.symbol(newest), args)
        if len(args) < len(newest.params):
            return self.higher_order(self.constant(name), args)
        if newest.params and newest.result.is_function:
            count = len(newest.params)
            return self.higher_order(self._script_function(name, ranks, args[:count]), args[count:])
        if self.environment.theories.knows(name):
            return self.operator(name, (), None, args)
        expected = " ".join(map(str, ranks[-1].params)) or "no arguments"
        raise SortError(f"{name} takes {expected}, got {_sorts_of(args)}")

    def _instance(self, declaration: Declaration, args: tuple[Term, ...], result: Sort | None) -> Term | None:
        """``declaration`` applied to ``args``, or None where they do not fit."""
        if len(declaration.params) != len(args):
            return None
        bindings: dict[Sort, Sort] = {}
        if result is not None and not unify(declaration.result, result, bindings):
            return None
        for param, arg in zip(declaration.params, args, strict=True):
            if param is arg.sort or (self.has_open and has_parameters(arg.sort)):
                continue
            if not unify(param, arg.sort, bindings):
                return None
        if self.has_open and any(has_parameters(a.sort) for a in args):
            targets = [instantiate(param, bindings) for param in declaration.params]
            closed = [self.close(arg, target) for arg, target in zip(args, targets, strict=True)]
            args = tuple(term for term in closed if term is not None)
            if len(args) < len(closed):
                return None
        sort = instantiate(declaration.result, bindings) if bindings else declaration.result
        if has_parameters(sort):
            if declaration.origin != "constructor":
                return None
            self.has_open = True
        op = self.table.op(Kind.SYMBOL, declaration.name, head_text(declaration, sort), (), declaration)
        return self.table.make(op, args, sort)

    def _converted_arguments(
        self, params: tuple[Sort, ...], args: tuple[Term, ...]
    ) -> tuple[Term, ...] | None:
        if len(params) != len(args):
            return None
        converted = []
        for param, arg in zip(params, args, strict=True):
            fitting = self.convert(arg, param) if not has_parameters(param) else arg
            if fitting is None:
                return None
            converted.append(fitting)
        return tuple(converted)

    def qualified(self, name: str, sort: Sort, args: tuple[Term, ...]) -> Term:
        """``((as name sort) args...)``, or ``(as name sort)`` without arguments."""
        for declaration in reversed(self.environment.symbols.get(name, ())):
            made = self._instance(declaration, args, sort)
            if made is not None and made.sort is sort:
                return made
        if sort.name == "FiniteField" and not args and (number := _FIELD_ELEMENT.match(name)):
            return self.table.literal(f"#f{int(number[1]) % sort.indices[0]}m{sort.indices[0]}", sort)
        return self.operator(name, (), sort, args)

    def tester(self, constructor: str, args: tuple[Term, ...]) -> Term:
        """``((_ is constructor) arg)``."""
        declaration = self.environment.constructor(constructor)
        if declaration is None and self.environment.theories.knows(f"is-{constructor}"):
            return self.operator(f"is-{constructor}", (), None, args)
        if declaration is None:
            raise SortError(f"(_ is {constructor}): {constructor} is not a constructor")
        if self.has_open and args and has_parameters(args[0].sort):
            raise _ambiguous(args[0])
        if len(args) != 1 or not unify(declaration.result, args[0].sort, {}):
            raise SortError(f"(_ is {constructor}) takes {declaration.result}, got {_sorts_of(args)}")
        op = self.table.op(Kind.SYMBOL, "is", f"(_ is {constructor})", (constructor,), declaration)
        return self.table.make(op, args, BOOL)

    def updater(self, selector: str, args: tuple[Term, ...]) -> Term:
        """``((_ update selector) datatype value)``."""
        ranks = [d for d in self.environment.symbols.get(selector, ()) if d.origin == "selector"]
        bindings: dict[Sort, Sort] = {}
        if len(ranks) != 1 or len(args) != 2 or not unify(ranks[0].params[0], args[0].sort, bindings):
            raise SortError(
                f"(_ update {selector}) takes a datatype with {selector} and a value, got {_sorts_of(args)}"
            )
        if instantiate(ranks[0].result, bindings) is not args[1].sort:
            raise SortError(
                f"(_ update {selector}) takes a value of sort {ranks[0].result}, got {args[1].sort}"
            )
        op = self.table.op(Kind.SYMBOL, "update", f"(_ update {selector})", (selector,), ranks[0])
        return self.table.make(op, args, args[0].sort)

    def close(self, term: Term, sort: Sort) -> Term | None:
        """A term whose sort is open as one of this sort; None if that is not an instance of it."""
        first = (term, sort)
        known: dict[tuple[Term, Sort], Term | None] = {}
        waiting = [first]
        while waiting:
            term, sort = waiting[-1]
            made: Term | None = None
            if term.sort is sort:
                made = term
            elif has_parameters(term.sort) and term.op.declaration is None and not term.args:
                made = self.operator(term.op.name, (), sort, ())
            elif has_parameters(term.sort) and (head := self._closed_head(term, sort)) is not None:
                op, params = head
                parts = list(zip(term.args, params, strict=True))
                missing = [part for part in parts if part not in known]
                if missing:
                    waiting += missing
                    continue
                args = tuple(arg for part in parts if (arg := known[part]) is not None)
                made = self.table.make(op, args, sort) if len(args) == len(parts) else None
            known[waiting.pop()] = made
        return known[first]

    def _closed_head(self, term: Term, sort: Sort) -> tuple[Op, tuple[Sort, ...]] | None:
        """The head of an application whose sort is open as one of this sort, and its arguments' sorts."""
        declaration = term.op.declaration
        if declaration is None:
            return term.op, tuple(sort if has_parameters(a.sort) else a.sort for a in term.args)
        bindings: dict[Sort, Sort] = {}
        if not unify(declaration.result, sort, bindings):
            return None
        op = self.table.op(term.op.kind, declaration.name, head_text(declaration, sort), (), declaration)
        return op, tuple(instantiate(param, bindings) for param in declaration.params)

    def higher_order(self, function: Term, args: tuple[Term, ...], head: str = "@") -> Term:
        """A term of sort ``(-> ...)`` applied to arguments; an array is read, as z3 does.

        ``head`` is ``@``, or ``()`` for the form ``((f x) y)`` of z3.
        """
        sort = function.sort
        if sort.name == "Array":
            count = len(sort.args) - 1
            read = self.operator("select", (), None, (function, *args[:count]))
            return self.higher_order(read, args[count:], head) if args[count:] else read
        if not sort.is_function:
            raise SortError(f"{describe(function)} has sort {sort} and is not a function")
        count = len(sort.args) - 1
        if len(args) > count:
            return self.higher_order(self.higher_order(function, args[:count], head), args[count:], head)
        params = sort.args[: len(args)]
        converted = self._converted_arguments(params, args)
        if converted is None:
            raise SortError(f"{describe(function)} takes {' '.join(map(str, params))}, got {_sorts_of(args)}")
        rest = sort.args[len(args) :]
        result = rest[0] if len(rest) == 1 else make_sort("->", (), rest)
        return self.table.make(self.table.op(Kind.OPERATOR, "@", head), (function, *converted), result)

    def indexed_by_function(
        self, operator: str, function: SExp, args: tuple[Term, ...], text: str = ""
    ) -> Term:
        """``((_ operator function) args ...)`` for an operator of :data:`INDEXED_BY_FUNCTION`."""
        name = function if isinstance(function, str) else function[0]
        if not isinstance(name, str):
            raise SortError(f"(_ {operator} ...): expected a function, found {sexp_text(function, 60)}")
        declaration = next((d for d in self.environment.symbols.get(name, ())), None)
        elements = tuple(INDEXED_BY_FUNCTION[operator](a.sort) for a in args)
        if operator == "as-array" and declaration is not None:
            elements = declaration.params
        if None in elements or not elements:
            raise SortError(f"(_ {operator} ...) does not accept {_sorts_of(args)}")
        sorts = tuple(s for s in elements if s is not None)
        result = self._result_of(name, sorts)
        if result is None:
            raise SortError(f"(_ {operator} {name}): no rank for {' '.join(map(str, sorts))}")
        shown = name
        if not isinstance(function, str):
            shown = f"({name} ({' '.join(map(str, sorts))}) {result})"
        op = self.table.op(Kind.OPERATOR, operator, text or f"(_ {operator} {shown})", (name,), declaration)
        return self.table.make(op, args, _result_sort(operator, args, sorts, result))

    def _result_of(self, name: str, sorts: tuple[Sort, ...]) -> Sort | None:
        for declaration in self.environment.symbols.get(name, ()):
            if declaration.params == sorts:
                return declaration.result
        found = self.environment.theories.find(name, (), sorts)
        return found[0] if found else None

    # Functions of the theories

    def theory_constant(self, name: str) -> Term | None:
        """The theory's constant of this name, or None."""
        theories = self.environment.theories
        for candidate in (name, *theories.spellings.get(name, ())):
            sort = theories.bare_sort(candidate)
            found = theories.find(candidate, (), (), sort)
            if found is not None:
                return self.table.operator(candidate, (), found[0], (), sort)
        if name == "nil":  # of z3's lists
            self.has_open = True
            return self.table.operator(name, (), make_sort("List", (), (parameter("T"),)))
        return None

    def operator(
        self, name: str, indices: tuple[int | str, ...], qualifier: Sort | None, args: tuple[Term, ...]
    ) -> Term:
        """``((_ name indices) args...)`` of a theory; old spellings become the current one."""
        theories = self.environment.theories
        names = [name] if theories.knows(name) else []
        names += theories.spellings.get(name, ())
        if not names:
            raise SortError(f"unknown function {name[:60]}")
        if self.has_open:
            args = self._closed(name, args)
        for candidate in names:
            found = theories.find(candidate, indices, tuple([a.sort for a in args]), qualifier)
            if found is not None:
                return self.table.operator(candidate, args, found[0], indices, qualifier)
        for candidate in names:
            for converted in self._conversions(candidate, args):
                found = theories.find(candidate, indices, tuple([a.sort for a in converted]), qualifier)
                if found is not None:
                    return self.table.operator(candidate, converted, found[0], indices, qualifier)
        for candidate in names if indices else ():
            # z3 passes over indices of functions that take none.
            found = theories.find(candidate, (), tuple([a.sort for a in args]), qualifier)
            if found is not None and found[1] in theories.functions.get(candidate, ()) and not found[1].only:
                return self.table.operator(candidate, args, found[0], (), qualifier)
        raise self._no_rank(names[0], indices, qualifier, args)

    def _no_rank(
        self, name: str, indices: tuple[int | str, ...], qualifier: Sort | None, args: tuple[Term, ...]
    ) -> SortError:
        theories = self.environment.theories
        ranks = [*theories.functions.get(name, ()), *theories.read_only.get(name, ())][:4]
        expected = f" with result {qualifier}" if qualifier else ""
        known = f"; expected {' or '.join(map(str, ranks))}" if ranks else ""
        return SortError(f"no rank of {indexed(name, indices)} for {_sorts_of(args)}{expected}{known}")

    def _closed(self, name: str, args: tuple[Term, ...]) -> tuple[Term, ...]:
        """Arguments with the sorts of open ones taken from the others."""
        if not any(has_parameters(a.sort) for a in args):
            return args
        first = 1 if name == "ite" else 0
        sorts = [a.sort for a in args[first:] if not has_parameters(a.sort)]
        if name == "insert" and sorts:
            sorts = [make_sort("List", (), (sorts[0],))]
        if name in _ARRAY and sorts:
            sorts = [args[0].sort.args[-1]]
        if not sorts:
            if name == "ite":
                return args
            raise _ambiguous(args[0])
        closed = [self.close(a, sorts[0]) if has_parameters(a.sort) else a for a in args]
        return tuple(term or arg for term, arg in zip(closed, args, strict=True))

    # Conversions

    def _conversions(self, name: str, args: tuple[Term, ...]) -> list[tuple[Term, ...]]:
        """Converted argument lists to try, in z3's order."""
        if name in _ARRAY and args and _columns(args[0].sort):
            expected = (args[0].sort, *_columns(args[0].sort))[: len(args)]
            converted = self._converted_arguments(expected, args)
            return [converted] if converted is not None else []
        if name == "insert" and len(args) == 2 and args[1].sort.name == "List":
            converted = self._converted_arguments((args[1].sort.args[0], args[1].sort), args)
            return [converted] if converted is not None else []
        if any(_columns(a.sort) for a in args):
            return [self._all_as(kind, args) for kind in ("Array", "->")]
        sorts = {a.sort for a in args}
        tries = []
        if BOOL in sorts and (
            name in _OF_NUMBERS or (name in _ARITHMETIC and not sorts.isdisjoint((INT, REAL, COMPLEX)))
        ):
            first = 1 if name == "ite" else 0
            args = args[:first] + tuple(self._bool_to_int(a) for a in args[first:])
            tries.append(args)
            sorts = {a.sort for a in args[first:]}
        if INT in sorts:
            args = tuple(self.to_real(a) if a.sort is INT else a for a in args)
            tries.append(args)
        if COMPLEX in sorts and name in _ARITHMETIC:
            tries.append(tuple(self._to_complex(a) if a.sort is REAL else a for a in args))
        if REAL in sorts and name in ("div", "mod", "divisible", "rem", "div0", "mod0"):
            tries.append(tuple(self._to_int(a) if a.sort is REAL else a for a in args))
        return tries

    def _all_as(self, kind: str, args: tuple[Term, ...]) -> tuple[Term, ...]:
        """The arguments, with arrays, functions and z3's sets as arrays or as functions."""
        pairs = [(arg, _columns(arg.sort)) for arg in args]
        return tuple(
            (self.convert(arg, make_sort(kind, (), sorts)) or arg) if sorts else arg for arg, sorts in pairs
        )

    def convert(self, term: Term, sort: Sort) -> Term | None:
        """``term`` converted to ``sort`` as z3 converts arguments; None if it does not."""
        if term.sort is sort:
            return term
        if sort is REAL and term.sort is INT:
            return self.to_real(term)
        if sort is INT and term.sort is REAL:
            return self._to_int(term)
        if (columns := _columns(sort)) and columns == _columns(term.sort):
            return self.table.make(term.op, term.args, sort, term.variables, term.patterns)
        if self.has_open and has_parameters(term.sort):
            return self.close(term, sort)
        return None

    def to_real(self, term: Term) -> Term:
        """An Int term as a Real: literals (also negated ones) as Real literals, else by ``to_real``."""
        if term.op.kind is Kind.LITERAL:
            return self.table.literal(term.op.text, REAL)
        if term.op.text == "-" and len(term.args) == 1 and term.args[0].op.kind is Kind.LITERAL:
            return self.table.make(term.op, (self.to_real(term.args[0]),), REAL)
        return self.table.operator("to_real", (term,), REAL)

    def _to_complex(self, term: Term) -> Term:
        zero = self.table.literal("0.0", REAL)
        return self.table.operator("complex.make", (term, zero), COMPLEX)

    def _to_int(self, term: Term) -> Term:
        return self.table.operator("to_int", (term,), INT)

    def _bool_to_int(self, term: Term) -> Term:
        if term.sort is not BOOL:
            return term
        one, zero = self.table.literal("1", INT), self.table.literal("0", INT)
        return self.table.operator("ite", (term, one, zero), INT)


def _ambiguous(term: Term) -> SortError:
    return SortError(f"the sort of {describe(term)} is ambiguous: write (as {term.op.name} SORT)")


def _sorts_of(args: tuple[Term, ...]) -> str:
    if not args:
        return "no arguments"
    return ", ".join(f"{describe(a, 40)} : {a.sort}" for a in args[:6]) + (" ..." if len(args) > 6 else "")
