"""STORM: formulas that are satisfiable by construction, from the Boolean structure of seeds."""

from generator.strategies.storm.strategy import ENTRY

__all__ = ["ENTRY"]
