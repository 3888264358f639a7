"""Real algebraic numbers as solvers print them in models, turned into what any solver reads: the root of a
polynomial in an interval that holds no other.

z3 says which root it is, counted from the smallest (``(root-obj (+ (^ x 2) (- 2)) 2)``); cvc5 prints the
interval (``(_ real_algebraic_number <1*x^2 + (-2), (5/4, 3/2)>)``). Sturm's theorem over exact rationals
separates the roots.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from smtlib.reader import SExp

# Larger ones take too long; such models are counted as not checked.
MAX_DEGREE = 64
_MONOMIAL = re.compile(r"\(?\s*([+-]?\s*\d+)?\s*\*?\s*(x(?:\^(\d+))?)?\s*\)?\Z")
_WITH_INTERVAL = re.compile(r"<(.*),\s*\((-?\d+(?:/\d+)?),\s*(-?\d+(?:/\d+)?)\)>\Z", re.S)

Polynomial = tuple[Fraction, ...]
"""Coefficients, the constant one first; the last is not zero."""


class NotAlgebraic(ValueError):
    """What was printed is no algebraic number that can be read."""


@dataclass(frozen=True, slots=True)
class AlgebraicNumber:
    """The one root of ``polynomial`` with ``low < root <= high``."""

    polynomial: Polynomial
    low: Fraction
    high: Fraction

    def constraint(self, name: str) -> str:
        """An SMT-LIB term that says that the Real ``name`` is this number."""
        value = ""
        for coefficient in reversed(self.polynomial):
            shown = rational(coefficient)
            value = f"(+ {shown} (* {name} {value}))" if value else shown
        return f"(and (< {rational(self.low)} {name}) (<= {name} {rational(self.high)}) (= {value} 0.0))"


def rational(value: Fraction) -> str:
    """``value`` as an SMT-LIB term of sort Real."""
    shown = f"{abs(value.numerator)}.0"
    if value.denominator != 1:
        shown = f"(/ {shown} {value.denominator}.0)"
    return f"(- {shown})" if value < 0 else shown


def from_root_object(sexp: Sequence[SExp]) -> AlgebraicNumber:
    """The number of z3's ``(root-obj POLYNOMIAL K)``; NotAlgebraic if it is none."""
    if len(sexp) != 3 or not isinstance(sexp[2], str) or not sexp[2].isdecimal():
        raise NotAlgebraic("not (root-obj POLYNOMIAL K)")
    polynomial = _from_sexp(sexp[1])
    low, high = isolate(polynomial, int(sexp[2]))
    return AlgebraicNumber(polynomial, low, high)


def from_interval(text: str) -> AlgebraicNumber:
    """The number of cvc5's ``<POLYNOMIAL, (LOW, HIGH)>``; NotAlgebraic if it is none."""
    match = _WITH_INTERVAL.match(text.strip())
    if match is None:
        raise NotAlgebraic("not <POLYNOMIAL, (LOW, HIGH)>")
    powers: dict[int, Fraction] = {}
    for part in match[1].split(" + "):
        monomial = _MONOMIAL.match(part.strip())
        if monomial is None or (monomial[1] is None and monomial[2] is None):
            raise NotAlgebraic(f"no monomial: {part[:40]}")
        power = 0 if monomial[2] is None else int(monomial[3] or 1)
        powers[power] = powers.get(power, Fraction(0)) + Fraction((monomial[1] or "1").replace(" ", ""))
    return AlgebraicNumber(_polynomial(powers), Fraction(match[2]), Fraction(match[3]))


def _from_sexp(sexp: SExp) -> Polynomial:
    """z3's polynomial in ``x``: a sum of products of a constant and a power."""
    terms = sexp[1:] if isinstance(sexp, list) and sexp and sexp[0] == "+" else [sexp]
    powers: dict[int, Fraction] = {}
    for term in terms:
        coefficient, power = _monomial(term)
        powers[power] = powers.get(power, Fraction(0)) + coefficient
    return _polynomial(powers)


def _monomial(sexp: SExp) -> tuple[Fraction, int]:
    if isinstance(sexp, list) and sexp[:1] == ["*"] and len(sexp) == 3:
        first, second = _monomial(sexp[1]), _monomial(sexp[2])
        return first[0] * second[0], first[1] + second[1]
    if isinstance(sexp, list) and sexp[:1] == ["-"] and len(sexp) == 2:
        value, power = _monomial(sexp[1])
        return -value, power
    if isinstance(sexp, list) and sexp[:1] == ["^"] and len(sexp) == 3 and sexp[1] == "x":
        if isinstance(sexp[2], str) and sexp[2].isdecimal():
            return Fraction(1), int(sexp[2])
    if sexp == "x":
        return Fraction(1), 1
    try:
        return Fraction(str(sexp)), 0
    except ValueError as problem:
        raise NotAlgebraic("no polynomial in x") from problem


def _polynomial(powers: dict[int, Fraction]) -> Polynomial:
    degree = max((power for power, value in powers.items() if value), default=0)
    if not 1 <= degree <= MAX_DEGREE:
        raise NotAlgebraic(f"a polynomial of degree {degree}")
    return tuple(powers.get(power, Fraction(0)) for power in range(degree + 1))


def isolate(polynomial: Polynomial, number: int) -> tuple[Fraction, Fraction]:
    """Bounds with ``low < root <= high`` that hold the ``number``-th distinct real root (from 1) alone.

    NotAlgebraic if there are fewer. By bisection of Cauchy's bound, counting roots with Sturm's theorem.
    """
    chain = _sturm(polynomial)
    if len(chain[-1]) > 1:
        # At a multiple root the whole chain vanishes; without its multiplicity it is the same root.
        polynomial, _ = _divide(polynomial, chain[-1])
        chain = _sturm(polynomial)
    bound = 1 + max(abs(value / polynomial[-1]) for value in polynomial[:-1])
    low, high = -bound, bound
    below = _variations(chain, low)
    if not 1 <= number <= below - _variations(chain, high):
        raise NotAlgebraic(f"there is no real root number {number}")
    while _variations(chain, low) - _variations(chain, high) > 1:
        middle = (low + high) / 2
        if below - _variations(chain, middle) >= number:
            high = middle
        else:
            low = middle
    return low, high


def _sturm(polynomial: Polynomial) -> list[Polynomial]:
    derivative = tuple(power * value for power, value in enumerate(polynomial))[1:]
    chain = [polynomial, derivative]
    while len(chain[-1]) > 1:
        _, rest = _divide(chain[-2], chain[-1])
        if not rest:
            break
        # Any positive factor will do, and a small one keeps the numbers short.
        chain.append(tuple(-value / abs(rest[-1]) for value in rest))
    return chain


def _divide(dividend: Polynomial, divisor: Polynomial) -> tuple[Polynomial, Polynomial]:
    rest = list(dividend)
    quotient = [Fraction(0)] * max(1, len(dividend) - len(divisor) + 1)
    while len(rest) >= len(divisor):
        factor = rest[-1] / divisor[-1]
        shift = len(rest) - len(divisor)
        quotient[shift] = factor
        for power, value in enumerate(divisor):
            rest[power + shift] -= factor * value
        rest.pop()
        while rest and rest[-1] == 0:
            rest.pop()
    return tuple(quotient), tuple(rest)


def _variations(chain: Sequence[Polynomial], at: Fraction) -> int:
    signs = [value > 0 for polynomial in chain if (value := _evaluate(polynomial, at)) != 0]
    return sum(first != second for first, second in itertools.pairwise(signs))


def _evaluate(polynomial: Polynomial, at: Fraction) -> Fraction:
    value = Fraction(0)
    for coefficient in reversed(polynomial):
        value = value * at + coefficient
    return value
