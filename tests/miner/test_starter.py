"""The corpus of the starter tracker in the user's cache."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from base.steps import Steps, unseen
from corpus.intake import Intake
from corpus.records import Tracker
from corpus.store import Corpus
from miner import starter


def test_it_is_made_by_the_run_after_one_that_was_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, killed = tmp_path / "cache", tmp_path / "killed"

    def make(corpus: Corpus, progress: Steps) -> None:
        first = not killed.exists()
        with corpus.transaction():
            Intake(corpus).add_tracker(Tracker("of the killed run" if first else "exhume/starter", "starter"))
        if first:
            shutil.copytree(cache, killed)  # what a kill would leave
            raise KeyboardInterrupt

    monkeypatch.setenv("EXHUME_CACHE", str(cache))
    monkeypatch.setattr(starter, "make_starter", make)
    with pytest.raises(KeyboardInterrupt):
        starter.starter_corpus(unseen)
    shutil.copytree(killed, cache, dirs_exist_ok=True)
    with Corpus.open(starter.starter_corpus(unseen)) as corpus:
        assert corpus.rows("select name from tracker") == [("exhume/starter",)]
