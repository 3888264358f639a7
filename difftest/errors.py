"""What can go wrong around the solvers. What a solver does wrong is data (an outcome), never one of these."""

from __future__ import annotations

import errno
from pathlib import Path


class DifftestError(Exception):
    """The base of all errors of this package; ``exit_code`` is what a command line should end with."""

    exit_code = 2


class UnknownSolver(DifftestError):
    """A spec that names no solver; ``near`` holds the names it may have meant."""

    def __init__(self, spec: str, message: str, near: tuple[str, ...] = ()) -> None:
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        super().__init__(f"solver {spec!r}: {message}{hint}")
        self.spec = spec
        self.near = near


class BadOutput(DifftestError):
    """The output folder cannot be made or written."""


class EnvironmentProblem(DifftestError):
    """Something this machine lacks: a program, a wheel, the network."""

    exit_code = 3


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


def name_full_folder(error: OSError, folder: Path | str) -> None:
    """Where nothing more could be written: the system names files that it cannot open, not those that it
    cannot write to, so ``error`` gets ``folder``, in which it happened, for its file's name.
    """
    if error.errno in (errno.ENOSPC, errno.EDQUOT) and error.filename is None:
        error.filename = str(folder)
