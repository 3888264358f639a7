"""What a test does when it cannot have the solver, or the release of it, that it is about."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest

from difftest import EnvironmentProblem, Solver, find_solver, parse_spec
from solvers.errors import SolverMissing
from solvers.locating import is_here
from solvers.registry import PROFILES

REQUIRED = "EXHUME_REQUIRE_RELEASES"


def no_release(problem: Exception | str) -> NoReturn:
    """Skip the test, and say why; fail where the environment has ``EXHUME_REQUIRE_RELEASES``.

    Continuous integration sets it once releases could be fetched: there a skip looks like success.
    """
    message = f"the release cannot be had (no network, no cache?): {problem}"
    if os.environ.get(REQUIRED):
        pytest.fail(message)
    pytest.skip(message)


def find_or_skip(spec: str) -> Solver:
    """The solver of a spec. Skips the test where it is an extra that is not installed, and, as above, where
    it would be fetched and cannot be: a release, or a wheel that is kept apart and is not in the cache.
    """
    parsed = parse_spec(spec)
    try:
        if parsed.release is None and not is_here(PROFILES[parsed.family]):
            no_release(f"{spec} is not in the cache")
        return find_solver(parsed)
    except EnvironmentProblem as problem:
        if parsed.release is not None:
            no_release(problem)
        if not isinstance(problem, SolverMissing):
            raise
        pytest.skip(str(problem))
