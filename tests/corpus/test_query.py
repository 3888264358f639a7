"""Own SQL and named queries: confined, bounded, in every format."""

from __future__ import annotations

import csv
import errno
import json
import time
from contextlib import closing
from io import StringIO
from pathlib import Path

import duckdb
import pytest
from rich.console import Console

from corpus import query as query_module
from corpus.errors import CorpusLocked, CorpusMissing, NotACorpus, QueryError, QueryTimeout
from corpus.importer import import_paths
from corpus.intake import Intake
from corpus.query import (
    _CONFINED,
    Format,
    Result,
    as_table,
    find_query,
    formatted,
    named_queries,
    parse_parameters,
    run_query,
    write_result,
)
from corpus.records import Tracker
from corpus.store import Corpus, connect, connect_current, open_database


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small corpus."""
    folder = tmp_path_factory.mktemp("in") / "z3"
    folder.mkdir()
    for number in range(30):
        (folder / f"z3_{number}_0.smt2").write_text(
            f"(declare-const x Int)(assert (> (+ x {number}) 0))(check-sat)"
        )
    (folder / "z3_5_1.smt2").write_text("(assert (bvadd")
    made = tmp_path_factory.mktemp("corpus") / "c.duckdb"
    with Corpus.open(made, write=True) as corpus:
        import_paths(corpus, [folder])
    return made


def test_rows_types_and_names_come_back(path: Path) -> None:
    result = run_query(path, "select id, source, id as id, 1.5::double as d from formula order by id limit 2")
    assert result.columns == ("id", "source", "id_2", "d")
    assert result.types == ("INTEGER", "VARCHAR", "INTEGER", "DOUBLE")
    assert result.rows == [(1, "z3#0/z3_0_0.smt2", 1, 1.5), (2, "z3#10/z3_10_0.smt2", 2, 1.5)]
    assert not result.truncated


def test_a_query_that_takes_long_prints_nothing(path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The progress of DuckDB 2 goes to standard output, where a result is."""
    shown = "select current_setting('enable_progress_bar')"
    with open_database() as memory, connect(path, read_only=True) as reading:
        assert memory.execute(shown).fetchall() == reading.execute(shown).fetchall() == [(False,)]
    slow = "select count(distinct (a.range * b.range) % 10007) from range(10000) a, range(3000) b"
    assert run_query(path, slow).rows == [(10007,)]
    assert capfd.readouterr().out == ""
    # Two connections at once, as a page has them.
    with (
        closing(connect_current(path, _CONFINED)),
        closing(connect_current(path, _CONFINED)) as second,
        pytest.raises(duckdb.Error, match="locked"),
    ):
        second.execute("set threads = 1")


@pytest.mark.parametrize(
    ("cap", "rows", "truncated"), [(30, 30, True), (31, 31, False), (None, 31, False), (0, 0, True)]
)
def test_the_row_cap_says_so(path: Path, cap: int | None, rows: int, truncated: bool) -> None:
    result = run_query(path, "from formula", max_rows=cap)
    assert (len(result.rows), result.truncated) == (rows, truncated)


def test_a_query_that_takes_too_long_is_stopped(path: Path) -> None:
    start = time.monotonic()
    with pytest.raises(QueryTimeout, match=r"not finish within 0\.3 s"):
        run_query(
            path,
            "select count(*) from range(10000000) a, range(10000000) b where a.range + b.range = 7",
            deadline=0.3,
        )
    assert time.monotonic() - start < 10


WRITES = """
insert into solver values (1, 'x', 'y')
update issue set title = 'x'
delete from formula
delete from formula returning id
drop table formula
create table t(i int)
create temp table t(i int)
create or replace view v as select 1
alter table issue add column x int
truncate formula
copy formula to 'FILE'
copy (select 1) to 'FILE' (format parquet)
export database 'FILE'
import database 'FILE'
attach 'FILE' as other
detach memory
checkpoint
vacuum
begin
set threads = 1
set enable_external_access = true
reset all
pragma threads = 1
install httpfs
load httpfs
call enable_logging(storage = 'file', storage_path = 'FILE')
prepare p as select 1
explain analyze insert into solver values (1, 'x', 'y')
select 1; select 2
select 1; drop table formula
""".strip().splitlines()


@pytest.mark.parametrize("sql", WRITES)
def test_writes_settings_and_several_statements_are_refused(path: Path, tmp_path: Path, sql: str) -> None:
    before = path.read_bytes()
    with pytest.raises(QueryError):
        run_query(path, sql.replace("FILE", str(tmp_path / "made")))
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "sql",
    [
        "select * from read_csv('FILE')",
        "select * from read_text('FILE')",
        "select * from read_blob('FILE')",
        "select * from read_json('FILE')",
        "select * from read_parquet('FILE')",
        "select * from 'FILE'",
        "select * from glob('FOLDER/*')",
        "from sniff_csv('FILE')",
        "select * from read_csv('/dev/stdin')",
        "select * from 'https://example.org/x.parquet'",
        "select * from duckdb_secrets()",
        "select * from frame",
    ],
)
def test_files_network_and_our_variables_are_out_of_reach(path: Path, tmp_path: Path, sql: str) -> None:
    (tmp_path / "secret.csv").write_text("a,b\nsecret,2\n")
    frame = [("secret",)]
    with pytest.raises(QueryError):
        run_query(path, sql.replace("FILE", str(tmp_path / "secret.csv")).replace("FOLDER", str(tmp_path)))
    assert frame


@pytest.mark.parametrize(
    "sql", ["", "-- nothing", "selekt 1", "select * from formulae", "select 1 +", "select 1/0 + 'x'"]
)
def test_wrong_sql_is_reported_as_the_users_mistake(path: Path, sql: str) -> None:
    with pytest.raises(QueryError):
        run_query(path, sql)


@pytest.mark.parametrize(
    "sql", ["show tables", "describe formula", "summarize issue", "explain select 1", "values (1)"]
)
def test_looking_around_is_allowed(path: Path, sql: str) -> None:
    assert run_query(path, sql).rows


def test_parameters_are_values_not_text(path: Path) -> None:
    sql = "select count(*) from formula where source = $s or id = $i"
    assert run_query(path, sql, {"s": "'; drop table formula; --", "i": "3"}).rows == [(1,)]
    assert run_query(path, "select $a + 1 as n, $b as t", parse_parameters(["a=1.5", "b=x=y"])).rows == [
        (2.5, "x=y")
    ]
    with pytest.raises(QueryError, match="needs a value for i"):
        run_query(path, sql, {"s": "x"})
    with pytest.raises(QueryError, match="no parameter z"):
        run_query(path, sql, {"s": "x", "i": 1, "z": 2})
    for wrong in ("novalue", "1=2", "=x"):
        with pytest.raises(QueryError, match="NAME=VALUE"):
            parse_parameters([wrong])


def test_what_is_no_corpus_is_reported(tmp_path: Path, path: Path) -> None:
    with pytest.raises(CorpusMissing):
        run_query(tmp_path / "none", "select 1")
    (tmp_path / "text").write_text("text" * 5000)
    with pytest.raises(NotACorpus):
        run_query(tmp_path / "text", "select 1")
    with Corpus.open(path, write=True), pytest.raises(CorpusLocked, match="already open in this process"):
        run_query(path, "select 1")


# Named queries


def test_named_queries_answer(path: Path) -> None:
    found = run_query(path, find_query("formulas-with"), {"operators": " + , > "})
    assert len(found.rows) == 30
    assert run_query(path, find_query("formulas-with"), {"operators": "+,bvadd"}).rows == []
    [row] = run_query(path, find_query("unreadable"), {"status": "error"}).rows
    assert row[0] == "z3#5/z3_5_1.smt2"
    assert [r[0:2] for r in run_query(path, find_query("theories")).rows] == [("z3", "Core"), ("z3", "Ints")]


def test_issues_with_several_formulas_count_once(path: Path) -> None:
    assert run_query(path, find_query("bug-classes")).rows == [("z3", None, 30, 31, None)]
    assert run_query(path, find_query("bug-classes"), {"tracker": "cvc5"}).rows == []


def test_wrong_names_and_parameters_are_reported_with_help(path: Path) -> None:
    with pytest.raises(QueryError, match="did you mean formulas-with"):
        find_query("formula-with")
    with pytest.raises(QueryError, match="did you mean rules-by-lift or rules-new-since"):
        find_query("rules")
    with pytest.raises(QueryError, match="--list"):
        find_query("qqq")
    query = find_query("formulas-with")
    with pytest.raises(QueryError, match="needs operators; for example: exhume query formulas-with"):
        run_query(path, query)
    with pytest.raises(QueryError, match="no parameter operator; it has operators"):
        run_query(path, query, {"operator": "+"})
    with pytest.raises(QueryError, match="expected integer for support, got 'many'"):
        run_query(path, find_query("rules-by-lift"), {"support": "many"})


def test_a_malformed_header_is_our_own_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bad.sql").write_text(
        "-- about: X.\n--   More.\n-- parameter: nonsense\n-- example: e\nselect 1"
    )
    monkeypatch.setattr(query_module, "QUERIES", tmp_path)
    with pytest.raises(RuntimeError, match=r"bad\.sql.*nonsense"):
        named_queries()


# Formats

SAMPLE = """
select 1 as i, null as n, 'a"b,c' || chr(10) || 'd' as s, [1, null] as l, {'k': 'v'} as st, map {'a': 1} as m,
    timestamp '2020-01-02 03:04:05' as ts, date '2020-01-02' as d, time '01:02:03' as t,
    interval 90 seconds as iv,
    'nan'::double as nan, 1.25::decimal(5, 2) as dec, 2::decimal(5, 0) as whole, 'ab'::blob as b, true as yes,
    170141183460469231731687303715884105727::hugeint as h, 'é' as u,
    uuid '00000000-0000-0000-0000-000000000001' as id
union all
select 2, null, '', [], null, null, null, null, null, null, 0.1, null, null, null, false, 0, '', null
"""


def text_of(result: Result, form: query_module.Format) -> str:
    return "".join(formatted(result, form))


def test_json_is_a_list_of_objects_and_ndjson_an_object_a_line(path: Path) -> None:
    result = run_query(path, SAMPLE)
    rows = json.loads(text_of(result, "json"))
    assert rows == [json.loads(line) for line in text_of(result, "ndjson").splitlines()]
    assert rows[0] == {
        **{"i": 1, "n": None, "s": 'a"b,c\nd', "l": [1, None], "st": {"k": "v"}, "m": {"a": 1}},
        **{"ts": "2020-01-02T03:04:05", "d": "2020-01-02", "t": "01:02:03", "iv": 90.0, "nan": None},
        **{"dec": 1.25, "whole": 2, "b": "6162", "yes": True, "h": 2**127 - 1, "u": "é"},
        "id": "00000000-0000-0000-0000-000000000001",
    }
    assert text_of(run_query(path, "from formula where false"), "json") == "[]\n"
    assert text_of(run_query(path, "from formula where false"), "ndjson") == ""


def test_csv_reads_back(path: Path) -> None:
    header, first, second = csv.reader(StringIO(text_of(run_query(path, SAMPLE), "csv")))
    assert header[:3] == ["i", "n", "s"]
    assert first[:6] == ["1", "", 'a"b,c\nd', "[1, null]", '{"k": "v"}', '{"a": 1}']
    assert second[10] == "0.1"
    assert (first[14], second[14]) == ("true", "false")


def test_parquet_reads_back(path: Path, tmp_path: Path) -> None:
    file = tmp_path / "it's.parquet"
    result = run_query(path, SAMPLE)
    write_result(result, file)
    with duckdb.connect() as memory:
        cursor = memory.execute(f"from read_parquet('{str(file).replace(chr(39), chr(39) * 2)}') order by i")
        rows = cursor.fetchall()
        assert [d[0] for d in cursor.description] == list(result.columns)
    assert [row[:4] for row in rows] == [row[:4] for row in result.rows]
    assert rows[0][6] == result.rows[0][6]
    write_result(run_query(path, 'select id as "a ""b" from formula where false'), file)
    assert [p.name for p in tmp_path.iterdir()] == [file.name]


@pytest.mark.parametrize("form", ["parquet", "csv", "json", "ndjson"])
@pytest.mark.parametrize("target", ["no/folder/x.parquet", "s3://bucket/x.parquet", ""])
def test_results_go_to_local_files_only(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str, form: Format
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(QueryError, match="cannot write"):
        write_result(run_query(path, "select 1 as a"), target, form)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_named_in_words(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    result = run_query(path, "select 1 as a")
    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(QueryError, match=r"cannot write .*x\.csv: No space left on device$"):
        write_result(result, tmp_path / "x.csv", "csv")
    assert list(tmp_path.glob("*.csv")) == []


def test_the_table_obeys_no_text_from_a_tracker(path: Path) -> None:
    result = run_query(
        path, "select chr(27) || '[31mred[bold]' || chr(10) || 'x' as t, repeat('y', 200) as long, 12 as n"
    )
    console = Console(width=200, file=StringIO(), force_terminal=True, no_color=True)
    console.print(as_table(result))
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert "\ufffd[31mred[bold]⏎x" in shown
    assert "y" * 77 + "..." in shown
    assert "y" * 78 not in shown


def test_a_reader_does_not_disturb_other_readers(path: Path) -> None:
    with Corpus.open(path) as corpus:
        assert corpus.scalar("select count(*) from formula") == 31
    assert run_query(path, "select count(*) from formula").rows == [(31,)]


def test_text_formats_only(path: Path) -> None:
    with pytest.raises(QueryError, match="parquet"):
        text_of(run_query(path, "select 1"), "parquet")


def test_a_tracker_name_is_a_value(tmp_path: Path) -> None:
    with Corpus.open(tmp_path / "c", write=True) as corpus, corpus.transaction():
        Intake(corpus).add_tracker(Tracker("x'; drop table issue; --"))
        assert corpus.scalar("select count(*) from issue") == 0
