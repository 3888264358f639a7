"""Semantic fusion: two formulas with one answer joined into a third with that answer."""

from generator.strategies.fusion.strategy import ENTRY

__all__ = ["ENTRY"]
