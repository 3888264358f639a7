"""STORM: formulas that are satisfiable by construction, from the Boolean structure of seeds."""

from generator.strategies.storm.minimising import Minimised, minimise
from generator.strategies.storm.pools import Bounds
from generator.strategies.storm.solving import SolvingProcess
from generator.strategies.storm.strategy import ENTRY, SETTINGS, StormStrategy
from generator.strategies.storm.valuation import NoValuation, Valuation, value_terms

__all__ = [
    "ENTRY",
    "SETTINGS",
    "Bounds",
    "Minimised",
    "NoValuation",
    "SolvingProcess",
    "StormStrategy",
    "Valuation",
    "minimise",
    "value_terms",
]
