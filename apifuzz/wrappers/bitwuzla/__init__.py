"""bitwuzla through its Python interface."""

from apifuzz.wrappers.bitwuzla.wrapper import BitwuzlaWrapper

__all__ = ["BitwuzlaWrapper"]
