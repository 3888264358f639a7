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


@pytest.fixture
def kept_abilities(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was found out once about a solver behind a command line is kept for all tests."""
    monkeypatch.setenv("EXHUME_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
