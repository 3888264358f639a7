"""Congruence: two forms of one value at the same place of a term, whose results cannot differ."""

from generator.strategies.congruence.strategy import ENTRY

__all__ = ["ENTRY"]
