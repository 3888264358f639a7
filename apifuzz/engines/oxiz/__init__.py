"""oxiz through its Python interface."""

from apifuzz.engines.oxiz.engine import OxizEngine

__all__ = ["OxizEngine"]
