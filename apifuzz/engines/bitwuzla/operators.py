"""Operators and values by the rows of ``calls.toml``, and the different calls that make one term."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from bitwuzla import Kind

from apifuzz.chance import Chance
from apifuzz.engines.bitwuzla.session import OPERATORS, VALUES, Session, kind_named, lacks_format
from apifuzz.engines.rows import Words, associativity, choose, fold, make_by, words_of
from apifuzz.interface import Head, Misbehaviour, Rejected
from apifuzz.values import bit_words, read_value
from smtlib import Signature, Sort
from smtlib.sorts import subsorts
from smtlib.values import MODES


def takes(signature: Signature, sorts: tuple[Sort, ...], result: Sort) -> bool:
    """Whether bitwuzla takes an operator of its theories at these sorts."""
    if len(sorts) < 2 and signature.associativity:
        return False  # The theory files let ``and`` and ``or`` have one argument.
    every = [part for sort in (*sorts, result) for part in subsorts(sort)]
    return not any(part.name in ("Int", "Real") or lacks_format(part) for part in every)


class Operators:
    """Makes applications of operators and values; draws among the calls that come to the same."""

    def __init__(self, session: Session, random: Chance) -> None:
        self.session = session
        self.random = random

    def make_value(self, sort: Sort, text: str) -> Any:
        """The value that ``text`` writes. Raises Rejected for text that writes none of this sort."""
        try:
            name, known = read_value(sort, text)
        except ValueError as error:
            raise Rejected(f"{text} is not a value of sort {sort}") from error
        routes = (VALUES if name in VALUES else OPERATORS).find(name)
        words = self._words((), sort.indices, sort, **known)
        return make_by(routes, words, self.random, f"value {text} of sort {sort}")

    def make(self, head: Head, sort: Sort, args: Sequence[Any], sorts: Sequence[Sort]) -> Any:
        """The operator applied to handles of these sorts; ``sort`` is the result's."""
        name, indices = head.name, head.indices
        names = [s.name for s in sorts]
        routes, plain = OPERATORS.find(name, names), OPERATORS.plain(name, names)
        if not plain:
            return make_by(routes, self._words(args, indices, sort), self.random, f"operator {name}")
        kind, others = kind_named(plain), routes[1:]
        if len(args) > 2:
            choice = self.random.randrange(3)
            if name == "distinct" and self._has_uninterpreted(sorts[0]):
                # std::bad_variant_access in bitwuzla 0.9, where more than two are compared in one term
                choice = 0
            if choice == 0 and associativity(name):
                return self._in_parts(associativity(name), kind, args)
        else:
            # Mostly the plain call: equivalent ones would replace the requested kind.
            choice = 1 if self.random.happens(0.2) else 2
        if choice == 1 and others:
            words = self._words(args, indices, sort)
            other = choose(others, words, self.random)
            if other is not None and not other.plain:
                return other.make(words)
            kind = kind_named(other.plain) if other else kind
        return self.session.make(kind, args, indices)

    def _in_parts(self, associativity: str, kind: Any, args: Sequence[Any]) -> Any:
        """Applications to two arguments, put together."""

        def both(*parts: Any) -> Any:
            return self.session.make(Kind.AND, parts)

        return fold(associativity, args, lambda *two: self.session.make(kind, two), both)

    def _has_uninterpreted(self, sort: Sort) -> bool:
        return any(part.name in self.session.declared for part in subsorts(sort))

    def _words(self, args: Sequence[Any], indices: Sequence[int], sort: Sort, **known: Any) -> Words:
        def word(name: str) -> Any:
            match name:
                case "sort":
                    return self.session.sort(sort)
                case "bits":
                    return self._bits
                case "nearest":
                    return lambda number, whole: self._nearest(sort, number, whole)
            return self.session.word(name)

        return words_of(args, indices, word, known)

    def _bits(self, number: int, width: int) -> Any:
        words = words_of((), (), self.session.word, bit_words(number, width))
        return make_by(VALUES.find("BitVec"), words, self.random, "bits")

    def _nearest(self, sort: Sort, number: Fraction, whole: int) -> Any:
        """A value as the nearest to the number that it is: every rounding mode leaves it as it is."""
        manager, handle = self.session.manager, self.session.sort(sort)
        mode = self.session.word(self.random.choice(MODES))
        made = manager.mk_fp_value(handle, manager.mk_rm_value(mode), *_numerals(number, self.random))
        found = int("".join(made.value(2, True)), 2)
        if found != whole:
            raise Misbehaviour("value", f"{number} in {sort} is {found:b}, but should be {whole:b}")
        return made


def _numerals(number: Fraction, chance: Chance) -> list[str]:
    """The number as one decimal, or as numerator and denominator."""
    if chance.happens(0.5):
        return [str(number.numerator), str(number.denominator)]
    # The denominator is a power of two, so that a decimal of as many digits says it exactly.
    places = number.denominator.bit_length() - 1
    digits = str(abs(number.numerator) * 5**places).rjust(places + 1, "0")
    whole, rest = digits[: len(digits) - places], digits[len(digits) - places :]
    return [f"{'-' if number < 0 else ''}{whole}{'.' + rest if rest else ''}"]


BASIC_SORTS = frozenset(("Bool", "BitVec", "FloatingPoint", "RoundingMode"))
"""Sorts whose values are values to bitwuzla, too."""
