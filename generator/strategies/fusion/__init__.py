"""Semantic fusion: two formulas with one answer joined into a third with that answer."""

from generator.strategies.fusion.functions import FusionFunction, fusion_functions
from generator.strategies.fusion.strategy import ENTRY, SETTINGS, FusionStrategy

__all__ = ["ENTRY", "SETTINGS", "FusionFunction", "FusionStrategy", "fusion_functions"]
