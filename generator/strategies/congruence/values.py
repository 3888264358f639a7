"""Values, and the many terms that stand for each of them.

A solver that takes two forms of one value for different values is wrong. Arrays, sets, sequences, NaN and
regular expressions have many forms: stores in another order, units joined in another way, other bits. Here a
value is drawn first; :meth:`Value.form` then writes it, each time in a form that is drawn.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from generator.seeds.script import UNBINDABLE
from generator.strategies.mutation.literals import new_literal, one_of
from generator.strategies.mutation.operators import Operators, apply_declaration
from smtlib import BOOL, INT, REAL, STRING, Declaration, Sort, Term, TermTable
from smtlib.environment import Datatype
from smtlib.sorts import REGLAN, ROUNDING_MODE, subsorts
from smtlib.values import (
    MODES,
    ROUNDING_MODES,
    SPECIAL_FLOATS,
    binary_text,
    bits_term,
    float_bits,
    float_term,
    infinite_bits,
    literal_value,
    number_term,
    string_text,
)

_MOST_ITEMS = 3
_DEPTH = 3
_PLAIN_SHARE = 0.5
"""Share of scalars that are written as literals."""
_TWICE_SHARE = 0.3
"""Share of collections of which one item is written twice."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Pen:
    """What forms are made with: the table of the terms, the operators that the solvers know, and chance."""

    table: TermTable
    operators: Operators
    chance: random.Random

    def some(self, share: float) -> bool:
        """True in this share of the calls."""
        return self.chance.random() < share

    def apply(self, name: str, sort: Sort, *args: Term) -> Term:
        """An operator without indices, applied."""
        return self.table.operator(name, args, sort)

    def joined(self, name: str, parts: Sequence[Term], sort: Sort) -> Term:
        """The parts, at least one, under an associative operator, grouped in some way."""
        if len(parts) == 1:
            return parts[0]
        if self.some(0.3):
            return self.apply(name, sort, *parts)
        cut = self.chance.randint(1, len(parts) - 1)
        return self.apply(
            name, sort, self.joined(name, parts[:cut], sort), self.joined(name, parts[cut:], sort)
        )

    def shuffled(self, items: Collection[_T]) -> list[_T]:
        """The items in another order, sometimes with one of them twice."""
        found = list(items)
        if found and self.some(_TWICE_SHARE):
            found.append(one_of(found, self.chance))
        self.chance.shuffle(found)
        return found


@dataclass(frozen=True)
class Value(ABC):
    """A value of a sort. Equal objects are the same value; of unequal ones :meth:`differs` says more."""

    sort: Sort

    @abstractmethod
    def form(self, pen: Pen) -> Term:
        """A term for it, another one each time."""

    def differs(self, other: Value) -> bool:
        """Whether ``other``, of the same sort, is another value for certain."""
        return self != other and not isinstance(other, Symbol)


@dataclass(frozen=True)
class Symbol(Value):
    """A value that is not known: a constant of the script."""

    declaration: Declaration

    def form(self, pen: Pen) -> Term:
        """The constant."""
        return pen.table.symbol(self.declaration)

    def differs(self, other: Value) -> bool:
        """It may be any value."""
        return False


@dataclass(frozen=True)
class Truth(Value):
    """A truth value."""

    is_true: bool

    def form(self, pen: Pen) -> Term:
        """It, or the negation of the other."""
        is_negated = pen.some(0.2)
        constant = pen.apply("true" if self.is_true is not is_negated else "false", BOOL)
        return pen.apply("not", BOOL, constant) if is_negated else constant


@dataclass(frozen=True)
class Mode(Value):
    """A rounding mode, by its short name."""

    short: str

    def form(self, pen: Pen) -> Term:
        """Its short or its long name."""
        long = next(name for name, short in ROUNDING_MODES.items() if short == self.short)
        return pen.apply(self.short if pen.some(_PLAIN_SHARE) else long, self.sort)


@dataclass(frozen=True)
class Number(Value):
    """A number of sort Int or Real."""

    number: Fraction

    def form(self, pen: Pen) -> Term:
        """A literal, a sum, a difference or an integer as a real number."""
        if pen.some(_PLAIN_SHARE):
            return self._literal(pen, self.number)
        if self.sort is REAL and self.number.denominator == 1 and pen.some(0.3):
            return pen.apply("to_real", REAL, number_term(pen.table, self.number, INT))
        other = Fraction(pen.chance.randint(-3, 9))
        name, first = one_of((("+", self.number - other), ("-", self.number + other)), pen.chance)
        return pen.apply(name, self.sort, self._literal(pen, first), self._literal(pen, other))

    def _literal(self, pen: Pen, number: Fraction) -> Term:
        return number_term(pen.table, number, self.sort)


@dataclass(frozen=True)
class Bits(Value):
    """A bit-vector, as an unsigned number."""

    number: int

    def form(self, pen: Pen) -> Term:
        """A literal, in another base, a complement, a sum, or two parts joined."""
        width = self.sort.indices[0]
        if pen.some(_PLAIN_SHARE):
            return bits_term(pen.table, self.number, width)
        way = one_of(("base", "complement", "sum", "parts"), pen.chance)
        if way == "base":
            named = f"(_ bv{self.number} {width})"
            return pen.table.literal(one_of((named, binary_text(self.number, width)), pen.chance), self.sort)
        if way == "complement":
            return pen.apply("bvnot", self.sort, bits_term(pen.table, ~self.number, width))
        if way == "sum" or width == 1:
            first = pen.chance.getrandbits(width)
            parts = (first, width), (self.number - first, width)
            return pen.apply("bvadd", self.sort, *(bits_term(pen.table, *part) for part in parts))
        low = pen.chance.randint(1, width - 1)
        parts = (self.number >> low, width - low), (self.number, low)
        return pen.apply("concat", self.sort, *(bits_term(pen.table, *part) for part in parts))


@dataclass(frozen=True)
class Float(Value):
    """A floating-point number: its bits, or None for NaN."""

    bits: int | None

    def form(self, pen: Pen) -> Term:
        """Its name, its three parts, its bits converted, or the other sign's negated; NaN has many bits."""
        exponent, significand = self.sort.indices
        fraction = significand - 1
        sign, infinite = 1 << (exponent + fraction), infinite_bits(self.sort)
        named = dict(zip((infinite, sign | infinite, 0, sign, None), SPECIAL_FLOATS, strict=True))
        if self.bits in named and pen.some(0.4):
            return pen.table.operator(named[self.bits], (), self.sort, self.sort.indices)
        bits = self.bits
        if bits is None:
            bits = infinite | one_of((0, sign), pen.chance) | pen.chance.randint(1, (1 << fraction) - 1)
        way = one_of(("parts", "parts", "bits", "negated"), pen.chance)
        if way == "parts":
            return float_term(pen.table, bits, self.sort)
        if way == "negated":
            return pen.apply("fp.neg", self.sort, float_term(pen.table, bits ^ sign, self.sort))
        whole = bits_term(pen.table, bits, exponent + significand)
        return pen.table.operator("to_fp", (whole,), self.sort, self.sort.indices)


@dataclass(frozen=True)
class Element(Value):
    """An element of a finite field, at least 0 and less than its order."""

    number: int

    def form(self, pen: Pen) -> Term:
        """A literal, or a sum."""
        order = self.sort.indices[0]
        first = pen.chance.randrange(order)
        parts = (self.number,) if pen.some(_PLAIN_SHARE) else (first, (self.number - first) % order)
        literals = [pen.table.literal(f"#f{part}m{order}", self.sort) for part in parts]
        return pen.joined("ff.add", literals, self.sort)


@dataclass(frozen=True)
class Word(Value):
    """A string, or as a regular expression (sort RegLan) the language of one string."""

    characters: str

    def form(self, pen: Pen) -> Term:
        """A literal, or parts joined; of a language also the union with itself."""
        if pen.some(_PLAIN_SHARE):
            return self._whole(pen, self.characters)
        cut = pen.chance.randint(0, len(self.characters))
        parts = [self._whole(pen, part) for part in (self.characters[:cut], self.characters[cut:])]
        if self.sort is STRING:
            return pen.apply("str.++", STRING, *parts)
        made = pen.apply("re.++", REGLAN, *parts)
        return (
            pen.apply("re.union", REGLAN, made, self._whole(pen, self.characters)) if pen.some(0.3) else made
        )

    def _whole(self, pen: Pen, characters: str) -> Term:
        text = string_text(characters)
        if characters and pen.some(0.2):
            text = f'"\\u{{{ord(characters[0]):x}}}{string_text(characters[1:])[1:]}'
        literal = pen.table.literal(text, STRING)
        return literal if self.sort is STRING else pen.apply("str.to_re", REGLAN, literal)


@dataclass(frozen=True)
class Items(Value):
    """A sequence."""

    items: tuple[Value, ...]

    def form(self, pen: Pen) -> Term:
        """Its units joined in some way, with empty sequences among them."""
        units = [pen.apply("seq.unit", self.sort, item.form(pen)) for item in self.items]
        if not units or pen.some(0.3):
            empty = pen.table.operator("seq.empty", (), self.sort, qualifier=self.sort)
            units.insert(pen.chance.randint(0, len(units)), empty)
        return pen.joined("seq.++", units, self.sort)

    def differs(self, other: Value) -> bool:
        """Where the lengths differ, or two items at one position."""
        return isinstance(other, Items) and (
            len(self.items) != len(other.items) or _one_differs(self.items, other.items)
        )


@dataclass(frozen=True)
class Collected(Value):
    """A finite set (sort Set)."""

    items: tuple[Value, ...]

    def form(self, pen: Pen) -> Term:
        """Singletons and the empty set in some order, joined, or inserted one by one."""
        made = pen.table.operator("set.empty", (), self.sort, qualifier=self.sort)
        ordered = pen.shuffled(self.items)
        if pen.some(0.5):
            for item in ordered:
                made = pen.apply("set.insert", self.sort, item.form(pen), made)
            return made
        sets = [pen.apply("set.singleton", self.sort, item.form(pen)) for item in ordered]
        if not sets or pen.some(0.3):
            sets.insert(pen.chance.randint(0, len(sets)), made)
        return pen.joined("set.union", sets, self.sort)

    def differs(self, other: Value) -> bool:
        """Where one has an item that differs from all of the other's."""
        return isinstance(other, Collected) and (
            _has_more(self.items, other.items) or _has_more(other.items, self.items)
        )


@dataclass(frozen=True)
class Interval(Value):
    """A finite set of z3 (sort FiniteSet): the integers from ``low`` to ``high``."""

    low: int
    high: int

    def form(self, pen: Pen) -> Term:
        """The range, or ranges that overlap, in some order."""
        if pen.some(0.3) or self.low == self.high:
            return self._range(pen, self.low, self.high)
        cut = pen.chance.randint(self.low, self.high - 1)
        overlap = pen.chance.randint(self.low, cut + 1)
        parts = [self._range(pen, self.low, cut), self._range(pen, overlap, self.high)]
        return pen.joined("set.union", pen.shuffled(parts), self.sort)

    @staticmethod
    def _number(pen: Pen, number: int) -> Term:
        return number_term(pen.table, Fraction(number), INT)

    def _range(self, pen: Pen, low: int, high: int) -> Term:
        return pen.apply("set.range", self.sort, self._number(pen, low), self._number(pen, high))


@dataclass(frozen=True)
class Counted(Value):
    """A bag: the sum of items, each a number of times."""

    items: tuple[tuple[Value, int], ...]

    def form(self, pen: Pen) -> Term:
        """Bags of one item each in some order, joined; several of an item may be in two of them."""
        parts: list[tuple[Value, int]] = []
        for item, count in self.items:
            first = pen.chance.randint(0, count - 1)
            parts += [(item, first), (item, count - first)] if first else [(item, count)]
        pen.chance.shuffle(parts)
        bags = [
            pen.apply("bag", self.sort, item.form(pen), number_term(pen.table, Fraction(count), INT))
            for item, count in parts
        ]
        if not bags:
            return pen.table.operator("bag.empty", (), self.sort, qualifier=self.sort)
        return pen.joined("bag.union_disjoint", bags, self.sort)

    def differs(self, other: Value) -> bool:
        """Where the numbers of items differ."""
        return isinstance(other, Counted) and self._size != other._size

    @property
    def _size(self) -> int:
        return sum(count for _, count in self.items)


@dataclass(frozen=True)
class Stored(Value):
    """An array: what is at some indices, which differ, and ``base`` at all others. ``covers``: there are no
    others. Without a base it is like the array ``under`` there.
    """

    entries: tuple[tuple[Value, Value], ...]
    base: Value | None
    under: Symbol | None = None
    covers: bool = False

    def form(self, pen: Pen) -> Term:
        """Stores in some order; some are overwritten, and some store what is there anyway."""
        made = self._bottom(pen)
        for index, element in pen.shuffled(self.entries):
            if pen.some(0.2):
                made = self._store(pen, made, index, self._any_element(pen).form(pen))
            made = self._store(pen, made, index, element.form(pen))
        return made

    def differs(self, other: Value) -> bool:
        """Where they have elements that differ at one index."""
        if not isinstance(other, Stored):
            return False
        return any(
            (theirs := array.at(index)) is not None and element.differs(theirs)
            for entries, array in ((self.entries, other), (other.entries, self))
            for index, element in entries
        )

    def at(self, index: Value) -> Value | None:
        """What is at an index; None where that is not certain."""
        for known, element in self.entries:
            if known == index:
                return element
        return self.base if all(index.differs(known) for known, _ in self.entries) else None

    def _any_element(self, pen: Pen) -> Value:
        return one_of([element for _, element in self.entries], pen.chance)

    def _bottom(self, pen: Pen) -> Term:
        if self.base is None:
            assert self.under is not None
            bottom = self.under.form(pen)
        else:
            base = self._any_element(pen) if self.covers else self.base
            bottom = pen.table.operator("const", (base.form(pen),), self.sort, qualifier=self.sort)
        if self.entries and pen.some(0.2):
            index, _ = one_of(self.entries, pen.chance)
            inner = pen.apply("select", self.sort.args[1], bottom, index.form(pen))
            bottom = self._store(pen, bottom, index, inner)
        return bottom

    def _store(self, pen: Pen, bottom: Term, index: Value, element: Term) -> Term:
        return pen.apply("store", self.sort, bottom, index.form(pen), element)


@dataclass(frozen=True)
class Built(Value):
    """A value of a datatype."""

    constructor: Declaration
    fields: tuple[Value, ...]

    def form(self, pen: Pen) -> Term:
        """The constructor applied to forms of the fields."""
        return apply_declaration(
            pen.table, self.constructor, tuple(field.form(pen) for field in self.fields), self.sort
        )

    def differs(self, other: Value) -> bool:
        """Where the constructors differ, or two fields."""
        return isinstance(other, Built) and (
            self.constructor != other.constructor or _one_differs(self.fields, other.fields)
        )


def _one_differs(some: Sequence[Value], others: Sequence[Value]) -> bool:
    return any(one.differs(other) for one, other in zip(some, others, strict=True))


def _has_more(some: Sequence[Value], others: Sequence[Value]) -> bool:
    return any(all(one.differs(other) for other in others) for one in some)


class Values:
    """Draws values of the sorts of one script; what a sort has no values for is None."""

    def __init__(
        self,
        pen: Pen,
        datatypes: Mapping[str, Datatype],
        near: Callable[[Sort], Sequence[Term]],
        new: Callable[[Sort], Declaration],
    ) -> None:
        """``near``: the script's literals of a sort. ``new`` declares a constant of a sort."""
        self._pen = pen
        self._datatypes = datatypes
        self._near = near
        self._new = new

    def draw(self, sort: Sort, depth: int = 0) -> Value | None:
        """A value of this sort; None if there is none, or only one that is nested too deep."""
        if depth > _DEPTH:
            return None
        make = _MAKERS.get(sort.name)
        if make is not None:
            return make(self, sort, depth)
        if sort.name in self._datatypes:
            return self._built(sort, depth)
        return Symbol(sort, self._new(sort)) if is_plain(sort) else None

    def several(self, sort: Sort, depth: int) -> list[Value]:
        """Up to three values."""
        drawn = [self.draw(sort, depth) for _ in range(int(self._pen.chance.random() * (_MOST_ITEMS + 1)))]
        return [value for value in drawn if value is not None]

    def _scalar(self, sort: Sort, depth: int) -> Value | None:
        """Of a sort that has literals."""
        chance = self._pen.chance
        if sort is BOOL:
            return Truth(sort, chance.random() < 0.5)
        if sort is ROUNDING_MODE:
            return Mode(sort, one_of(MODES, chance))
        written = STRING if sort is REGLAN else sort
        literal = new_literal(self._pen.table, written, self._near(written), chance)
        if literal is None:
            return None
        if sort.name == "FloatingPoint":
            return Float(sort, float_bits(literal))
        if sort.name == "FiniteField":
            return Element(sort, int(literal.op.text[2:].partition("m")[0]))
        known = literal_value(literal)
        if isinstance(known, str):
            return Word(sort, known)
        if isinstance(known, Fraction):
            return Number(sort, known)
        return None if known is None else Bits(sort, known)

    def _items(self, sort: Sort, depth: int) -> Value:
        return Items(sort, tuple(self.several(sort.args[0], depth + 1)))

    def _set(self, sort: Sort, depth: int) -> Value:
        return Collected(sort, tuple(self.several(sort.args[0], depth + 1)))

    def _interval(self, sort: Sort, depth: int) -> Value | None:
        if sort.args[0] is not INT:
            return None
        low = self._pen.chance.randint(-3, 3)
        return Interval(sort, low, low + int(self._pen.chance.random() * 4))

    def _bag(self, sort: Sort, depth: int) -> Value:
        items = self.several(sort.args[0], depth + 1)
        return Counted(sort, tuple((item, self._pen.chance.randint(1, 4)) for item in items))

    def _array(self, sort: Sort, depth: int) -> Value | None:
        """Its indices differ, so that the order of stores makes no difference."""
        index, element = sort.args
        entries: dict[Value, Value] = {}
        base = self.draw(element, depth + 1)
        if base is None:
            return None
        for key in self.several(index, depth + 1):
            drawn = self.draw(element, depth + 1)
            if drawn is not None and all(key == known or key.differs(known) for known in entries):
                entries[key] = drawn
        few = self._all_of(index)
        covers = bool(few) and self._pen.some(0.5)
        for key in few if covers else ():
            entries.setdefault(key, self.draw(element, depth + 1) or base)
        if self._pen.operators.knows("const"):
            return Stored(sort, tuple(entries.items()), base, None, covers)
        return Stored(sort, tuple(entries.items()), None, Symbol(sort, self._new(sort)))

    @staticmethod
    def _all_of(sort: Sort) -> Sequence[Value]:
        """All values of a sort that has few."""
        if sort is BOOL:
            return [Truth(sort, False), Truth(sort, True)]
        if sort.name == "BitVec" and sort.indices[0] <= 2:
            return [Bits(sort, number) for number in range(1 << sort.indices[0])]
        return ()

    def _built(self, sort: Sort, depth: int) -> Value | None:
        datatype = self._datatypes[sort.name]
        if datatype.params:
            return None
        constructor = one_of(datatype.constructors, self._pen.chance).declaration
        fields = [self.draw(field, depth + 1) for field in constructor.params]
        known = tuple(field for field in fields if field is not None)
        return Built(sort, constructor, known) if len(known) == len(fields) else None


def is_plain(sort: Sort) -> bool:
    """Whether no part of ``sort`` is a function or a regular expression."""
    return UNBINDABLE.isdisjoint(part.name for part in subsorts(sort))


_MAKERS: dict[str, Callable[[Values, Sort, int], Value | None]] = {
    **dict.fromkeys(
        ("Bool", "Int", "Real", "BitVec", "FloatingPoint", "RoundingMode", "FiniteField", "String", "RegLan"),
        Values._scalar,
    ),
    "Seq": Values._items,
    "Set": Values._set,
    "FiniteSet": Values._interval,
    "Bag": Values._bag,
    "Array": Values._array,
}
