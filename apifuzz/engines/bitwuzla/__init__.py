"""bitwuzla through its Python interface."""

from apifuzz.engines.bitwuzla.engine import BitwuzlaEngine

__all__ = ["BitwuzlaEngine"]
