"""Fixtures that several modules use."""

from __future__ import annotations

import pytest
import z3


@pytest.fixture
def own_context_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Terms of the process's main context among those of a run's would end in a crash sooner or later."""

    def refuse() -> None:
        raise AssertionError("the main context was used")

    monkeypatch.setattr(z3.z3, "main_ctx", refuse)
