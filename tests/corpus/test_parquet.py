"""A corpus as Parquet and back."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from corpus import parquet, schema
from corpus.errors import CorpusError, SchemaMismatch
from corpus.importer import import_paths
from corpus.learn import learn
from corpus.learned import fingerprint
from corpus.parquet import export_parquet, import_parquet, read_manifest
from corpus.store import Corpus, connect
from tests.miner.mining_help import contents


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "z3"
    folder.mkdir()
    for number in range(12):
        text = f"(declare-const x Int)(assert (or (> x {number}) (< x 0)))(assert (= x {number}))"
        (folder / f"z3_{number}_0.smt2").write_text(text)
    with Corpus.open(tmp_path / "c", write=True) as corpus:
        import_paths(corpus, [folder])
        learn(corpus)
    return tmp_path / "c"


def unclosed(file: Path, read_only: bool) -> duckdb.DuckDBPyConnection:
    """A connection whose end leaves everything in the log, as on a full disk."""
    connection = connect(file, read_only)
    connection.execute("pragma disable_checkpoint_on_shutdown")
    return connection


def test_what_is_exported_comes_back_the_same(
    tmp_path: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "connect", unclosed)
    with Corpus.open(path) as corpus:
        manifest = export_parquet(corpus, tmp_path / "it's out")
        name = fingerprint(corpus)
    assert manifest == read_manifest(tmp_path / "it's out")
    assert manifest.tables["formula"] == 12
    assert manifest.tables["rule"] > 0
    assert import_parquet(tmp_path / "it's out", tmp_path / "again") == manifest
    assert contents(tmp_path / "again") == contents(path)
    with Corpus.open(tmp_path / "again", write=True) as corpus:
        assert fingerprint(corpus) == name
        assert import_paths(corpus, [tmp_path / "z3"]).new == 0
    with duckdb.connect() as other:
        file = str(tmp_path / "it's out" / "formula.parquet").replace("'", "''")
        assert other.execute(f"select count(*) from '{file}'").fetchone() == (12,)
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(".")]


def test_nothing_is_written_over(tmp_path: Path, path: Path) -> None:
    with Corpus.open(path) as corpus:
        (tmp_path / "out").mkdir()
        with pytest.raises(CorpusError, match="exists already"):
            export_parquet(corpus, tmp_path / "out")
        with pytest.raises(CorpusError, match="no folder"):
            export_parquet(corpus, tmp_path / "no" / "out")
        export_parquet(corpus, tmp_path / "new")
    with pytest.raises(CorpusError, match="exists already"):
        import_parquet(tmp_path / "new", path)
    with pytest.raises(CorpusError, match=f"cannot create {tmp_path}/no/c: there is no folder"):
        import_parquet(tmp_path / "new", tmp_path / "no" / "c")


@pytest.mark.parametrize("manifest", [None, "{", "[]", '{"format": "other"}', '{"format": "exhume-corpus"}'])
def test_what_is_no_export_is_reported(tmp_path: Path, manifest: str | None) -> None:
    if manifest is not None:
        (tmp_path / "manifest.json").write_text(manifest)
    why = ".*" if manifest else "it has no manifest.json; name the --out folder of 'exhume corpus export'"
    with pytest.raises(CorpusError, match=f"not an exported corpus: {why}"):
        import_parquet(tmp_path, tmp_path / "c")
    assert not (tmp_path / "c").exists()


def test_places_that_are_no_folders_are_reported_without_numbers(tmp_path: Path, path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CorpusError, match=r"file is not an exported corpus: Not a directory\Z"):
        import_parquet(tmp_path / "file", tmp_path / "c")
    with pytest.raises(CorpusError, match=r"none is not an exported corpus: No such file or directory\Z"):
        import_parquet(tmp_path / "none", tmp_path / "c")
    with Corpus.open(path) as corpus, pytest.raises(CorpusError, match="there is no folder"):
        export_parquet(corpus, tmp_path / "file" / "out")


@pytest.mark.parametrize("harm", ["missing", "junk", "rows", "references"])
@pytest.mark.few(2)
def test_a_damaged_export_makes_no_corpus(tmp_path: Path, path: Path, harm: str) -> None:
    out = tmp_path / "out"
    with Corpus.open(path) as corpus:
        export_parquet(corpus, out)
    if harm == "missing":
        (out / "atom.parquet").unlink()
    elif harm == "junk":
        (out / "atom.parquet").write_bytes(b"junk")
    else:
        said = json.loads((out / "manifest.json").read_text())
        said["tables"]["issue"] = 11 if harm == "references" else 5
        (out / "manifest.json").write_text(json.dumps(said))
        if harm == "references":
            file = out / "issue.parquet"
            with duckdb.connect() as memory:
                memory.execute(f"create table issue as from '{file}' where id > 1")
                memory.execute(f"copy issue to '{file}'")
    with pytest.raises(CorpusError, match="damaged") as caught:
        import_parquet(out, tmp_path / "made")
    assert "\n" not in str(caught.value)
    assert not [p for p in tmp_path.iterdir() if "made" in p.name]


def test_an_export_of_another_schema_is_reported(tmp_path: Path, path: Path) -> None:
    with Corpus.open(path) as corpus:
        export_parquet(corpus, tmp_path / "out")
    said = json.loads((tmp_path / "out" / "manifest.json").read_text())
    said["schema"] = len(schema.migrations()) + 1
    (tmp_path / "out" / "manifest.json").write_text(json.dumps(said))
    with pytest.raises(SchemaMismatch):
        import_parquet(tmp_path / "out", tmp_path / "c2")
