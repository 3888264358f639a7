"""Which of the solvers is an older release of which."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from solvers.specs import Solver, parse_spec

_NUMBERS = re.compile(r"\d+(?:\.\d+)+")


def release_of(solver: Solver) -> tuple[int, ...] | None:
    """The release as numbers: of the spec, else of what the solver says; None if it is a program."""
    if solver.family == "other":
        return None
    told = parse_spec(solver.spec).release or solver.version()
    match = _NUMBERS.search(told)
    return tuple(int(part) for part in match[0].split(".")) if match else None


def older_pairs(solvers: Sequence[Solver]) -> Iterator[tuple[Solver, Solver]]:
    """Each (newer, older) pair of releases of one solver with the same options."""
    for newer in solvers:
        release = release_of(newer)
        for older in solvers:
            if older.family != newer.family or older.checks != newer.checks or release is None:
                continue
            other = release_of(older)
            # A wheel's number may have one part more than what the program says of itself.
            if other is not None and other[: len(release)] < release[: len(other)]:
                yield newer, older


def has_older_release(solvers: Sequence[Solver]) -> bool:
    """Whether some solver is there in two releases."""
    families = [solver.family for solver in solvers if solver.family != "other"]
    return len(set(families)) < len(families) and next(older_pairs(solvers), None) is not None
