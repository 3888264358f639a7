"""Exports: the same bytes each time, readable as SQL, described by Croissant metadata."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from pathlib import Path

import duckdb
import msgspec
import pytest

from difftest.bugs.exporting import export
from difftest.bugs.records import BUGS, BUNDLED, UNVERIFIED, Benchmark, write_records
from difftest.errors import BadOutput


@pytest.fixture
def few(tmp_path: Path) -> Benchmark:
    """Three bugs and two triggers without a pair of the bundled benchmark, with some odd fields."""
    bundled = Benchmark(BUNDLED)
    first, *rest = list(bundled.bugs.values())[:3]
    (tmp_path / "few").mkdir()
    odd = msgspec.structs.replace(first, evidence=('a "quoted" | reason',), issue=None, sources=())
    write_records(tmp_path / "few" / BUGS, [odd, *rest])
    newer = msgspec.structs.replace(bundled.unverified[0], reason="of another version")
    write_records(tmp_path / "few" / UNVERIFIED, [newer, bundled.unverified[1]])
    return Benchmark(tmp_path / "few")


def test_the_same_benchmark_gives_the_same_bytes(few: Benchmark, tmp_path: Path) -> None:
    sums = export(few, tmp_path / "one")
    assert export(few, tmp_path / "two") == sums
    for line in (tmp_path / "two" / "SHA256SUMS").read_text().splitlines():
        digest, _, name = line.partition("  ")
        assert hashlib.sha256((tmp_path / "one" / name).read_bytes()).hexdigest() == digest
    assert len(sums) == 6


def test_parquet_and_sqlite_hold_the_same(few: Benchmark, tmp_path: Path) -> None:
    export(few, tmp_path / "out")
    sql = 'select id, "class", last_bad, first_good, text from {} order by id'
    parquet = duckdb.sql(sql.format(f"'{tmp_path / 'out' / 'bug.parquet'}'")).fetchall()
    with sqlite3.connect(tmp_path / "out" / "bugs.sqlite") as opened:
        assert opened.execute(sql.format("bug")).fetchall() == parquet
        runs = opened.execute("select count(*) from run").fetchone()[0]
    bugs = few.bugs.values()
    assert parquet == [(b.id, b.finding_class, b.last_bad, b.first_good, b.text) for b in bugs]
    assert runs == sum(len(bug.strip) for bug in bugs)


def test_the_metadata_names_every_column_and_file(few: Benchmark, tmp_path: Path) -> None:
    export(few, tmp_path / "out")
    document = json.loads((tmp_path / "out" / "croissant.json").read_text())
    for entry in document["distribution"]:
        data = (tmp_path / "out" / entry["contentUrl"]).read_bytes()
        assert hashlib.sha256(data).hexdigest() == entry["sha256"]
    for record in document["recordSet"]:
        rows = duckdb.sql(f"describe from '{tmp_path / 'out' / record['name']}.parquet'").fetchall()
        assert [field["name"] for field in record["field"]] == [row[0] for row in rows]
    assert "| z3 |" in (tmp_path / "out" / "README.md").read_text()


def test_mlcroissant_accepts_the_metadata(few: Benchmark, tmp_path: Path) -> None:
    mlcroissant = pytest.importorskip("mlcroissant")
    export(few, tmp_path / "out")
    dataset = mlcroissant.Dataset(str(tmp_path / "out" / "croissant.json"))
    assert not dataset.metadata.ctx.issues.errors
    assert {record.name for record in dataset.metadata.record_sets} == {"bug", "run", "unverified"}


def test_a_folder_that_exists_is_left_alone(few: Benchmark, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(BadOutput, match="exists already: name a new folder"):
        export(few, tmp_path / "out")
    with pytest.raises(BadOutput, match="cannot write"):
        export(few, tmp_path / "no" / "such" / "folder")
