"""The corpus of bugs that is asked, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.corpus.asked import bug_corpus
from tests.once import made_once


@pytest.fixture(scope="session")
def bugs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The starter tracker with folders of bugs and of normal formulas; not to be written to."""
    return made_once(tmp_path_factory, "bugs", lambda f: bug_corpus(f / "bugs.duckdb", f)) / "bugs.duckdb"
