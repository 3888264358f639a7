"""A learned corpus of the bundled starter tracker, for users who have none of their own yet."""

from __future__ import annotations

from pathlib import Path

from base.cache import cache_folder
from base.files import new_file
from base.locks import locked
from base.steps import Steps
from base.version import VERSION
from corpus.learn import LearnReport, learn
from corpus.probing import probe_formulas
from corpus.store import Corpus
from miner.dumps import mine_starter
from miner.storing import TrackerReport

MIN_SUPPORT = 4
"""The starter tracker is small: rules need four formulas there, and nine in a real corpus."""


def starter_corpus(progress: Steps) -> Path:
    """The corpus of the starter tracker in the user's cache, made now if it is not there (about 10 s).

    Raises :class:`CorpusError`, and OSError if the cache cannot be written.
    """
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"starter-{VERSION}.duckdb"
    with locked(folder / "starter.lock"):
        if not path.exists():
            with new_file(path, "draft") as draft, Corpus.open(draft, write=True) as corpus:
                make_starter(corpus, progress)
                corpus.checkpoint()
    return path


def make_starter(corpus: Corpus, progress: Steps) -> tuple[TrackerReport, LearnReport]:
    """Mine the starter tracker into an empty corpus, learn, and ask the references what they accept."""
    with progress("mining the starter tracker") as tick:
        mined = mine_starter(corpus, tick)
    with progress("learning") as tick:
        learned = learn(corpus, MIN_SUPPORT, progress=tick)
    with progress("checking which formulas solvers accept") as tick:
        probe_formulas(corpus, progress=tick)
    return mined, learned
