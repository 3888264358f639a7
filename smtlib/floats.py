"""Floating-point numbers as numbers: rounded to a format, and back. Source: IEEE 754."""

from __future__ import annotations

from fractions import Fraction


def exact_number(sign: int, biased: int, fraction: int, exponent: int, significand: int) -> Fraction | None:
    """The number that the three fields write; None for infinities and NaN, 0 for both zeros."""
    if biased == (1 << exponent) - 1:
        return None
    bias = (1 << (exponent - 1)) - 1
    if biased:
        fraction |= 1 << (significand - 1)
    power = max(biased, 1) - bias - (significand - 1)
    magnitude = Fraction(fraction << power) if power >= 0 else Fraction(fraction, 1 << -power)
    return -magnitude if sign else magnitude


def rounded(number: Fraction, mode: str, exponent: int, significand: int) -> tuple[int, int, int]:
    """Sign, biased exponent and fraction of ``number`` in the format of these widths (hidden bit counted).

    ``mode`` is ``RNE``, ``RNA``, ``RTP``, ``RTN`` or ``RTZ``. Zero is the positive one.
    """
    sign = int(number < 0)
    magnitude = abs(number)
    least = 2 - (1 << (exponent - 1))  # the exponent of the smallest normal number
    power = max(_floor_log2(magnitude), least) if magnitude else least
    unit = Fraction(2) ** (power - (significand - 1))
    steps, rest = divmod(magnitude, unit)
    if _goes_up(rest / unit, int(steps), sign, mode):
        steps += 1
    if steps >> significand:
        steps //= 2  # exactly half of a power of two: nothing is lost
        power += 1
    if power >= 1 << (exponent - 1):
        return _overflow(sign, mode, exponent, significand)
    hidden = 1 << (significand - 1)
    if steps < hidden:
        return sign, 0, int(steps)
    return sign, power - least + 1, int(steps) - hidden


def _floor_log2(number: Fraction) -> int:
    guess = number.numerator.bit_length() - number.denominator.bit_length()
    return guess if Fraction(2) ** guess <= number else guess - 1


def _goes_up(part: Fraction, steps: int, sign: int, mode: str) -> bool:
    """Whether the magnitude is rounded up, where ``part`` of a step is left over."""
    if mode == "RNE":
        return part > Fraction(1, 2) or (part == Fraction(1, 2) and steps % 2 == 1)
    if mode == "RNA":
        return part >= Fraction(1, 2)
    if mode == "RTZ" or not part:
        return False
    return (mode == "RTN") == bool(sign)


def _overflow(sign: int, mode: str, exponent: int, significand: int) -> tuple[int, int, int]:
    largest = mode == "RTZ" or (mode == "RTP" and sign) or (mode == "RTN" and not sign)
    if largest:
        return sign, (1 << exponent) - 2, (1 << (significand - 1)) - 1
    return sign, (1 << exponent) - 1, 0
