"""Findings and campaigns of earlier versions, which had short names for theories."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from corpus.store import Corpus
from difftest.campaign.state import CampaignState
from difftest.campaign.stored import read_campaign
from difftest.triage.folder import FindingFolder
from difftest.triage.known import read_known
from difftest.triage.ledger import Ledger
from difftest.triage.renamed import current_key
from difftest.triage.store import read_findings
from smtlib.mentions import theories_in
from tests.stored import V0, unpack

EARLIER = re.compile(r"(?:Array|BV|Bag|Datatype|FF|FP|Int|Quantifier|Real|Seq|Set|String)(?=[+|\"]|$)")


@pytest.fixture
def hunt(tmp_path: Path) -> Path:
    unpack("hunt", tmp_path)
    return tmp_path / "hunt"


def written(hunt: Path) -> dict[str, dict[str, Any]]:
    """The findings' documents as they are stored, by folder."""
    return {file.parent.name: json.loads(file.read_text()) for file in hunt.glob("findings/*/finding.json")}


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("invalid-model|z3-4.8.5|Int+Seq|seq.nth", "invalid-model|z3-4.8.5|Ints+Sequences|seq.nth"),
        ("crash|a|signal SIGSEGV|BV+Array", "crash|a|signal SIGSEGV|ArraysEx+FixedSizeBitVectors"),
        ("incompleteness|z3|Int+Quantifier", "incompleteness|z3|Ints+Quantifiers"),
        ("soundness|Real|Real|/|fixed in 4.8.9", "soundness|Real|Reals|/|fixed in 4.8.9"),
        ("crash|planted|arith.cpp:41", "crash|planted|arith.cpp:41"),
        ("crash", "crash"),
    ],
)
def test_a_key_is_read_with_the_names_of_today(before: str, now: str) -> None:
    assert current_key(before) == now == current_key(now)


def test_stored_findings_have_the_names_that_new_ones_get(hunt: Path) -> None:
    stored = written(hunt)
    assert any(EARLIER.search(data["key"]) for data in stored.values())
    records = list(read_findings(hunt / "findings"))
    assert len(records) == len(stored) > 10
    for record in records:
        found = FindingFolder.read(record.path)
        for text in (record.key, found.key, *found.merged.values(), *found.theories):
            assert not EARLIER.search(text)
        # Less was read off a formula then.
        assert set(found.theories) <= set(theories_in(found.formula)), record.path.name
        assert record.id == stored[record.path.name]["id"]


def test_a_stored_campaign_counts_and_resumes_under_the_names_of_today(hunt: Path) -> None:
    before = read_campaign(hunt)
    names = {row.name for row in before.outcomes if row.kind == "theory"}
    assert {"Ints", "UF"} <= names and not any(map(EARLIER.search, names))
    keys = {row.key for row in before.findings} | {key for key, _ in before.folded.values()}
    assert keys and not any(map(EARLIER.search, keys))
    with CampaignState.open(hunt, dict(before.settings), jobs=0) as state:
        assert state.loaded.outcomes and set(state.loaded.outcomes) == set(before.outcomes)
        assert (state.loaded.findings, state.loaded.folded) == (before.findings, before.folded)
    with closing(sqlite3.connect(hunt / "campaign.sqlite")) as opened:
        rows = opened.execute("select key from finding union all select first || '|' || key from folded")
        assert not any(EARLIER.search(text) for (text,) in rows)


def test_a_stored_corpus_has_the_keys_that_reading_gives(tmp_path: Path) -> None:
    unpack("corpus.duckdb", tmp_path)
    queries = json.loads((V0 / "expected.json").read_text("utf-8"))["queries"]
    before = next(rows for sql, rows in queries.items() if "from finding" in sql)
    with Corpus.open(tmp_path / "corpus.duckdb", write=True) as corpus:
        now = dict(corpus.rows("select path, key from finding"))
    assert now == {row["path"]: current_key(row["key"]) for row in before}
    assert len(now) > 20 and any(now[row["path"]] != row["key"] for row in before)


def test_a_stored_list_of_known_errors_matches_keys_of_today(tmp_path: Path) -> None:
    errors = [{"key": "soundness|z3|Int+Real|div,*", "note": "a note"}]
    listed = {"format": "exhume-known-errors", "version": 1, "errors": errors}
    (tmp_path / "known.json").write_text(json.dumps(listed))
    known = Ledger(read_known([tmp_path / "known.json"]))
    entry = known.silencing("soundness|z3|Ints+Reals|abs,div", None)
    assert entry is not None and (entry.key, entry.note) == ("soundness|z3|Ints+Reals|div,*", "a note")
    assert known.silencing("soundness|z3|Ints|abs,div", None) is None
