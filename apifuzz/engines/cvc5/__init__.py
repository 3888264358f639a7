"""cvc5 behind the interface, through the base interface of its Python module."""

from apifuzz.engines.cvc5.engine import Cvc5Engine

__all__ = ["Cvc5Engine"]
