"""Fusion functions: read from ``functions.smt2``, instantiated for the sorts of two variables.

Source of the idea: Winterer, Zhang, Su, "Validating SMT Solvers via Semantic Fusion" (PLDI 2020), Section 3;
the functions are our own, each valid for all values of its variables.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources

from generator.errors import GenerationError
from smtlib import Kind, Naming, Sort, Term, check_script, print_term, read_script, read_sexps, sexp_text
from smtlib.errors import SmtLibError
from smtlib.reader import SExp
from smtlib.signature import Bindings, SortPattern, evaluate_index, read_sort_pattern

MAX_WIDTH = 4096
"""Bit-vectors that would be wider are not made."""

_MARK = "\0"
_KEYS = (":of", ":x", ":y", ":constants")


@dataclass(frozen=True, slots=True)
class FusionFunction:
    """One entry of the file. ``sorts`` are the patterns of x, y and z; ``inverses`` has x, y or both."""

    name: str
    sorts: tuple[SortPattern, ...]
    of: SExp
    inverses: Mapping[str, SExp]
    constants: Mapping[str, tuple[SExp, ...]]

    def match(self, x: Sort, y: Sort) -> Bindings | None:
        """The widths with which this takes variables of these sorts; None where it does not."""
        widths: Bindings = {}
        of_x, of_y, of_z = self.sorts
        fits = of_x.match(x, widths) and of_y.match(y, widths)
        return widths if fits and of_z.instantiate(widths).indices <= (MAX_WIDTH,) else None

    def declarations(self, widths: Bindings) -> str:
        """Commands that declare x, y and z."""
        pairs = zip("xyz", self.sorts, strict=True)
        return "\n".join(f"(declare-fun {name} () {pattern.instantiate(widths)})" for name, pattern in pairs)

    def text(self, widths: Bindings, constants: Mapping[str, SExp]) -> str:
        """A script that declares x, y and z and has ``:of`` and the inverses, in the order of
        :attr:`inverses`, as operands of one assertion each: ``(= t t)``."""
        values = {name: sexp_text(value) for name, value in constants.items()}
        bodies = [_instantiate(body, widths, values) for body in (self.of, *self.inverses.values())]
        asserted = [f"(assert (= {body} {body}))" for body in bodies]
        return "\n".join(["(set-logic ALL)", self.declarations(widths), *asserted])


@dataclass(frozen=True, slots=True)
class Fusion:
    """A function instantiated: terms over x, y and z. ``sort`` is that of z; ``inverses`` maps "x", "y" to
    terms."""

    name: str
    sort: Sort
    of: Term
    inverses: Mapping[str, Term]


class Template:
    """A term over x, y and z as text, for other names in their places."""

    def __init__(self, term: Term) -> None:
        self._pieces = print_term(term, _Places()).split(_MARK)

    def text(self, names: Mapping[str, str]) -> str:
        """The term with these names for x, y and z."""
        pieces = self._pieces
        return "".join([names[p] if n % 2 else p for n, p in enumerate(pieces)])


class _Places(Naming):
    def head(self, term: Term) -> str:
        """The text of a term's head."""
        text = super().head(term)
        return f"{_MARK}{text}{_MARK}" if term.op.kind is Kind.SYMBOL else text


def instantiate(function: FusionFunction, widths: Bindings, constants: Mapping[str, SExp]) -> Fusion:
    """``function`` with these widths and constants, as checked terms."""
    checked = check_script(read_script(function.text(widths, constants)))
    if checked.errors:
        raise GenerationError(f"fusion function {function.name}: {checked.errors[0]}")
    of, *inverses = (assertion.args[0] for assertion in checked.assertions)
    sort = function.sorts[2].instantiate(widths)
    return Fusion(function.name, sort, of, dict(zip(function.inverses, inverses, strict=True)))


def choose_constants(function: FusionFunction, chance: random.Random) -> dict[str, SExp]:
    """A value for each of the function's constants."""
    return {name: chance.choice(values) for name, values in function.constants.items()}


@lru_cache(maxsize=4096)
def functions_for(x: Sort, y: Sort) -> Sequence[tuple[FusionFunction, Bindings]]:
    """The functions that take variables of these sorts, with their widths."""
    return [(f, w) for f in fusion_functions() if (w := f.match(x, y)) is not None]


@cache
def fusion_functions() -> tuple[FusionFunction, ...]:
    """The functions of the file that comes with this package."""
    text = resources.files("generator.strategies.fusion").joinpath("functions.smt2").read_text("utf-8")
    return read_functions(text, "functions.smt2")


def read_functions(text: str, source: str) -> tuple[FusionFunction, ...]:
    """The functions of a file's ``text``. Raises :class:`GenerationError` naming the entry that is wrong."""
    try:
        return tuple(_read(entry) for entry in read_sexps(text))
    except (SmtLibError, ValueError, IndexError, KeyError) as error:
        raise GenerationError(f"{source}: {error}") from error


def _read(entry: SExp) -> FusionFunction:
    if isinstance(entry, str) or len(entry) < 7 or entry[0] != "fusion":
        raise ValueError(
            f"expected (fusion NAME (x SORT) (y SORT) (z SORT) :of TERM ...), found {sexp_text(entry, 60)}"
        )
    _, name, *variables = entry[:5]
    items = dict(zip(entry[5::2], entry[6::2], strict=True))
    if [v[0] for v in variables] != ["x", "y", "z"] or any(key not in _KEYS for key in items):
        raise ValueError(f"{name}: variables x, y, z and the keys {', '.join(_KEYS)} are required")
    inverses = {v: items[f":{v}"] for v in "xy" if f":{v}" in items}
    if ":of" not in items or not inverses:
        raise ValueError(f"{name}: :of and one of :x and :y are required")
    given = items.get(":constants", ())
    if any(isinstance(constant, str) or len(constant) < 3 for constant in given):
        raise ValueError(f"{name}: expected ((CONSTANT SORT VALUE...)...), found {sexp_text(given, 60)}")
    constants = {constant[0]: tuple(constant[2:]) for constant in given}
    sorts = tuple(_sort(variable[1]) for variable in variables)
    return FusionFunction(str(name), sorts, items[":of"], inverses, constants)


def _sort(sexp: SExp) -> SortPattern:
    return read_sort_pattern(sexp, frozenset())


def _instantiate(body: SExp, widths: Bindings, values: Mapping[str, str]) -> str:
    """``body`` as text, with values for the constants, and numerals for index expressions."""
    if isinstance(body, str):
        return values.get(body, body)
    if body and body[0] == "_":
        indices = [str(evaluate_index(i, widths)) for i in body[2:]]
        return f"(_ {body[1]} {' '.join(indices)})"
    return f"({' '.join(_instantiate(part, widths, values) for part in body)})"
