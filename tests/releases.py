"""What a test does when it cannot have the release of a solver that it is about."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest

REQUIRED = "EXHUME_REQUIRE_RELEASES"


def no_release(problem: Exception | str) -> NoReturn:
    """Skip the test, and say why; fail where the environment has ``EXHUME_REQUIRE_RELEASES``.

    Continuous integration sets it once releases could be fetched: there a skip looks like success.
    """
    message = f"the release cannot be had (no network, no cache?): {problem}"
    if os.environ.get(REQUIRED):
        pytest.fail(message)
    pytest.skip(message)
