"""Writes an instance of a rule as an SMT-LIB script that is satisfiable if the rule is wrong there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from generator.rewriting.rules import (
    CHARACTER,
    EMPTY_SEQUENCE,
    SINGLETONS,
    WRONG_SORTS,
    Assignment,
    Parameter,
    Rule,
    Unknown,
    compiled,
)
from smtlib import regexes
from smtlib.reader import SExp
from smtlib.regexes import Regex
from smtlib.semantics import NEUTRAL, ArrayValue, Bits, Value
from smtlib.values import binary_text, integer_text, string_text

_INDEXED = {
    **dict.fromkeys(("zero_extend", "sign_extend", "repeat", "rotate_left", "rotate_right", "int_to_bv"), 1),
    **dict.fromkeys(("re.^", "divisible"), 1),
    **dict.fromkeys(("extract", "re.loop"), 2),
}
"""How many of its first arguments are indices."""
_NUMBERS = frozenset({"@bv", "@bvsize", "int.pow2", "int.log2", "int.ispow2"})
"""Operators that are printed as their value."""
_WORDS = {"extract": "substr"}


def instance_text(rule: Rule, values: Assignment, *, free: bool) -> str:
    """The script of an instance: numbers and lists are as in ``values``.

    If ``free``, the other parameters are constants without values, and the script asks whether any values
    refute the rule. Unknown for a part without an SMT-LIB form.
    """
    text = InstanceText(rule, values)
    lines = ["(set-logic ALL)"]
    for parameter in rule.parameters:
        if not text.is_inline(parameter):
            name, sort, value = parameter.name, text.sort(parameter.sort), values[parameter.name]
            lines += [f"(declare-const {name} {sort})"]
            lines += [] if free else [f"(assert (= {name} {value_text(value, sort)}))"]
    lines += [f"(assert {text.term(premise)})" for premise in rule.premises]
    return "\n".join([*lines, f"(assert (not {text.term(rule.conclusion)}))", "(check-sat)", ""])


class InstanceText:
    """The terms of a rule as text, for an assignment."""

    def __init__(self, rule: Rule, values: Assignment) -> None:
        self._rule = rule
        self._values = dict(values)
        self._words = "str" if CHARACTER in values.values() else "seq"
        self._inline = {p.name: self.sort(p.sort) for p in rule.parameters if self.is_inline(p)}

    def is_inline(self, parameter: Parameter) -> bool:
        """Whether the value of a parameter stands where its name does: sorts, indices, lists."""
        return parameter.is_list or parameter.sort in ("Type", "Int", "RegLan")

    def sort(self, sort: SExp) -> str:
        """A sort as printed."""
        match sort:
            case str():
                return str(self._values.get(sort, sort))
            case ["BitVec", width]:
                return f"(_ BitVec {self._values[str(width)]})"
            case ["Seq", element]:
                inner = self.sort(element)
                return "String" if inner == CHARACTER else f"(Seq {inner})"
        return f"({' '.join(self.sort(part) for part in sort)})"

    def term(self, term: SExp) -> str:
        """A term as printed."""
        if isinstance(term, str):
            return self._leaf(term)
        head, *rest = term
        if head == "let":
            return self._let(rest[0], rest[1])
        if head == "as":
            return f"(as {rest[0]} {self.sort(rest[1])})"
        if head == EMPTY_SEQUENCE:
            sort = self.sort(rest[0])
            return '""' if sort == "String" else f"(as seq.empty {sort})"
        if head in SINGLETONS:
            return self.term(rest[-1])
        if head in _NUMBERS:
            return value_text(self._value(term), "")
        if not isinstance(head, str):
            raise Unknown(str(head))
        if head in _INDEXED:
            count = _INDEXED[head]
            indices = " ".join(value_text(self._value(index), "Int") for index in rest[:count])
            return f"((_ {head} {indices}) {' '.join(self._arguments(rest[count:]))})"
        return self._application(head, self._arguments(rest))

    def _let(self, bindings: list[Any], body: SExp) -> str:
        """A let; what it calls numbers stands where their names do, since they may be indices."""
        kept = []
        for name, term in bindings:
            try:
                value = self._value(term)
            except Unknown:
                value = None
            if type(value) is int:
                self._values[name], self._inline[name] = value, "Int"
            else:
                kept.append(f"({name} {self.term(term)})")
        inner = self.term(body)
        return f"(let ({' '.join(kept)}) {inner})" if kept else inner

    def _application(self, head: str, arguments: list[str]) -> str:
        if head in _TOTAL:
            return _TOTAL[head](*arguments)
        if len(arguments) == 1 and head in _ASSOCIATIVE:
            return arguments[0]
        if not arguments:
            if head not in NEUTRAL:
                raise Unknown(head)
            return value_text(NEUTRAL[head], "")
        if self._words == "str" and head.startswith("seq."):
            head = "str." + _WORDS.get(head[4:], head[4:])
        return f"({head} {' '.join(arguments)})"

    def _arguments(self, terms: list[Any]) -> list[str]:
        found: list[str] = []
        for term in terms:
            if isinstance(term, str) and term in self._rule.lists:
                found += self._elements(term)
            else:
                found.append(self.term(term))
        return found

    def _elements(self, name: str) -> list[str]:
        """The elements of a list."""
        return [value_text(value, self._inline[name]) for value in self._values[name]]

    def _leaf(self, token: str) -> str:
        if token in self._inline:
            return value_text(self._values[token], self._inline[token])
        if token.startswith("-"):
            return f"(- {token[1:]})"
        if "/" in token and token[0].isdecimal():
            return value_text(Fraction(token), "Real")
        return token

    def _value(self, term: SExp) -> Value:
        try:
            return compiled(term, self._rule.lists)(self._values)
        except (*WRONG_SORTS, KeyError):
            raise Unknown(str(term)) from None


_TOTAL: Mapping[str, Callable[..., str]] = {
    "div_total": lambda a, b: f"(ite (= {b} 0) 0 (div {a} {b}))",
    "mod_total": lambda a, b: f"(ite (= {b} 0) {a} (mod {a} {b}))",
    "/_total": lambda a, b: f"(ite (= {b} 0.0) 0.0 (/ {a} {b}))",
    "bvite": lambda c, a, b: f"(ite (= {c} #b1) {a} {b})",
}
_ASSOCIATIVE = frozenset(
    "and or + * concat bvand bvor bvxor bvadd bvmul str.++ seq.++ re.++ re.union re.inter".split()
)


def value_text(value: Value, sort: str) -> str:
    """A value in SMT-LIB; ``sort`` is needed for empty sequences and sets, and for arrays."""
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return integer_text(value)
        case Fraction():
            size = f"{abs(value.numerator)}.0"
            size = size if value.denominator == 1 else f"(/ {size} {value.denominator}.0)"
            return size if value >= 0 else f"(- {size})"
        case Bits():
            return binary_text(value.value, value.width)
        case str():
            return string_text(value)
        case Regex():
            return regex_text(value)
        case ArrayValue():
            return _array_text(value, sort)
    if not isinstance(value, tuple | frozenset):
        raise Unknown(repr(value))
    empty, unit, join = _COLLECTIONS[type(value)]
    units = [f"({unit} {value_text(part, sort.partition(' ')[2][:-1])})" for part in value]
    if isinstance(value, frozenset):
        units.sort()  # The order of a set differs from process to process.
    if not units:
        return f"(as {empty} {sort})"
    return units[0] if len(units) == 1 else f"({join} {' '.join(units)})"


_COLLECTIONS: Mapping[type, tuple[str, str, str]] = {
    tuple: ("seq.empty", "seq.unit", "seq.++"),
    frozenset: ("set.empty", "set.singleton", "set.union"),
}


def _array_text(value: ArrayValue, sort: str) -> str:
    index, _, element = sort.removeprefix("(Array ")[:-1].partition(" ")
    text = f"((as const {sort}) {value_text(value.default, element)})"
    stores = [f"{value_text(at, index)} {value_text(stored, element)}" for at, stored in value.items]
    for stored in sorted(stores):
        text = f"(store {text} {stored})"
    return text


def regex_text(regex: Regex) -> str:
    """A regular expression in SMT-LIB."""
    if regex.kind == "range":
        first, last = regex.bounds
        if regex == regexes.ALL_CHARACTERS:
            return "re.allchar"
        one = value_text(first, "")
        return f"(str.to_re {one})" if first == last else f"(re.range {one} {value_text(last, '')})"
    if regex.kind in ("none", "empty"):
        return "re.none" if regex.kind == "none" else '(str.to_re "")'
    names = {"concat": "re.++", "union": "re.union", "inter": "re.inter", "star": "re.*", "comp": "re.comp"}
    return f"({names[regex.kind]} {' '.join(map(regex_text, regex.parts))})"
