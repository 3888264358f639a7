"""What holds for all tests."""

from __future__ import annotations

import pytest
from hypothesis import is_hypothesis_test


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that take long, and those of properties, which make a hundred examples each, are not watched line
    by line: that slows them down most, and others go the same ways.
    """
    for item in items:
        if item.get_closest_marker("slow") or is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker(pytest.mark.no_cover)
