"""The wrapper of z3: the ``z3`` module of the wheel z3-solver, and the calls of ``z3.z3core`` beneath it."""

from apifuzz.wrappers.z3.wrapper import Z3Wrapper

__all__ = ["Z3Wrapper"]
