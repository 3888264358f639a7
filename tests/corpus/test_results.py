"""Results of hunts: each finding names its own test."""

from __future__ import annotations

from pathlib import Path

from corpus.results import BatchRecord, FoundRecord, store_hunt
from corpus.store import Corpus


def test_a_finding_of_a_hunt_with_other_options_has_its_own_test(tmp_path: Path) -> None:
    batch = BatchRecord("skeletons", 1, "1.0", "", ("z3",))
    with Corpus.open(tmp_path / "c", write=True) as corpus:
        for key, text, skeleton in (("a", "(check-sat)", 1), ("b", "(check-sat)", 1), ("c", "(exit)", 2)):
            parts = {"skeletons": (skeleton,), "atoms": (), "rules": ()}
            row = FoundRecord("crash", "z3", "4.8.5", key, 7, text, **parts, command_line="z3", path=key)
            assert store_hunt(corpus, batch, [row]) == 1
        rows = corpus.rows(
            "select key, batch_id, skeletons from finding join test on test.id = test_id order by key"
        )
    assert rows == [("a", 1, [1]), ("b", 1, [1]), ("c", 2, [2])]
