"""Finds solvers that are older releases of other ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from packaging.version import Version

from solvers.specs import Solver


def older_pairs(solvers: Sequence[Solver]) -> Iterator[tuple[Solver, Solver]]:
    """Each (newer, older) pair of releases of one solver with the same options."""
    released = [(solver, Version(solver.release)) for solver in solvers if solver.release is not None]
    for newer, release in released:
        for older, before in released:
            if older.family == newer.family and older.checks == newer.checks and before < release:
                yield newer, older


def has_older_release(solvers: Sequence[Solver]) -> bool:
    """Whether some solver is there in two releases."""
    return next(older_pairs(solvers), None) is not None
