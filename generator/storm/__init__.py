"""STORM: formulas that are satisfiable by construction, from the Boolean structure of seeds."""

from generator.storm.pools import Bounds
from generator.storm.solving import SolvingProcess
from generator.storm.strategy import SETTINGS, StormStrategy
from generator.storm.valuation import NoValuation, Valuation, value_terms

__all__ = [
    "SETTINGS",
    "Bounds",
    "NoValuation",
    "SolvingProcess",
    "StormStrategy",
    "Valuation",
    "value_terms",
]
