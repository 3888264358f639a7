"""compare, similar, behind, and looking after the corpus file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def other(exhume: Any, formulas: Path, tmp_path: Path) -> Path:
    """A small corpus of another tracker."""
    path = tmp_path / "other.duckdb"
    exhume("import", formulas, "--corpus", path)
    exhume("learn", "--corpus", path, "--min-support", 2, "--no-probe")
    return path


def test_two_corpora_are_compared(exhume: Any, starter: Path, other: Path, tmp_path: Path) -> None:
    ended = exhume("compare", starter, other)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out
    (tmp_path / "one.smt2").write_text("(declare-const p Bool)\n(assert p)\n(check-sat)\n")
    exhume("import", tmp_path / "one.smt2", "--corpus", tmp_path / "one.duckdb")
    assert f"A: {tmp_path}/one.duckdb, 1 formula\n" in exhume("compare", tmp_path / "one.duckdb", other).out
    assert isinstance(exhume("compare", starter, other, "--json").json, dict)
    # By chance, some signatures are more frequent in some formulas of a corpus than in all; --json has them.
    part = ("compare", starter, starter, "--class", "soundness")
    assert "no signature is significantly more frequent in A (smallest q: " in exhume(*part).out
    assert exhume(*part, "--json").json["over_represented"]


def test_a_formula_is_found_again_by_its_likeness(exhume: Any, other: Path, formulas: Path) -> None:
    file = formulas / "1014" / "a.smt2"
    ended = exhume("similar", file, "--corpus", other)
    assert ended.code == 0
    assert "a.smt2" in ended.out
    assert exhume("similar", file, "--corpus", other, "--json").json


def test_a_test_is_traced_back_to_its_issues(exhume: Any, starter: Path, tmp_path: Path) -> None:
    exhume("generate", "--corpus", starter, "--count", 1, "--out", tmp_path / "t")
    file = next((tmp_path / "t").glob("*.smt2"))
    ended = exhume("behind", file, "--corpus", starter)
    assert ended.code == 0
    issue = file.read_text().split("exhume/starter#")[1].split()[0]
    assert issue in ended.out
    assert issue in json.dumps(exhume("behind", file, "--corpus", starter, "--json").json)


def test_a_file_that_was_not_generated_has_nothing_behind_it(
    exhume: Any, starter: Path, formulas: Path
) -> None:
    ended = exhume("behind", formulas / "1014" / "a.smt2", "--corpus", starter)
    assert ended.code == 2
    assert ended.err
    assert "Traceback" not in ended.err


def test_a_corpus_survives_export_and_import(exhume: Any, starter: Path, tmp_path: Path) -> None:
    assert exhume("corpus", "export", "--corpus", starter, "--out", tmp_path / "parquet").code == 0
    assert exhume("corpus", "import", tmp_path / "parquet", "--corpus", tmp_path / "again.duckdb").code == 0
    before = exhume("stats", "--corpus", starter, "--json").json
    assert exhume("stats", "--corpus", tmp_path / "again.duckdb", "--json").json == before


def test_a_sound_corpus_is_said_to_be_sound(exhume: Any, corpus: Path) -> None:
    assert exhume("corpus", "verify", "--corpus", corpus).code == 0


def test_vacuum_keeps_everything_that_is_named(exhume: Any, corpus: Path) -> None:
    before = exhume("stats", "--corpus", corpus, "--json").json
    link = corpus.with_name("link.duckdb")
    link.symlink_to(corpus)
    inode = corpus.stat().st_ino
    assert exhume("corpus", "vacuum", "--corpus", link).code == 0
    assert link.is_symlink() and corpus.stat().st_ino != inode
    assert exhume("stats", "--corpus", corpus, "--json").json == before
    assert exhume("corpus", "verify", "--corpus", corpus).code == 0


def test_a_corpus_without_records_of_trackers_is_not_read_again(exhume: Any, other: Path) -> None:
    ended = exhume("mine", "--replay", "--corpus", other)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == f"exhume: {other} has no records of a tracker to read again: mine one first\n"
