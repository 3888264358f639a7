"""The corpus file: opening, versions, transactions, ids, texts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from corpus import schema
from corpus.errors import (
    CorpusDamaged,
    CorpusError,
    CorpusLocked,
    CorpusMissing,
    NotACorpus,
    ReadOnly,
    SchemaMismatch,
)
from corpus.query import run_query
from corpus.store import Corpus

ROOT = Path(__file__).resolve().parents[2]


def catalogue(connection: duckdb.DuckDBPyConnection) -> list[tuple[object, ...]]:
    tables = connection.execute("select table_name, sql from duckdb_tables() order by 1").fetchall()
    views = connection.execute(
        "select view_name, sql from duckdb_views() where not internal order by 1"
    ).fetchall()
    indexes = connection.execute("select index_name, sql from duckdb_indexes() order by 1").fetchall()
    return tables + views + indexes


def run_python(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def test_schema_file_is_what_the_migrations_add_up_to() -> None:
    with duckdb.connect() as written, duckdb.connect() as migrated:
        written.execute(schema.SCHEMA.read_text())
        schema.migrate(migrated, Path("x"))
        assert catalogue(written) == catalogue(migrated)


def test_migrations_are_recorded_with_names_and_times(tmp_path: Path) -> None:
    with Corpus.open(tmp_path / "c", write=True) as corpus:
        rows = corpus.rows("select number, name, applied_at is not null from migration order by number")
    assert rows == [(m.number, m.name, True) for m in schema.migrations()]


def test_an_older_corpus_is_brought_up_to_date_unless_another_process_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "c"
    Corpus.open(path, write=True).close()
    steps = tmp_path / "migrations"
    steps.mkdir()
    for file in schema.MIGRATIONS.glob("*.sql"):
        (steps / file.name).write_text(file.read_text())
    number = len(schema.migrations()) + 1
    (steps / f"{number:04}_more.sql").write_text(
        "alter table issue add column mood varchar; create table extra(id int);"
    )
    monkeypatch.setattr(schema, "MIGRATIONS", steps)
    reader = "import duckdb, sys; c = duckdb.connect(sys.argv[1], read_only=True); print(flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", reader, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(SchemaMismatch, match="older") as caught:
            Corpus.open(path)
        assert (caught.value.found, caught.value.known) == (number - 1, number)
        other.communicate(b"\n")
    first = tmp_path / "first"
    first.write_bytes(path.read_bytes())
    assert run_query(first, "select mood from issue").rows == []
    with Corpus.open(path) as corpus:
        assert corpus.rows("select mood from issue") == []
    monkeypatch.undo()
    for write in (False, True):
        with pytest.raises(SchemaMismatch, match="upgrade exhume"):
            Corpus.open(path, write=write)


def test_a_failing_migration_leaves_the_corpus_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "c"
    Corpus.open(path, write=True).close()
    known = schema.migrations()
    broken = schema.Migration(len(known) + 1, "broken", "create table extra(id int); select * from nothing;")
    monkeypatch.setattr(schema, "migrations", lambda: [*known, broken])
    with pytest.raises(CorpusError):
        Corpus.open(path, write=True)
    monkeypatch.undo()
    with Corpus.open(path) as corpus:
        assert corpus.scalar("select count(*) from duckdb_tables() where table_name = 'extra'") == 0


def test_a_gap_in_the_migrations_is_our_own_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "0002_late.sql").write_text("")
    monkeypatch.setattr(schema, "MIGRATIONS", tmp_path)
    with pytest.raises(RuntimeError, match="0002_late"):
        schema.migrations()


def test_reading_a_missing_corpus_says_so(tmp_path: Path) -> None:
    with pytest.raises(CorpusMissing, match="there is no corpus"):
        Corpus.open(tmp_path / "none")
    with pytest.raises(CorpusMissing, match="no folder"):
        Corpus.open(tmp_path / "no" / "folder", write=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")
def test_a_place_that_cannot_be_written_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    for path in ("/proc/c", "proc/c"):
        with pytest.raises(CorpusError, match=rf'cannot create the corpus {path}: .*"/proc/c"'):
            Corpus.open(path, write=True)


def test_a_full_disk_at_the_start_makes_no_corpus(tmp_path: Path) -> None:
    code = """
import resource, sys
from corpus.query import run_query
from corpus.store import Corpus
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
Corpus.open(sys.argv[1], write=True)
"""
    assert "StorageFull" in run_python(code, tmp_path / "c").stderr
    assert list(tmp_path.iterdir()) == []


def test_making_it_where_links_are_not_possible(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    Corpus.open(tmp_path / "c", write=True).close()
    assert [p.name for p in tmp_path.iterdir()] == ["c"]


def test_one_that_another_process_makes_meanwhile_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.link

    def late(source: Path, target: Path) -> None:
        real(source, target)
        with duckdb.connect(str(target)) as other:
            other.execute("insert into solver values (1, 'mine', '1')")
        real(source, target)

    monkeypatch.setattr(os, "link", late)
    with Corpus.open(tmp_path / "c", write=True) as corpus:
        assert corpus.scalar("select spec from solver") == "mine"


@pytest.mark.parametrize("write", [False, True])
def test_a_file_that_is_no_database_is_refused_and_kept(tmp_path: Path, write: bool) -> None:
    path = tmp_path / "c"
    path.write_text("(check-sat)" * 1000)
    with pytest.raises(NotACorpus, match="not a DuckDB file"):
        Corpus.open(path, write=write)
    assert path.read_text() == "(check-sat)" * 1000
    with pytest.raises(NotACorpus):
        Corpus.open(tmp_path, write=write)


@pytest.mark.parametrize("write", [False, True])
def test_a_database_of_another_program_is_refused_and_kept(tmp_path: Path, write: bool) -> None:
    path = tmp_path / "c"
    with duckdb.connect(str(path)) as other:
        other.execute("create table invoices(id int)")
    with pytest.raises(NotACorpus, match="not a corpus of exhume"):
        Corpus.open(path, write=write)
    with duckdb.connect(str(path)) as other:
        assert other.execute("select count(*) from duckdb_tables()").fetchone() == (1,)


def test_verify_names_the_tables_that_a_damaged_file_lacks(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    with Corpus.open(whole, write=True) as corpus, corpus.transaction():
        corpus.add_texts(f"(assert (> x {number}))" for number in range(1000))
    found = set()
    for place in range(20_000, whole.stat().st_size, 1 << 18):
        path = tmp_path / f"at{place}"
        data = bytearray(whole.read_bytes())
        data[place : place + 6] = b"damage"
        path.write_bytes(data)
        try:
            with Corpus.open(path) as corpus:
                found.update(corpus.verify())
        except CorpusDamaged as damaged:
            assert str(damaged).startswith(f"{path} is damaged (a part does not match its checksum): ")
    assert "table text cannot be read" in found


@pytest.mark.parametrize("write", [False, True])
def test_an_empty_file_is_refused_and_kept(tmp_path: Path, write: bool) -> None:
    path = tmp_path / "c"
    path.touch()
    with pytest.raises(NotACorpus, match="c is not a corpus: the file is empty; delete it"):
        Corpus.open(path, write=write)
    assert [(p.name, p.stat().st_size) for p in tmp_path.iterdir()] == [("c", 0)]


def test_a_corpus_held_by_another_process_names_the_process(tmp_path: Path) -> None:
    path = tmp_path / "c"
    code = "import sys; from corpus.store import Corpus\nCorpus.open(sys.argv[1], sys.argv[2] == 'w')"
    with Corpus.open(path, write=True):
        for mode in "rw":
            failed = run_python(code, path, mode)
            assert f"in use by process {os.getpid()}" in failed.stderr
            assert "CorpusLocked" in failed.stderr
    with Corpus.open(path):
        assert run_python(code, path, "r").returncode == 0
        assert "CorpusLocked" in run_python(code, path, "w").stderr


def test_waiting_for_the_holder_to_end(tmp_path: Path) -> None:
    path = tmp_path / "c"
    code = (
        "import sys, time; from corpus.store import Corpus\n"
        "with Corpus.open(sys.argv[1], True): print('held', flush=True); sys.stdin.read(); time.sleep(0.3)"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", code, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    ) as holder:
        assert holder.stdin is not None and holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(CorpusLocked) as caught:
            Corpus.open(path)
        assert caught.value.pid == holder.pid
        holder.stdin.close()
        Corpus.open(path, write=True, wait=10).close()


def test_writes_need_a_transaction_of_a_writer(tmp_path: Path) -> None:
    path = tmp_path / "c"
    with Corpus.open(path, write=True) as corpus, pytest.raises(ReadOnly, match="outside"):
        corpus.insert("solver", ("id", "spec", "version"), [(1, "z3", "5")])
    with Corpus.open(path) as corpus, pytest.raises(ReadOnly, match="for reading"), corpus.transaction():
        pass


def test_an_undone_transaction_leaves_nothing_and_gives_its_ids_again(tmp_path: Path) -> None:
    with Corpus.open(tmp_path / "c", write=True) as corpus:
        with pytest.raises(ZeroDivisionError), corpus.transaction():
            assert corpus.add_texts(["a", "b", "a"]) == [1, 2, 1]
            with corpus.transaction():
                assert corpus.add_texts(["c"]) == [3]
            raise ZeroDivisionError
        assert corpus.rows("select * from text") == []
        with corpus.transaction():
            assert corpus.add_texts(["b", "c"]) == [1, 2]
        with corpus.transaction():
            assert corpus.add_texts(["c", "d"]) == [2, 3]
        assert corpus.scalar("select body from text where id = 3") == "d"


@pytest.mark.parametrize(
    "text", ["", "\0", "'; drop table text; --", "\ud800 lone", "é\r\n\u2028", "𝛼" * 9, "\\ud800"]
)
def test_texts_of_every_kind_come_back(tmp_path: Path, text: str) -> None:
    with Corpus.open(tmp_path / "c", write=True) as corpus:
        with corpus.transaction():
            [ident] = corpus.add_texts([text])
        assert corpus.scalar("select body from text where id = ?", [ident]) == text.replace(
            "\ud800", "\\ud800"
        )
        assert corpus.verify() == []


def test_rows_of_every_type_come_back(tmp_path: Path) -> None:
    path = tmp_path / "c"
    rows = [(1, False, "x", ["a", "b'"], None, 1.0, '{"k":[1]}'), (2, None, None, [], 2.5, None, None)]
    with Corpus.open(path, write=True) as corpus, corpus.transaction():
        corpus.execute(
            "create table t(i integer, b boolean, s varchar, l varchar[], n double, d double, j json)"
        )
    with Corpus.open(path, write=True) as corpus:
        with corpus.transaction():
            corpus.insert("t", tuple("ibslndj"), rows)
            corpus.insert("t", ("i",), [])
        assert corpus.rows("select * from t order by i") == rows


def test_verify_finds_references_to_nothing(tmp_path: Path) -> None:
    with Corpus.open(tmp_path / "c", write=True) as corpus:
        assert len(corpus.references()) > 40
        assert {r.target for r in corpus.references()} >= {
            "text",
            "issue",
            "formula",
            "signature",
            "rule_set",
        }
        with corpus.transaction():
            corpus.execute("insert into assertion values (1, 77, 0, 5, null)")
            corpus.execute("insert into text values (1, 'abc', 1, 'x')")
        assert corpus.verify() == [
            "1 rows of assertion refer to a missing formula",
            "1 rows of assertion refer to a missing skeleton",
            "1 texts do not match their hash",
        ]


def test_a_full_disk_is_reported_and_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "c"
    code = """
import resource, sys
from corpus.query import run_query
from corpus.store import Corpus
from corpus.errors import StorageFull
corpus = Corpus.open(sys.argv[1], write=True)
with corpus.transaction():
    corpus.add_texts(["kept"])
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
try:
    for n in range(200):
        with corpus.transaction():
            corpus.add_texts([str(n * 1000 + i) * 500 for i in range(100)])
except StorageFull as error:
    print("full:", error)
corpus.close()
"""
    done = run_python(code, path, 6 << 20)
    assert "full: no room left to write" in done.stdout, done
    with Corpus.open(path, write=True) as corpus:
        assert corpus.scalar("select body from text where id = 1") == "kept"
        assert corpus.verify() == []
