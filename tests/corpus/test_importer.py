"""Folders of files: where they come from, what is wrong with them, twice the same."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus import importer
from corpus.errors import CorpusError
from corpus.importer import ImportReport, Origin, decode, import_paths, origin_of
from corpus.records import Issue, Tracker
from corpus.store import Corpus
from tests.miner.mining_help import rows_of

GOOD = "(declare-const x Int)\n(assert (> x 0))\n(check-sat)\n"
ILL_SORTED = "(declare-const x Int)\n(assert (> x y))\n"
UNBALANCED = "(assert (> 1 0)\n"


@pytest.mark.parametrize(
    ("relative", "folder", "origin"),
    [
        ("z3/z3_1014_0.smt2", "published", Origin("z3", 1014, 0)),
        ("z3_1014_12.smt2", "z3", Origin("z3", 1014, 12)),
        ("cvc5-projects_7.smt2", "anything", Origin("cvc5-projects", 7, 0)),
        ("z3-issue-55.smt2", "in", Origin("z3", 55, 0)),
        ("1014_3.smt2", "z3", Origin("z3", 1014, 3)),
        ("z3/1014.smt2", "all", Origin("z3", 1014, 0)),
        ("issue1014.smt2", "regressions", Origin("regressions", 1014, 0)),
        ("z3/1014/input.smt2", "all", Origin("z3", 1014, 0)),
        ("bench_12_3.smt2", "mine", Origin("mine", None, 0)),
        ("mine_12_3.smt2", "mine", Origin("mine", 12, 3)),
        ("z3_99999999999999999999_0.smt2", "z3", Origin("z3", None, 0)),
        ("a b'; drop table formula; --.smt2", "odd", Origin("odd", None, 0)),
        ("x.smt2", "", Origin("files", None, 0)),
    ],
)
def test_tracker_and_issue_are_read_off_the_path(relative: str, folder: str, origin: Origin) -> None:
    assert origin_of(relative, folder) == origin


@given(st.text(alphabet="z3cvc5_-./ issue019\n\\é", max_size=30), st.text(max_size=5))
def test_any_path_has_an_origin(relative: str, folder: str) -> None:
    origin = origin_of(relative + ".smt2", folder)
    assert origin.tracker
    assert origin.issue is None or 0 <= origin.issue < 10**9


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a formula of each kind."""
    made = tmp_path / "trackers"
    (made / "z3").mkdir(parents=True)
    (made / "cvc5").mkdir()
    (made / "z3" / "z3_7_0.smt2").write_text(GOOD)
    (made / "z3" / "z3_7_1.smt2").write_text(ILL_SORTED)
    (made / "z3" / "z3_12_0.smt2").write_text(UNBALANCED)
    (made / "z3" / "z3_13_0.smt2").write_text("")
    (made / "cvc5" / "cvc5_7_0.smt2").write_text(GOOD)
    (made / "notes.txt").write_text("no formula")
    return made


def imported(tmp_path: Path, *paths: Path) -> tuple[Corpus, ImportReport]:
    corpus = Corpus.open(tmp_path / "corpus.duckdb", write=True)
    return corpus, import_paths(corpus, paths)


def test_every_file_is_a_row_with_its_status_and_place(tmp_path: Path, folder: Path) -> None:
    corpus, report = imported(tmp_path, folder)
    with corpus:
        rows = corpus.rows(
            """select source, status, error_line, error_column > 0, error is not null, assertions, check_sats
            from formula order by id"""
        )
        assert corpus.scalar("select theories from formula where id = 1") == ["Core", "Ints"]
        assert corpus.scalar("select operators from formula where id = 1") == [">"]
        assert corpus.verify() == []
    assert (report.files, report.new, report.well_sorted, report.read, report.errors) == (5, 5, 3, 1, 1)
    assert [source for source, _ in report.first_errors] == ["z3#12/z3_12_0.smt2"]
    assert rows == [
        ("cvc5#7/cvc5_7_0.smt2", "well-sorted", None, None, False, 1, 1),
        ("z3#12/z3_12_0.smt2", "error", 1, True, True, None, None),
        ("z3#13/z3_13_0.smt2", "well-sorted", None, None, False, 0, 0),
        ("z3#7/z3_7_0.smt2", "well-sorted", None, None, False, 1, 1),
        ("z3#7/z3_7_1.smt2", "read", 2, True, True, 0, 0),
    ]


def test_importing_twice_changes_nothing(tmp_path: Path, folder: Path) -> None:
    corpus, _ = imported(tmp_path, folder)
    with corpus:
        before = rows_of(corpus)
        report = import_paths(corpus, [folder, folder / "z3", folder / "z3" / "z3_7_0.smt2"])
        assert (report.files, report.new, report.known) == (10, 0, 10)
        assert rows_of(corpus) == before


def test_the_same_import_gives_the_same_ids(tmp_path: Path, folder: Path) -> None:
    shutil.copytree(folder, tmp_path / "copy" / "trackers")
    first, _ = imported(tmp_path, folder)
    with first, Corpus.open(tmp_path / "other", write=True) as second:
        import_paths(second, [tmp_path / "copy" / "trackers"])
        assert rows_of(first) == rows_of(second)


def test_a_changed_file_is_a_further_formula(tmp_path: Path, folder: Path) -> None:
    corpus, _ = imported(tmp_path, folder)
    with corpus:
        (folder / "z3" / "z3_7_0.smt2").write_text(GOOD + "(check-sat)")
        report = import_paths(corpus, [folder])
        assert (report.new, report.known) == (1, 4)
        assert corpus.scalar("select count(*) from formula where source = 'z3#7/z3_7_0.smt2'") == 2


def test_an_issue_that_was_mined_keeps_what_is_known_of_it(tmp_path: Path, folder: Path) -> None:
    from corpus.intake import Intake

    with Corpus.open(tmp_path / "c", write=True) as corpus:
        with corpus.transaction():
            intake = Intake(corpus)
            tracker = intake.add_tracker(Tracker("z3", "github"))
            intake.add_issues(tracker, [Issue("z3", 7, title="wrong answer")])
        import_paths(corpus, [folder])
        assert (
            corpus.scalar("select title from issue where number = 7 and tracker_id = ?", [tracker])
            == "wrong answer"
        )
        assert corpus.scalar("select kind from tracker where name = 'z3'") == "github"


def test_links_pipes_and_devices_in_folders_are_not_followed(tmp_path: Path, folder: Path) -> None:
    secret = tmp_path / "secret.smt2"
    secret.write_text(GOOD)
    (folder / "link.smt2").symlink_to(secret)
    (folder / "loop").symlink_to(folder)
    (folder / "dangling.smt2").symlink_to(tmp_path / "nothing")
    os.mkfifo(folder / "pipe.smt2")
    corpus, report = imported(tmp_path, folder)
    with corpus:
        assert report.files == 5
        assert sorted(Path(path).name for path, _ in report.skipped) == [
            "dangling.smt2",
            "link.smt2",
            "pipe.smt2",
        ]


def test_what_the_user_names_is_taken_even_as_a_link_or_with_another_ending(
    tmp_path: Path, folder: Path
) -> None:
    (tmp_path / "way").symlink_to(folder)
    (tmp_path / "bug.txt").write_text(GOOD)
    corpus, report = imported(tmp_path, tmp_path / "way", tmp_path / "bug.txt")
    with corpus:
        assert report.files == 6


def test_a_missing_path_is_the_users_mistake(tmp_path: Path) -> None:
    with (
        Corpus.open(tmp_path / "c", write=True) as corpus,
        pytest.raises(CorpusError, match="no file or folder"),
    ):
        import_paths(corpus, [tmp_path / "none"])


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"\x7fELF\0\0", "a binary file"),
        (b"(assert \xff\xfe)", "not utf-8 text: invalid start byte at offset 8"),
        (b"(" * 2001, "2001 bytes, more than the limit of 2000"),
        (b"\xff\xfe(\0x", "not utf-16-le text"),
    ],
)
def test_bytes_that_are_no_text_are_a_row_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, error: str
) -> None:
    monkeypatch.setattr(importer, "MAX_BYTES", 2000)
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.smt2").write_bytes(data)
    (folder / "b.smt2").write_text(GOOD)
    corpus, report = imported(tmp_path, folder)
    with corpus:
        [(status, found, text, size), good] = corpus.rows(
            "select status, error, text_id, bytes from formula order by id"
        )
        assert (status, text, size) == ("error", None, len(data))
        assert found.startswith(error)
        assert good[0] == "well-sorted"
        again = import_paths(corpus, [folder])
    assert (report.new, again.new) == (2, 0)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read_is_a_row_too(tmp_path: Path, folder: Path) -> None:
    (folder / "z3" / "z3_7_0.smt2").chmod(0)
    corpus, report = imported(tmp_path, folder)
    with corpus:
        assert report.errors == 2


def test_a_file_that_vanishes_meanwhile_is_a_row_too(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.open

    def opened(path: str | Path, *rest: int) -> int:
        if Path(path).name == "z3_7_0.smt2":
            raise FileNotFoundError(2, "No such file or directory")
        return real(path, *rest)

    monkeypatch.setattr(os, "open", opened)
    corpus, _ = imported(tmp_path, folder)
    with corpus:
        assert corpus.rows(
            "select error from formula where source like '%z3_7_0.smt2' and status = 'error'"
        ) == [("cannot be read: No such file or directory",)]


@pytest.mark.parametrize(
    "name", ["'; drop table text; --.smt2", "new\nline.smt2", "sp ace.smt2", "日本.smt2", "-rf.smt2"]
)
def test_odd_names_are_names(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / name).write_text(GOOD)
    corpus, _ = imported(tmp_path, folder)
    with corpus:
        assert corpus.rows("select path from formula") == [(name,)]


def test_a_name_that_is_no_unicode_is_spelt_out(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff.smt2")).write_text(GOOD)
    corpus, _ = imported(tmp_path, folder)
    with corpus:
        assert corpus.rows("select path from formula") == [("\\udcff.smt2",)]
        assert import_paths(corpus, [folder]).new == 0


def test_marks_and_utf_16_are_read() -> None:
    assert decode(b"\xef\xbb\xbf(exit)") == "(exit)"
    assert decode("\ufeff(exit)".encode("utf-16-le")) == "(exit)"


def test_each_new_formula_that_reads_is_decomposed_once(tmp_path: Path, folder: Path) -> None:
    progress: list[tuple[int, int]] = []
    with Corpus.open(tmp_path / "c", write=True) as corpus:
        for _ in range(2):
            import_paths(corpus, [folder], progress=lambda done, total: progress.append((done, total)))
        # The fifth has a sort error in its only assertion: nothing is left of it.
        assert corpus.rows("select id from formula where decomposed order by id") == [(1,), (3,), (4,), (5,)]
        assert corpus.rows("select formula_id from assertion order by id") == [(1,), (4,)]
        assert progress == [(5, 5)] * 2


def test_deep_and_broken_formulas_do_not_end_an_import(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.smt2").write_text("(assert " + "(not " * 20_000 + "true" + ")" * 20_001)
    (folder / "b.smt2").write_text("(" * 50_000)
    (folder / "c.smt2").write_text('(declare-datatypes ((A 0)) (((c (d A)))))(define-sort S () S)(assert "')
    corpus, _ = imported(tmp_path, folder)
    with corpus:
        statuses = corpus.values("select status from formula order by id")
    assert statuses == ["well-sorted", "error", "error"]


def test_a_fault_of_the_checker_is_recorded_and_not_fatal(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def faulty(script: object) -> object:
        raise KeyError("oops")

    monkeypatch.setattr("corpus.examine.check_script", faulty)
    corpus, report = imported(tmp_path, folder)
    with corpus:
        assert report.well_sorted == 0
        assert corpus.scalar("select error from formula where status = 'read' limit 1") == (
            "a bug in exhume: KeyError: 'oops'"
        )
