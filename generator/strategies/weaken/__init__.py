"""The strategy ``weaken``: formulas weakened or strengthened step by step, their answer known."""

from generator.strategies.weaken.strategy import ENTRY

__all__ = ["ENTRY"]
