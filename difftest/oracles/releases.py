"""Finds solvers that are older releases of other ones, or that others are compared with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from packaging.version import Version

from solvers.solver import Solver


def older_pairs(solvers: Sequence[Solver]) -> Iterator[tuple[Solver, Solver]]:
    """Each (newer, older) pair of releases of one solver with the same options, the nearest older one first.

    If there is a base (``Solver.is_base``), it is the older one of each pair, whatever the releases are, and
    programs without a release are compared with it, too. A build from source is of the release that it is
    built from.
    """
    if any(solver.is_base for solver in solvers):
        yield from _with_base(solvers)
        return
    released = [(s, Version(s.release.partition("+")[0])) for s in solvers if s.release is not None]
    latest_first = sorted(released, key=lambda pair: pair[1], reverse=True)
    for newer, release in released:
        for older, before in latest_first:
            if older.family == newer.family and older.checks == newer.checks and before < release:
                yield newer, older


def _with_base(solvers: Sequence[Solver]) -> Iterator[tuple[Solver, Solver]]:
    for newer in solvers:
        for base in solvers:
            if base.is_base and not newer.is_base and base.checks == newer.checks:
                yield newer, base


def timed_pairs(solvers: Sequence[Solver]) -> Iterator[tuple[Solver, Solver]]:
    """The pairs whose times can be compared: not those of two builds with different flags."""
    for newer, older in older_pairs(solvers):
        if _flags(newer) == _flags(older):
            yield newer, older


def _flags(solver: Solver) -> str:
    return (solver.release or "").partition("+")[2]
