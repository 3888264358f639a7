"""Draws values for the parameters of a rule: small ones, and the corner cases of each theory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from random import Random

from generator.rewriting.rules import CHARACTER, WRONG_SORTS, Assignment, Parameter, Rule, Unknown
from smtlib import regexes
from smtlib.reader import SExp, read_sexps
from smtlib.regexes import Regex
from smtlib.semantics import WIDEST, ArrayValue, Bits, IllTyped, Value

_LETTERS = ("ab", "ab", "a0", "aB9", "ab\u02ff")
_WIDTHS = (1, 2, 3, 3, 4, 5, 8)
_INFINITE = ("Int", "Real", "String")
_REGEXES = (regexes.ALL_CHARACTERS, regexes.ALL, regexes.NONE, regexes.span("a", "b"))
_SORTS = ("Int", "Int", "Real", "Bool", "String", "(_ BitVec 3)", "(Seq Int)")


class Drawing:
    """One draw of a rule's parameters.

    Most widths are one number, ``width`` if that is not 0, and most sorts one sort: rules are about equal
    widths and sorts. Numbers are drawn around the widths and from a small range, so that they often meet the
    rule's premises.
    """

    def __init__(self, chance: Random, width: int = 0) -> None:
        self._chance = chance
        drawn = chance.choice(_WIDTHS) if chance.random() < 0.97 else chance.randint(33, 70)
        self._width = width or drawn
        self._element = chance.choice((CHARACTER, CHARACTER, CHARACTER, "Int", "Bool"))
        self._sort = chance.choice(_SORTS)
        self._letters = chance.choice(_LETTERS)
        self._values: dict[str, Value] = {}
        self._keeps_sorts = False

    def draw(self, rule: Rule, before: Assignment | None = None) -> Assignment | None:
        """A value for each parameter; None if one cannot be computed.

        With an assignment ``before``, only one or two parameters that are no sorts or widths get new values.
        Unknown for a sort that is unknown here.
        """
        try:
            self._draw(rule, before)
            # Parameters that a premise defines have one possible value.
            for name, program in rule.definitions.items():
                self._values[name] = program(self._values)
        except WRONG_SORTS:
            return None
        return self._values

    def _draw(self, rule: Rule, before: Assignment | None) -> None:
        free = [parameter for parameter in rule.parameters if parameter.name not in rule.definitions]
        if before is not None:
            self._values.update(before)
            self._keeps_sorts = True
            self._width = next((w for n, w in before.items() if n.startswith("@n")), self._width)
            terms = [parameter for parameter in free if not parameter.name.startswith("@")]
            free = self._chance.choices(terms, k=self._chance.randint(1, 2)) if terms else []
        else:
            widths = [parameter for parameter in free if parameter.name.startswith("@n")]
            self._chance.shuffle(widths)
            for parameter in widths:
                self._values[parameter.name] = self._near_width()
            free = [parameter for parameter in free if parameter not in widths]
        for parameter in free:
            self._values[parameter.name] = self._parameter(parameter)
        if before is None:
            # Parameters that are defined are not drawn, but they have sorts.
            for parameter in rule.parameters:
                if parameter.name in rule.definitions and parameter.sort[:1] == ["Seq"]:
                    self._named(parameter.sort[1], self._element)

    def _parameter(self, parameter: Parameter) -> Value:
        if parameter.sort == "Type":
            known = self._values.get(parameter.name)
            return known or (self._sort if self._chance.random() < 0.95 else self._chance.choice(_SORTS))
        if not parameter.is_list:
            return self._of(parameter.sort)
        return [self._of(parameter.sort) for _ in range(self._chance.choice((0, 0, 1, 1, 2, 3)))]

    def _near_width(self) -> int:
        """The common width, or a sum of widths that were drawn, or any small one."""
        kind = self._chance.random()
        if kind < 0.6:
            return self._width
        known = [value for value in self._values.values() if type(value) is int]
        if kind < 0.85 and known:
            return sum(self._chance.sample(known, min(len(known), self._chance.randint(2, 3))))
        return self._chance.randint(1, self._width + 3)

    def _of(self, sort: SExp) -> Value:
        match sort:
            case str() if sort.startswith("@T"):
                return self._of(self._values.setdefault(sort, self._sort))
            case str() if sort in _DRAWN:
                return _DRAWN[sort](self)
            case str() if sort.startswith("("):
                return self._of(read_sexps(sort)[0])
            case ["BitVec", width]:
                return self.bits(self._values[str(width)])
            case ["_", "BitVec", width]:
                return self.bits(int(str(width)))
            case ["Seq", element]:
                return self._sequence(self._named(element, self._element))
            case ["Set", element]:
                member = self._named(element, self._sort)
                return frozenset(self._of(member) for _ in range(self._chance.choice((0, 1, 2, 3))))
            case ["Array", index, element]:
                # Arrays with a finite index sort may be equal without being stored alike.
                at = self._named(index, self._sort if self._sort in _INFINITE else "Int")
                return self._array(at, self._named(element, self._sort))
        raise Unknown(str(sort))

    def _named(self, name: SExp, sort: str) -> str:
        """The sort of a parameter for sorts, which is ``sort`` now; other names stand for themselves."""
        if not str(name).startswith("@T"):
            return str(name)
        if not self._keeps_sorts:
            self._values[str(name)] = sort
        return str(self._values[str(name)])

    def _array(self, index: str, element: str) -> ArrayValue:
        array = ArrayValue(self._of(element))
        for _ in range(self._chance.randint(0, 3)):
            array = array.store(self._of(index), self._of(element))
        return array

    def _sequence(self, element: str) -> Value:
        if element == CHARACTER:
            return self.text()
        return tuple(self._of(element) for _ in range(self._chance.choice((0, 0, 1, 1, 2, 3, 4))))

    def integer(self) -> int:
        """A number: small, or near a width, or a sum or a power of such."""
        kind = self._chance.random()
        if kind < 0.35:
            return self._chance.randint(-2, 5)
        if kind < 0.75:
            return self._chance.choice((self._width, self._width - 1, self._width + 1, 0, 1, 2))
        if kind < 0.85:
            return self._near_width()
        if kind < 0.95:
            return 1 << self._chance.randint(0, self._width)
        return self._chance.choice((2 * self._width, (1 << self._width) - 1, -1 - self._width, 100))

    def bits(self, width: int) -> Bits:
        """A bit-vector: any, or with a special pattern."""
        if not 0 < width < WIDEST:
            raise IllTyped
        top = 1 << (width - 1)
        special = (0, 1, 2 * top - 1, top, top - 1)
        value = (
            self._chance.choice(special) if self._chance.random() < 0.4 else self._chance.getrandbits(width)
        )
        return Bits(value % (2 * top), width)

    def text(self) -> str:
        """A short string over few characters."""
        length = self._chance.choice((0, 0, 1, 1, 1, 2, 2, 3, 4, 6))
        return "".join(self._chance.choice(self._letters) for _ in range(length))

    def boolean(self) -> bool:
        """A truth value."""
        return self._chance.random() < 0.5

    def regex(self, depth: int = 2) -> Regex:
        """A small regular expression."""
        kind = self._chance.randrange(10 if depth else 5)
        if kind < 3:
            return regexes.literal(self.text())
        if kind < 5:
            return self._chance.choice(_REGEXES)
        part = self.regex(depth - 1)
        if kind == 5:
            return regexes.star(part)
        if kind == 6:
            return regexes.complement(part)
        join = (regexes.concat, regexes.union, regexes.inter)[kind - 7]
        return join(part, self.regex(depth - 1))

    def real(self) -> Fraction:
        """A small fraction, often whole."""
        return Fraction(self._chance.randint(-3, 3), self._chance.choice((1, 1, 1, 2, 3)))


_DRAWN: Mapping[str, Callable[[Drawing], Value]] = {
    "Int": Drawing.integer,
    "Bool": Drawing.boolean,
    "Real": Drawing.real,
    "String": Drawing.text,
    "RegLan": Drawing.regex,
}
