"""generate and strategies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


def test_a_batch_is_written(exhume: Any, learned: Path, tmp_path: Path) -> None:
    document = exhume(
        "generate", "--corpus", learned, "--count", 20, "--seed", 3, "--out", tmp_path / "t", "--json"
    ).json
    assert set(document) == {"written", "distinct", "seconds"}
    assert document["written"] == 20
    files = sorted((tmp_path / "t").glob("*.smt2"))
    assert len(files) == 20
    header = files[7].read_text().split("\n")[0]
    assert header.startswith(";")
    assert "seed 3" in header
    assert "index 7" in header


def test_the_same_seed_gives_the_same_bytes_whatever_the_jobs(
    exhume: Any, learned: Path, tmp_path: Path
) -> None:
    for name, jobs in (("one", 1), ("two", 2)):
        exhume("generate", "--corpus", learned, "--count", 300, "--out", tmp_path / name, "--jobs", jobs)
    one, two = (sorted((tmp_path / name).glob("*.smt2")) for name in ("one", "two"))
    assert [f.read_bytes() for f in one] == [f.read_bytes() for f in two]


def test_a_batch_goes_on_where_another_ended(exhume: Any, learned: Path, tmp_path: Path) -> None:
    exhume("generate", "--corpus", learned, "--count", 10, "--out", tmp_path / "all")
    exhume("generate", "--corpus", learned, "--count", 4, "--start", 6, "--out", tmp_path / "rest")
    rest = sorted((tmp_path / "rest").glob("*.smt2"))
    assert len(rest) == 4
    assert all((tmp_path / "all" / f.name).read_bytes() == f.read_bytes() for f in rest)


def test_people_are_told_the_rate(exhume: Any, learned: Path, tmp_path: Path) -> None:
    ended = exhume("generate", "--corpus", learned, "--count", 5, "--out", tmp_path / "t")
    assert (ended.code, ended.err) == (0, "")
    assert "5 tests in" in ended.out
    assert "a second" in ended.out


@pytest.mark.parametrize(
    "options",
    [
        ("--rules", "off"),
        ("--rules", "coarse"),
        ("--incremental",),
        ("--strategy", "enumerate", "--skeleton", "1"),
        ("--solvers", "z3"),
    ],
)
def test_variants(exhume: Any, learned: Path, tmp_path: Path, options: tuple[str, ...]) -> None:
    ended = exhume("generate", "--corpus", learned, "--count", 5, "--out", tmp_path / "t", *options)
    assert ended.code == 0
    # A skeleton may have fewer fillings than were asked for.
    assert 1 <= len(list((tmp_path / "t").glob("*.smt2"))) <= 5


def test_skeletons_can_come_from_another_corpus(
    exhume: Any, learned: Path, corpus: Path, tmp_path: Path
) -> None:
    ended = exhume(
        "generate", "--corpus", corpus, "--skeletons-from", learned, "--count", 5, "--out", tmp_path / "t"
    )
    assert ended.code == 0


def test_strategies_are_listed(exhume: Any) -> None:
    listed = exhume("strategies", "--json").json
    assert {"skeletons", "enumerate"} <= {s["name"] for s in listed}
    assert all(set(s) == {"name", "about", "takes", "knows", "needs", "settings"} for s in listed)
    assert "enumerate" in exhume("strategies").out


def test_an_unknown_strategy_is_told_a_near_one(exhume: Any, learned: Path, tmp_path: Path) -> None:
    ended = exhume("generate", "--corpus", learned, "--strategy", "skeleton", "--out", tmp_path / "t")
    assert ended.code == 2
    assert "did you mean skeletons?" in ended.said


def test_an_unknown_solver_is_told_a_near_one(exhume: Any, learned: Path, tmp_path: Path) -> None:
    ended = exhume("generate", "--corpus", learned, "--solvers", "z3,cvc6", "--out", tmp_path / "t")
    assert ended.code == 2
    assert "cvc5" in ended.said
    assert not (tmp_path / "t").exists()


def test_the_same_batch_may_be_written_again_another_may_not(
    exhume: Any, learned: Path, tmp_path: Path
) -> None:
    first = ("generate", "--corpus", learned, "--count", 5, "--out", tmp_path / "t")
    assert exhume(*first).code == 0
    assert exhume(*first).code == 0
    ended = exhume(*first, "--seed", 9)
    assert ended.code == 2
    assert "empty or new folder" in ended.said


def test_a_corpus_without_formulas_cannot_generate(exhume: Any, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    exhume("import", tmp_path / "none", "--corpus", tmp_path / "c.duckdb")
    ended = exhume("generate", "--corpus", tmp_path / "c.duckdb", "--out", tmp_path / "t")
    assert ended.code == 2
    assert "exhume learn" in ended.said
    assert not (tmp_path / "t").exists()
