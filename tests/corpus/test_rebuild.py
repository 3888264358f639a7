"""Everything derived again after the language layer changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus.examine import Examination, examine
from corpus.learn import import_and_decompose
from corpus.learned import fingerprint
from corpus.rebuild import rebuild
from corpus.store import Corpus

DERIVED = ("formula", "assertion", "skeleton", "atom", "signature")


def tables(corpus: Corpus) -> list[object]:
    links = corpus.rows("select * from assertion_atom order by all")
    return [links, *(corpus.rows(f"select * from {name} order by id") for name in DERIVED)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "z3"
    made.mkdir()
    for number in range(6):
        text = f"(declare-const x Int)(assert (or (> x {number}) (new-operator x)))"
        (made / f"{number}_0.smt2").write_text(text.replace("new-operator", "> 0") if number % 2 else text)
    (made / "7_0.smt2").write_bytes(b"\0")
    return made


def test_rebuilding_with_the_same_language_changes_nothing(tmp_path: Path, folder: Path) -> None:
    with Corpus.open(tmp_path / "c", write=True) as corpus:
        import_and_decompose(corpus, [folder])
        before, name = tables(corpus), fingerprint(corpus)
        progress: list[tuple[int, int]] = []
        report = rebuild(corpus, lambda done, total: progress.append((done, total)))
        assert (report.formulas, report.gained, report.lost) == (6, 0, 0)
        assert progress == [(6, 6)]
        assert tables(corpus) == before
        assert fingerprint(corpus) == name
        assert corpus.verify() == []


def test_a_better_checker_gains_formulas_and_asks_the_solvers_again(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def better(text: str) -> Examination:
        return examine(text.replace("new-operator", "< 1"))

    with Corpus.open(tmp_path / "c", write=True) as corpus:
        import_and_decompose(corpus, [folder])
        with corpus.transaction():
            corpus.execute("insert into solver values (1, 'z3', '5')")
            for formula, form in ((1, "written"), (2, "printed"), (7, "written")):
                corpus.execute(
                    "insert into acceptance values (?, 1, ?, false, 'refused', 'x', 'x')", [formula, form]
                )
        monkeypatch.setattr("corpus.rebuild.examine", better)
        report = rebuild(corpus)
        assert (report.gained, report.lost) == (3, 0)
        assert corpus.scalar("select count(*) from formula where status = 'well-sorted' and decomposed") == 6
        assert corpus.rows("select formula_id from acceptance") == [(7,)]
        assert corpus.scalar("select assertions from skeleton where id = 1") == 6
        monkeypatch.undo()
        report = rebuild(corpus)
        assert (report.gained, report.lost) == (0, 3)
        assert corpus.scalar("select count(*) from atom where uses = 0") > 0
        assert corpus.verify() == []


def test_a_rebuild_that_fails_leaves_everything(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(text: str) -> Examination:
        raise KeyboardInterrupt

    with Corpus.open(tmp_path / "c", write=True) as corpus:
        import_and_decompose(corpus, [folder])
        before = tables(corpus)
        monkeypatch.setattr("corpus.rebuild.examine", failing)
        with pytest.raises(KeyboardInterrupt):
            rebuild(corpus)
        assert tables(corpus) == before
