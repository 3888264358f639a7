"""Applications: finds the rank of a function for its arguments, with the conversions that solvers make."""

from __future__ import annotations

from smtlib.environment import Environment, determines, has_parameters, instantiate, unify
from smtlib.errors import SortError
from smtlib.reader import SExp
from smtlib.sorts import BOOL, INT, REAL, Sort, indexed, make_sort
from smtlib.terms import Declaration, Kind, Term, TermTable

_ARITHMETIC = frozenset(
    "+ - * / div mod abs < <= > >= = distinct ite ^ to_real to_int is_int divisible".split()
)
"""Functions for whose arguments z3 converts between Bool, Int and Real."""

_ARRAY = frozenset(("select", "store"))


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

    def apply(self, name: str, args: tuple[Term, ...]) -> Term:
        """``(name args...)`` for any ``name``. Raises :class:`SortError`."""
        ranks = self.environment.symbols.get(name)
        if ranks is not None:
            return self._script_function(name, ranks, args)
        if name == "@" and len(args) > 1:
            return self.higher_order(args[0], args[1:])
        if name.startswith(("is-", "is_")) and name[3:] in self.environment.constructors:
            return self.tester(name[3:], args)
        return self.operator(name, (), None, args)

    # Symbols of the script

    def constant(self, name: str) -> Term:
        """The symbol ``name`` without arguments."""
        for declaration in reversed(self.environment.symbols[name]):
            if not declaration.params:
                if has_parameters(declaration.result):
                    raise SortError(f"the sort of {name} is ambiguous: write (as {name} SORT)")
                return self.table.symbol(declaration)
        declaration = self.environment.symbols[name][-1]
        sort = make_sort("->", (), (*declaration.params, declaration.result))
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
        if not ranks[-1].params and ranks[-1].result.name in ("->", "Array"):
            return self.higher_order(self.table.symbol(ranks[-1]), args)
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
            if param is not arg.sort and not unify(param, arg.sort, bindings):
                return None
        sort = instantiate(declaration.result, bindings) if bindings else declaration.result
        if has_parameters(sort):
            return None
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
        return self.operator(name, (), sort, args)

    def tester(self, constructor: str, args: tuple[Term, ...]) -> Term:
        """``((_ is constructor) arg)``."""
        entry = self.environment.constructors.get(constructor)
        if entry is None:
            raise SortError(f"(_ is {constructor}): {constructor} is not a constructor")
        declaration = entry[1].declaration
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

    def higher_order(self, function: Term, args: tuple[Term, ...]) -> Term:
        """A term of sort ``(-> ...)`` applied to arguments. An array is read, as z3 does."""
        sort = function.sort
        if sort.name == "Array":
            for arg in args:
                function = self.operator("select", (), None, (function, arg))
            return function
        if not sort.is_function or len(args) > len(sort.args) - 1:
            raise SortError(f"{describe(function)} has sort {sort} and is not a function")
        for expected, arg in zip(sort.args, args, strict=False):
            if expected is not arg.sort:
                raise SortError(f"{describe(function)} takes {expected}, got {arg.sort}")
        rest = sort.args[len(args) :]
        result = rest[0] if len(rest) == 1 else make_sort("->", (), rest)
        return self.table.operator("@", (function, *args), result)

    def map_arrays(self, function: SExp, args: tuple[Term, ...]) -> Term:
        """z3's ``((_ map f) array ...)``."""
        name = function if isinstance(function, str) else function[0]
        if not args or any(a.sort.name != "Array" for a in args) or not isinstance(name, str):
            raise SortError(f"(_ map ...) takes arrays, got {_sorts_of(args)}")
        elements = tuple(a.sort.args[1] for a in args)
        result = self._result_of(name, elements)
        if result is None:
            raise SortError(f"(_ map {name}): no rank for {' '.join(map(str, elements))}")
        sort = make_sort("Array", (), (args[0].sort.args[0], result))
        shown = name
        if not isinstance(function, str):
            shown = f"({name} ({' '.join(map(str, elements))}) {result})"
        declaration = next((d for d in self.environment.symbols.get(name, ())), None)
        op = self.table.op(Kind.OPERATOR, "map", f"(_ map {shown})", (name,), declaration)
        return self.table.make(op, args, sort)

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
            found = theories.find(candidate, (), ())
            if found is not None:
                return self.table.operator(candidate, (), found[0])
        return None

    def operator(
        self, name: str, indices: tuple[int | str, ...], qualifier: Sort | None, args: tuple[Term, ...]
    ) -> Term:
        """``((_ name indices) args...)`` of a theory; old spellings become the current one."""
        theories = self.environment.theories
        names = [name] if name in theories.functions else []
        names += theories.spellings.get(name, ())
        if not names:
            raise SortError(f"unknown function {name[:60]}")
        for candidate in names:
            found = theories.find(candidate, indices, tuple([a.sort for a in args]), qualifier)
            if found is not None:
                return self.table.operator(candidate, args, found[0], indices, qualifier)
        for candidate in names:
            for converted in self._conversions(candidate, args):
                found = theories.find(candidate, indices, tuple([a.sort for a in converted]), qualifier)
                if found is not None:
                    return self.table.operator(candidate, converted, found[0], indices, qualifier)
        raise self._no_rank(names[0], indices, qualifier, args)

    def _no_rank(
        self, name: str, indices: tuple[int | str, ...], qualifier: Sort | None, args: tuple[Term, ...]
    ) -> SortError:
        ranks = " or ".join(str(s) for s in self.environment.theories.functions[name][:4])
        expected = f" with result {qualifier}" if qualifier else ""
        return SortError(
            f"no rank of {indexed(name, indices)} for {_sorts_of(args)}{expected}; expected {ranks}"
        )

    # Conversions

    def _conversions(self, name: str, args: tuple[Term, ...]) -> list[tuple[Term, ...]]:
        """Converted argument lists to try, in z3's order."""
        if name in _ARRAY and args and args[0].sort.name == "Array":
            expected = (args[0].sort, *args[0].sort.args)[: len(args)]
            converted = self._converted_arguments(expected, args)
            return [converted] if converted is not None else []
        sorts = {a.sort for a in args}
        tries = []
        if name in _ARITHMETIC and BOOL in sorts and (INT in sorts or REAL in sorts):
            first = 1 if name == "ite" else 0
            args = args[:first] + tuple(self._bool_to_int(a) for a in args[first:])
            tries.append(args)
            sorts = {a.sort for a in args}
        if INT in sorts:
            tries.append(tuple(self.to_real(a) if a.sort is INT else a for a in args))
        if REAL in sorts and name in ("div", "mod", "divisible"):
            tries.append(tuple(self._to_int(a) if a.sort is REAL else a for a in args))
        return tries

    def convert(self, term: Term, sort: Sort) -> Term | None:
        """``term`` converted to ``sort`` as z3 converts arguments; None if it does not."""
        if term.sort is sort:
            return term
        if sort is REAL and term.sort is INT:
            return self.to_real(term)
        if sort is INT and term.sort is REAL:
            return self._to_int(term)
        return None

    def to_real(self, term: Term) -> Term:
        """An Int term as a Real: literals (also negated ones) as Real literals, else by ``to_real``."""
        if term.op.kind is Kind.LITERAL:
            return self.table.literal(term.op.text, REAL)
        if term.op.text == "-" and len(term.args) == 1 and term.args[0].op.kind is Kind.LITERAL:
            return self.table.make(term.op, (self.to_real(term.args[0]),), REAL)
        return self.table.operator("to_real", (term,), REAL)

    def _to_int(self, term: Term) -> Term:
        return self.table.operator("to_int", (term,), INT)

    def _bool_to_int(self, term: Term) -> Term:
        if term.sort is not BOOL:
            return term
        one, zero = self.table.literal("1", INT), self.table.literal("0", INT)
        return self.table.operator("ite", (term, one, zero), INT)


def _sorts_of(args: tuple[Term, ...]) -> str:
    if not args:
        return "no arguments"
    return ", ".join(f"{describe(a, 40)} : {a.sort}" for a in args[:6]) + (" ..." if len(args) > 6 else "")
