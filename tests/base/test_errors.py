"""Errors that workers on other machines raise."""

from __future__ import annotations

import copy
import pickle

import pytest

from base.errors import ExhumeError
from smtlib.errors import ReadError
from solvers.errors import ReleaseNotFound, UnknownSolver


@pytest.mark.parametrize(
    "error",
    [
        ExhumeError("what happened"),
        UnknownSolver("z3x", "no such solver"),
        ReleaseNotFound("z3-solver", "1.2", ("4.8.5",)),
        ReadError("a line", 3, 4),
    ],
)
def test_errors_travel_whole(error: ExhumeError) -> None:
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(other) is type(error)
        assert (str(other), other.__dict__) == (str(error), error.__dict__)
