"""generate and strategies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from corpus.store import Corpus


def test_a_batch_is_written(exhume: Any, starter: Path, tmp_path: Path) -> None:
    document = exhume(
        "generate", "--corpus", starter, "--count", 20, "--seed", 3, "--out", tmp_path / "t", "--json"
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
    exhume: Any, starter: Path, tmp_path: Path
) -> None:
    for name, jobs in (("one", 1), ("two", 2)):
        exhume("generate", "--corpus", starter, "--count", 300, "--out", tmp_path / name, "--jobs", jobs)
    one, two = (sorted((tmp_path / name).glob("*.smt2")) for name in ("one", "two"))
    assert [f.read_bytes() for f in one] == [f.read_bytes() for f in two]


def test_a_batch_continues_where_another_ended(exhume: Any, starter: Path, tmp_path: Path) -> None:
    exhume("generate", "--corpus", starter, "--count", 10, "--out", tmp_path / "all")
    exhume("generate", "--corpus", starter, "--count", 4, "--start", 6, "--out", tmp_path / "rest")
    rest = sorted((tmp_path / "rest").glob("*.smt2"))
    assert len(rest) == 4
    assert all((tmp_path / "all" / f.name).read_bytes() == f.read_bytes() for f in rest)


def test_the_rate_is_printed(exhume: Any, starter: Path, tmp_path: Path) -> None:
    ended = exhume("generate", "--corpus", starter, "--count", 5, "--out", tmp_path / "t")
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
def test_variants(exhume: Any, starter: Path, tmp_path: Path, options: tuple[str, ...]) -> None:
    ended = exhume("generate", "--corpus", starter, "--count", 5, "--out", tmp_path / "t", *options)
    assert ended.code == 0
    # A skeleton may have fewer fillings than were requested.
    assert 1 <= len(list((tmp_path / "t").glob("*.smt2"))) <= 5


def test_other_settings_make_another_batch(exhume: Any, starter: Path, tmp_path: Path) -> None:
    arguments = ("generate", "--corpus", starter, "--count", 5, "--out", tmp_path / "t", "--set")
    assert [exhume(*arguments, given).code for given in ("themes=mixed",) * 2 + ("incremental=0.5",)] == [
        0,
        0,
        2,
    ]


def test_skeletons_can_come_from_another_corpus(
    exhume: Any, starter: Path, corpus: Path, tmp_path: Path
) -> None:
    ended = exhume(
        "generate", "--corpus", corpus, "--skeletons-from", starter, "--count", 5, "--out", tmp_path / "t"
    )
    assert ended.code == 0


def test_strategies_are_listed(exhume: Any) -> None:
    listed = exhume("strategies", "--json").json
    assert {"skeletons", "enumerate"} <= {s["name"] for s in listed}
    assert all(set(s) == {"name", "about", "takes", "knows", "needs", "settings"} for s in listed)
    assert "enumerate" in exhume("strategies").out


def test_an_unknown_strategy_gets_a_suggestion(exhume: Any, starter: Path, tmp_path: Path) -> None:
    ended = exhume("generate", "--corpus", starter, "--strategy", "skeleton", "--out", tmp_path / "t")
    assert ended.code == 2
    assert "did you mean skeletons?" in ended.said


def test_an_unknown_solver_gets_a_suggestion(exhume: Any, starter: Path, tmp_path: Path) -> None:
    ended = exhume("generate", "--corpus", starter, "--solvers", "z3,cvc6", "--out", tmp_path / "t")
    assert ended.code == 2
    assert "cvc5" in ended.said
    assert not (tmp_path / "t").exists()


def test_the_same_batch_may_be_written_again_another_may_not(
    exhume: Any, starter: Path, tmp_path: Path
) -> None:
    first = ("generate", "--corpus", starter, "--count", 5, "--out", tmp_path / "t")
    assert exhume(*first).code == 0
    assert exhume(*first).code == 0
    ended = exhume(*first, "--seed", 9)
    assert ended.code == 2
    assert "empty or new folder" in ended.said


def test_a_corpus_without_formulas_cannot_generate(exhume: Any, tmp_path: Path) -> None:
    Corpus.open(tmp_path / "c.duckdb", write=True).close()
    ended = exhume("generate", "--corpus", tmp_path / "c.duckdb", "--out", tmp_path / "t")
    assert ended.code == 2
    assert "exhume learn" in ended.said
    assert not (tmp_path / "t").exists()


# Strategies that start from seeds


def test_formulas_of_a_folder_are_mutated_without_a_corpus(
    exhume: Any, formulas: Path, tmp_path: Path
) -> None:
    (formulas / "broken.smt2").write_text("(assert")
    arguments = ("generate", "--strategy", "typefuzz", "--seeds", formulas, "--count", 40, "--set", "chain=5")
    ended = exhume(*arguments, "--out", tmp_path / "t")
    assert ended.code == 0
    assert "40 tests in" in ended.out
    assert "mutations: " in ended.out
    assert "skipped 1 seed formula: cannot be read (e.g. broken.smt2)" in ended.said
    header = (tmp_path / "t" / "test-000007.smt2").read_text()
    assert "strategy typefuzz" in header
    assert "; from 1014/" in header
    document = exhume(*arguments, "--out", tmp_path / "j", "--json").json
    assert document["skipped"] == {"cannot be read": 1}
    assert document["counts"]["mutations"] >= 40


@pytest.mark.parametrize("seeds", [(), ("--seeds", "corpus"), ("--seeds", "skeletons")])
def test_a_corpus_and_another_strategy_are_seeds_too(
    exhume: Any, starter: Path, tmp_path: Path, seeds: tuple[str, ...]
) -> None:
    ended = exhume(
        "generate",
        "--strategy",
        "opfuzz",
        "--corpus",
        starter,
        "--count",
        30,
        "--out",
        tmp_path / "t",
        *seeds,
    )
    assert ended.code == 0
    text = (tmp_path / "t" / "test-000003.smt2").read_text()
    assert ("; from skeletons#" if "skeletons" in seeds else "; from ") in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--strategy", "typefuzz"), "name a corpus with --corpus, or a folder of formulas with --seeds"),
        (("--strategy", "skeletons"), "name a corpus with --corpus"),
        (("--strategy", "skeletons", "--seeds", "x"), "skeletons takes no --seeds"),
        (
            ("--strategy", "skeletons", "--skeleton", "3"),
            "skeletons takes no --skeleton; only enumerate does",
        ),
        (("--strategy", "typefuzz", "--seeds", "missing"), "--seeds missing: no such folder"),
        (("--strategy", "opfuzz", "--seeds", ".", "--corpus", "missing"), "there is no corpus missing"),
        (
            ("--strategy", "opfuzz", "--seeds", ".", "--skeletons-from", "x"),
            "opfuzz takes no --skeletons-from; it draws on seeds",
        ),
        (("--strategy", "opfuzz", "--seeds", ".", "--set", "chian=3"), "did you mean chain?"),
    ],
)
def test_what_a_strategy_misses_is_one_line(
    exhume: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.smt2").write_text("(assert true)(check-sat)")
    ended = exhume("generate", *arguments, "--out", tmp_path / "t")
    assert ended.code == 2
    assert message in ended.said


def test_settings_of_strategies_are_listed(exhume: Any) -> None:
    listed = {s["name"]: s for s in exhume("strategies", "--json").json}
    assert listed["typefuzz"]["needs"] == ["seeds"]
    assert {"chain", "mutations", "operators", "literals"} == {
        s["name"] for s in listed["typefuzz"]["settings"]
    }
    assert "chain=30" in exhume("strategies").out


def test_answers_of_a_corpus_and_of_a_folder_are_found_once(
    exhume: Any, formulas: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXHUME_CACHE", str(tmp_path / "cache"))
    first = exhume("label", "--seeds", formulas, "--json").json
    assert (first["texts"], first["asked"], first["sat"], first["unsat"]) == (3, 3, 2, 1)
    assert exhume("label", "--seeds", formulas, "--json").json["asked"] == 0
    assert (tmp_path / "cache" / "answers.jsonl").exists()
    assert (
        "3 formulas (0 solved now): 2 sat, 1 unsat, 0 without a trusted answer"
        in exhume("label", "--seeds", formulas).out
    )
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "d.smt2").write_text("(declare-const p Bool)\n(assert p)\n(check-sat)\n")
    corpus = tmp_path / "corpus.duckdb"
    assert exhume("import", tmp_path / "more", "--corpus", corpus).code == 0
    found = exhume("label", "--corpus", corpus, "--json").json
    assert found["sat"] == found["asked"] == 1
    assert exhume("label", "--corpus", corpus, "--json").json["asked"] == 0


def test_label_wants_one_of_corpus_and_folder(exhume: Any) -> None:
    assert exhume("label").code == 2


def test_a_strategy_without_incremental_tests_says_so(exhume: Any, starter: Path, tmp_path: Path) -> None:
    arguments = ("generate", "--corpus", starter, "--out", tmp_path / "t", "--strategy", "typefuzz")
    ended = exhume(*arguments, "--incremental")
    assert ended.code == 2 and "typefuzz has no setting incremental" in ended.err


def test_a_corpus_without_seeds_says_what_seeds_are(exhume: Any, tmp_path: Path) -> None:
    (tmp_path / "a.smt2").write_text("(declare-const p Bool)\n(assert p)\n(check-sat)\n(check-sat)\n")
    corpus = tmp_path / "c.duckdb"
    exhume("import", tmp_path / "a.smt2", "--corpus", corpus)
    exhume("learn", "--corpus", corpus, "--no-probe")
    ended = exhume("generate", "--strategy", "opfuzz", "--corpus", corpus, "--out", tmp_path / "t")
    assert ended.code == 2
    assert ended.said == (
        f"exhume: there are no seeds in the corpus {corpus}: they are its well-sorted formulas with one"
        " check-sat that z3 and cvc5 accept"
    )


def test_label_says_that_a_path_is_missing(exhume: Any, tmp_path: Path) -> None:
    ended = exhume("label", "--seeds", tmp_path / "none")
    assert (ended.code, ended.out) == (2, "")
    assert "Invalid value for '--seeds'" in ended.err
    assert "does not exist" in " ".join(ended.err.split())
