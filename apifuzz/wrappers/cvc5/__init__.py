"""cvc5 behind the interface, through the base interface of its Python module."""

from apifuzz.wrappers.cvc5.wrapper import Cvc5Wrapper

__all__ = ["Cvc5Wrapper"]
