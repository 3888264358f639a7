"""Valuations are kept in a folder of the test run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from generator.strategies.storm.solving import SolvingProcess


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EXHUME_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def process() -> SolvingProcess:
    return SolvingProcess()
