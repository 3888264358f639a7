"""The small corpus, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus.store import Corpus
from generator import Library, load_library
from tests.generator.small import formulas, make_corpus
from tests.once import made_once


@pytest.fixture(scope="session")
def corpus_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small corpus, learned and shown to z3 and cvc5; not to be written to."""

    def make(folder: Path) -> None:
        make_corpus(folder / "formulas", folder / "corpus.duckdb", formulas())

    return made_once(tmp_path_factory, "small", make) / "corpus.duckdb"


@pytest.fixture(scope="session")
def library(corpus_path: Path) -> Library:
    """What z3 and cvc5 both take of the small corpus."""
    with Corpus.open(corpus_path) as corpus:
        return load_library(corpus)
