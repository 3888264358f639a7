"""STORM: formulas that are satisfiable by construction, from the Boolean structure of seeds."""

from generator.storm.minimising import Minimised, minimise
from generator.storm.pools import Bounds
from generator.storm.solving import SolvingProcess
from generator.storm.strategy import SETTINGS, StormStrategy
from generator.storm.valuation import NoValuation, Valuation, value_terms

__all__ = [
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
