"""Fixtures of several modules here: a folder in place of the package index, a warm runner."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from solvers.running.runner import Runner


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages that is all pip can see, and a cache of the test's own."""
    folder = tmp_path / "index"
    folder.mkdir()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("EXHUME_CACHE", str(tmp_path / "cache"))
    return folder


@pytest.fixture(scope="module")
def warm() -> Iterator[Runner]:
    with Runner() as made:
        yield made
