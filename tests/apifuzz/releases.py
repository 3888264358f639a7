"""Releases of bitwuzla's package that were never made: a module each, in place of what pip would fetch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from apifuzz.running import releases
from difftest.triage import release_search
from solvers.errors import ReleaseNotFound

RELEASES = [f"0.{number}.0" for number in range(10)]

RAISES = "def go():\n    raise ValueError('no such sort')\n"
GOES = "def go():\n    pass\n"

Plant = Callable[[dict[int, str]], list[str]]
"""Takes the modules by the number of their release (none: it cannot be had); the list is of those fetched."""


def plant_releases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, modules: dict[int, str]) -> list[str]:
    """Have these be fetched; see ``Plant``."""
    fetched: list[str] = []

    def fetch(distribution: str, release: str) -> Path:
        fetched.append(release)
        number = RELEASES.index(release)
        if number not in modules:
            raise ReleaseNotFound(distribution, release)
        package = tmp_path / f"package-{number}"
        package.mkdir(exist_ok=True)
        (package / "bitwuzla.py").write_text(modules[number])
        return package

    monkeypatch.setattr(releases, "fetch_release", fetch)
    monkeypatch.setattr(release_search, "list_releases", lambda family: RELEASES)
    return fetched
