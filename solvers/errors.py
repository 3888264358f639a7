"""Exceptions of our own tooling. Solver misbehaviour is data (an Outcome), never an exception."""

from __future__ import annotations

from base.errors import ExhumeError, Exit


class UnknownSolver(ExhumeError):
    """A spec does not name a solver."""

    def __init__(self, spec: str, message: str) -> None:
        super().__init__(f"solver {spec!r}: {message}")
        self.spec = spec


class BadProfile(ExhumeError):
    """A solver's folder cannot be used; the message names the file and the mistake in it."""


class EnvironmentProblem(ExhumeError):
    """This machine lacks something: a program, a wheel, the network."""

    exit_code = Exit.ENVIRONMENT


class SolverMissing(EnvironmentProblem):
    """The solver is known, but its executable or wheel is not installed."""


_MOST_NAMED = 12
"""How many releases an error names: the newest."""


class ReleaseNotFound(EnvironmentProblem):
    """The package index has no such release, or none for this machine and Python version."""

    def __init__(self, distribution: str, version: str, offered: tuple[str, ...] = ()) -> None:
        left_out = len(offered) - _MOST_NAMED
        ones = f"The newest {_MOST_NAMED} of {len(offered)} that it has" if left_out > 0 else "Available"
        some = f" {ones}: {', '.join(offered[-_MOST_NAMED:])}." if offered else ""
        super().__init__(f"the package index has no {distribution}=={version} for this machine.{some}")
        self.distribution = distribution
        self.version = version
        self.offered = offered


class RunnerLost(EnvironmentProblem):
    """One of our supervisor processes ended or stopped answering, twice in a row."""
