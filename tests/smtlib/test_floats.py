"""Floating-point numbers: rounded as the machine's, and in every mode."""

from __future__ import annotations

import struct
from fractions import Fraction
from random import Random

import pytest

from smtlib.floats import rounded


def test_rounding_is_that_of_floats() -> None:
    chance = Random(5)
    for _ in range(2000):
        number = Fraction(
            chance.getrandbits(60) - (1 << 59), 1 + chance.getrandbits(chance.randrange(1, 1100))
        )
        (bits,) = struct.unpack(">Q", struct.pack(">d", float(number)))
        expected = bits >> 63, (bits >> 52) & 0x7FF, bits & ((1 << 52) - 1)
        assert rounded(number, "RNE", 11, 53) == expected, number


@pytest.mark.parametrize(
    ("number", "mode", "expected"),
    [
        (Fraction(1, 3), "RTZ", (0, 13, 341)),
        (Fraction(1, 3), "RTP", (0, 13, 342)),
        (Fraction(-1, 3), "RTP", (1, 13, 341)),
        (Fraction(-1, 3), "RTN", (1, 13, 342)),
        (Fraction(2049), "RNE", (0, 26, 0)),
        (Fraction(2049), "RNA", (0, 26, 1)),
        (Fraction(10**9), "RNE", (0, 31, 0)),
        (Fraction(10**9), "RTZ", (0, 30, 1023)),
        (Fraction(-(10**9)), "RTP", (1, 30, 1023)),
        (Fraction(1, 1 << 25), "RNE", (0, 0, 0)),
        (Fraction(1, 1 << 25), "RNA", (0, 0, 1)),
        (Fraction(0), "RTN", (0, 0, 0)),
        (Fraction(2047, 1 << 25), "RNE", (0, 1, 0)),
    ],
)
def test_rounding_to_halves(number: Fraction, mode: str, expected: tuple[int, int, int]) -> None:
    assert rounded(number, mode, 5, 11) == expected
