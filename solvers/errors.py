"""Exceptions around solvers. Solver misbehaviour is data (an Outcome), never one of these."""

from __future__ import annotations

from base.errors import ExhumeError, Exit


class SolverError(ExhumeError):
    """The base of the errors of this package."""


class UnknownSolver(SolverError):
    """A spec that names no solver."""

    def __init__(self, spec: str, message: str) -> None:
        super().__init__(f"solver {spec!r}: {message}")
        self.spec = spec


class BadProfile(SolverError):
    """A solver's folder that cannot be used: the message names the file and what is wrong in it."""


class EnvironmentProblem(SolverError):
    """Something this machine lacks: a program, a wheel, the network."""

    exit_code = Exit.ENVIRONMENT


class SolverMissing(EnvironmentProblem):
    """The solver is known, but its executable or its wheel is not here."""


class ReleaseNotFound(EnvironmentProblem):
    """The package index has no such release, or none for this machine and this Python."""

    def __init__(self, distribution: str, version: str, offered: tuple[str, ...] = ()) -> None:
        some = f" It has {', '.join(offered[-12:])}." if offered else ""
        super().__init__(f"the package index has no {distribution}=={version} that installs here.{some}")
        self.distribution = distribution
        self.version = version
        self.offered = offered


class RunnerLost(EnvironmentProblem):
    """A supervisor process of ours ended or stopped answering, twice in a row."""
