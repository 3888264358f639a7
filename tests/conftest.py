"""What holds for all tests."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import is_hypothesis_test, settings

# How long an example takes is the machine's affair, not a property: speed is what the scripts measure.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that take long, and those of properties, which make a hundred examples each, are not watched line
    by line: that slows them down most, and others go the same ways.
    """
    for item in items:
        if item.get_closest_marker("slow") or is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker(pytest.mark.no_cover)


def commands_running(marker: str) -> list[str]:
    """The command lines on this machine that hold ``marker``."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                line = (entry / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            if marker in line:
                found.append(line)
    return found


@pytest.fixture
def assert_gone() -> Callable[[str], None]:
    """Assert that no process whose command line holds a marker is left (within a second)."""

    def check(marker: str) -> None:
        deadline = time.monotonic() + 1
        while (left := commands_running(marker)) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert left == []

    return check
