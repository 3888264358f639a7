"""import, learn, stats and query."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from pathlib import Path
from typing import Any

import duckdb
import pytest

from corpus.store import Corpus

STATS = (
    "issues blocks formulas formulas_read formulas_well_sorted assertions skeletons atoms signatures rules"
)
UNREADABLE = "exhume query unreadable --corpus"


def test_import_prints_counts_and_the_next_command(exhume: Any, formulas: Path, tmp_path: Path) -> None:
    ended = exhume("import", formulas, "--corpus", tmp_path / "c.duckdb")
    assert ended.code == 0
    assert (
        "3 files: 3 new (3 well sorted, 0 with a sort error, 0 not readable), 0 already imported" in ended.out
    )
    assert "exhume learn" in ended.said


def test_an_import_of_nothing_is_refused_and_makes_no_corpus(exhume: Any, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "a.txt").write_text("(check-sat)")
    corpus = tmp_path / "c.duckdb"
    ended = exhume("import", tmp_path / "none", "--corpus", corpus)
    assert (ended.code, corpus.exists()) == (2, False)
    assert (
        ended.err
        == f"exhume: there are no .smt2 files in {tmp_path / 'none'}: name files, or folders of them\n"
    )


def test_an_import_says_how_to_find_out_about_errors(exhume: Any, tmp_path: Path) -> None:
    (tmp_path / "a.smt2").write_text("(assert (> x 1))(check-sat)")
    ended = exhume("import", tmp_path, "--corpus", tmp_path / "c.duckdb")
    assert "1 file: 1 new (0 well sorted, 1 with a sort error" in ended.out
    assert f"where the errors are: {UNREADABLE} {tmp_path / 'c.duckdb'}" in ended.err


def test_importing_twice_changes_nothing(exhume: Any, formulas: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "c.duckdb"
    first = exhume("import", formulas, "--corpus", corpus, "--json").json
    before = exhume("stats", "--corpus", corpus, "--json").json
    second = exhume("import", formulas, "--corpus", corpus, "--json").json
    assert (first["new"], second["new"], second["known"]) == (3, 0, 3)
    assert exhume("stats", "--corpus", corpus, "--json").json == before


def test_tracker_and_issue_are_read_off_the_path(exhume: Any, formulas: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "c.duckdb"
    exhume("import", formulas, "--corpus", corpus)
    sql = "select distinct tracker, issue from formula_provenance"
    assert exhume("query", sql, "--corpus", corpus, "--json").json == [{"tracker": "z3", "issue": 1014}]


def test_the_tracker_can_be_named(exhume: Any, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "x.smt2").write_text("(assert true)(check-sat)")
    corpus = tmp_path / "c.duckdb"
    exhume("import", tmp_path / "plain", "--corpus", corpus, "--tracker", "mine")
    rows = exhume("query", "select name from tracker", "--corpus", corpus, "--json").json
    assert rows == [{"name": "mine"}]


def test_learn_fills_the_corpus(exhume: Any, formulas: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "c.duckdb"
    exhume("import", formulas, "--corpus", corpus)
    ended = exhume("learn", "--corpus", corpus, "--min-support", "2")
    assert ended.code == 0
    assert "3 skeletons" in ended.out
    accepted = "select count(*) as n from acceptance where accepted"
    assert exhume("query", accepted, "--corpus", corpus, "--json").json == [{"n": 6}]


def test_learn_says_which_limit_left_no_rules(exhume: Any, tmp_path: Path) -> None:
    for number in range(4):
        text = "(declare-const x Int)(assert (> x 1))"
        text += "(declare-const y Real)(assert (< y 2.0))" if number < 2 else "(assert (= x x))"
        (tmp_path / f"{number}.smt2").write_text(text)
    corpus = tmp_path / "c.duckdb"
    exhume("import", tmp_path, "--corpus", corpus)
    learn = ("learn", "--corpus", corpus, "--no-probe")
    assert (
        "no rules: no two signatures occur together in 3 formulas; try"
        in exhume(*learn, "--min-support", 3).err
    )
    (tmp_path / "4.smt2").write_text("(declare-const y Real)(assert (< y 2.0))(assert (= y y))")
    (tmp_path / "5.smt2").write_text(
        "(declare-const x Int)(assert (= x x))(declare-const y Real)(assert (= y y))"
    )
    exhume("import", tmp_path, "--corpus", corpus)
    said = exhume(*learn, "--min-support", 2, "--min-confidence", 0.9).err
    assert "none implies another in 90% of its formulas; try a lower --min-confidence" in said
    assert "no rules" not in exhume(*learn, "--min-support", 2).err


def test_learning_nothing_does_not_recommend_a_hunt(exhume: Any, tmp_path: Path) -> None:
    (tmp_path / "a.smt2").write_text("(check-sat)")
    corpus = tmp_path / "c.duckdb"
    exhume("import", tmp_path, "--corpus", corpus)
    ended = exhume("learn", "--corpus", corpus, "--no-probe")
    assert (ended.code, "exhume hunt" in ended.err) == (0, False)
    assert (
        f"to make tests from: import formulas with assertions; those with errors: {UNREADABLE} {corpus}"
        in ended.err
    )


def test_learn_as_json_has_the_totals(exhume: Any, formulas: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "c.duckdb"
    exhume("import", formulas, "--corpus", corpus)
    document = exhume("learn", "--corpus", corpus, "--no-probe", "--json").json
    assert set(STATS.split()) <= set(document)


@pytest.mark.thorough
def test_select_keeps_the_formulas_over_some_theories_with_their_issues(
    exhume: Any, starter: Path, tmp_path: Path
) -> None:
    path = tmp_path / "strings.duckdb"
    select = ("corpus", "select", "--corpus", starter, "--theories")
    ended = exhume(*select, "UnicodeStrings,Ints", "--out", path)
    assert (ended.code, ended.err) == (0, f"next: exhume learn --corpus {path}\n")
    theories = "select distinct unnest(theories) as t from formula order by t"
    names = [row["t"] for row in exhume("query", theories, "--corpus", path, "--json").json]
    assert names == ["Core", "Ints", "UnicodeStrings"]
    count = "select count(*) as n from current_formula where list_contains(theories, 'UnicodeStrings')"
    (kept,) = exhume("query", count, "--corpus", path, "--json").json
    assert f"{path}: {kept['n']} of " in ended.out
    issues = "select count(distinct issue_id) as n from formula"
    (behind,) = exhume("query", issues, "--corpus", path, "--json").json
    stats = exhume("stats", "--corpus", path, "--json").json
    assert (stats["formulas"], stats["issues"]) == (kept["n"], behind["n"])
    assert stats["blocks"] > 0
    assert exhume("corpus", "verify", "--corpus", path).code == 0
    assert exhume("learn", "--corpus", path, "--min-support", 2, "--no-probe").code == 0
    assert exhume("generate", "--corpus", path, "--count", 20, "--out", tmp_path / "tests").code == 0
    tests = [test.read_text() for test in (tmp_path / "tests").glob("*.smt2")]
    assert all("; issues exhume/starter#" in test for test in tests)
    assert not any(re.search("BitVec|Array|Real|FloatingPoint", test) for test in tests)


@pytest.mark.parametrize(
    ("theories", "said"),
    [
        ("Strings", "has no theory 'Strings'; did you mean UnicodeStrings?"),
        ("QF_S", "has no theory 'QF_S'; it has ArraysEx, "),
        ("Sequences", "no formula uses Sequences and at most Core besides; see 'exhume query theories'"),
        (",", "name a theory with --theories"),
    ],
)
def test_a_selection_of_nothing_is_refused(
    exhume: Any, starter: Path, tmp_path: Path, theories: str, said: str
) -> None:
    ended = exhume(
        "corpus", "select", "--corpus", starter, "--theories", theories, "--out", tmp_path / "s.duckdb"
    )
    assert (ended.code, said in " ".join(ended.err.split())) == (2, True), ended.err
    assert list(tmp_path.iterdir()) == []


def test_stats_has_the_keys_of_the_design(exhume: Any, starter: Path) -> None:
    document = exhume("stats", "--corpus", starter, "--json").json
    assert set(STATS.split()) <= set(document)
    assert all(isinstance(count, int) for count in document.values())
    assert document["skeletons"] > 0
    shown = exhume("stats", "--corpus", starter).out
    assert f"{document['formulas']}" in shown


@pytest.mark.thorough
def test_every_named_query_runs(exhume: Any, starter: Path) -> None:
    for query in exhume("query", "--list", "--json").json:
        program, *arguments = shlex.split(query["example"])
        assert (program, *arguments[:2]) == ("exhume", "query", query["name"])
        ended = exhume(*arguments, "--corpus", starter, "--json")
        assert ended.code == 0, ended.err
        assert isinstance(ended.json, list)


def test_parameters_are_arguments_or_options(exhume: Any, starter: Path) -> None:
    as_argument = exhume("query", "signatures", "like=%Int%", "--corpus", starter, "--json").json
    as_option = exhume("query", "signatures", "-p", "like=%Int%", "--corpus", starter, "--json").json
    assert as_argument == as_option
    assert as_argument


def test_sql_may_have_line_breaks_in_place_of_blanks(exhume: Any, starter: Path) -> None:
    assert exhume("query", "select\n1", "--corpus", starter, "--json").json == [{"1": 1}]


@pytest.mark.parametrize(
    "arguments",
    [
        ("query", "theories", "--limit", 2**63),
        ("similar", "a.smt2", "--limit", 2**63),
        ("hunt", "--out", "h", "--seed", 2**63),
        ("query", "theories", "--deadline", "inf"),
    ],
)
def test_numbers_that_are_too_large_are_refused(
    exhume: Any, starter: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    ended = exhume(*arguments, "--corpus", starter)
    assert (ended.code, "less than or equal to" in " ".join(ended.err.split())) == (2, True)


def test_query_names_what_is_missing(exhume: Any, starter: Path) -> None:
    nothing = exhume("query", "--corpus", starter)
    assert (nothing.code, "give the name of a query" in nothing.err) == (2, True)
    nowhere = exhume("query", "signatures")
    assert (nowhere.code, "give a corpus with --corpus FILE" in nowhere.err) == (2, True)


def test_a_wrong_parameter_is_named(exhume: Any, starter: Path) -> None:
    ended = exhume("query", "signatures", "colour=red", "--corpus", starter)
    assert ended.code == 2
    assert "colour" in ended.said


def test_queries_are_listed(exhume: Any) -> None:
    ended = exhume("query", "--list")
    assert "theories" in ended.out
    assert not any(line.endswith(" ") for line in ended.out.splitlines())


def test_formats_say_the_same(exhume: Any, starter: Path, tmp_path: Path) -> None:
    sql = "select id, sha256 from skeleton order by id limit 3"
    rows = exhume("query", sql, "--corpus", starter, "--format", "json").json
    lines = exhume("query", sql, "--corpus", starter, "--format", "ndjson").out.splitlines()
    comma = exhume("query", sql, "--corpus", starter, "--format", "csv").out
    file = tmp_path / "rows.parquet"
    exhume("query", sql, "--corpus", starter, "--format", "parquet", "--out", file)
    assert [json.loads(line) for line in lines] == rows
    assert [(int(r["id"]), r["sha256"]) for r in csv.DictReader(io.StringIO(comma))] == [
        (r["id"], r["sha256"]) for r in rows
    ]
    assert duckdb.sql(f"select * from '{file}'").fetchall() == [tuple(r.values()) for r in rows]
    assert rows[0]["sha256"] in exhume("query", sql, "--corpus", starter).out


def test_a_result_can_go_to_a_file(exhume: Any, starter: Path, tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    ended = exhume("query", "select 1 as one", "--corpus", starter, "--format", "csv", "--out", file)
    assert (ended.code, ended.out, file.read_text().split()) == (0, "", ["one", "1"])


@pytest.mark.parametrize("form", ["table", "parquet"])
def test_formats_that_do_not_fit_where_they_go_are_refused(exhume: Any, starter: Path, form: str) -> None:
    where = ["--out", "x.txt"] if form == "table" else []
    ended = exhume("query", "select 1 as one", "--corpus", starter, "--format", form, *where)
    assert ended.code == 2
    assert "--out" in ended.err


def test_rows_are_capped_and_it_is_said(exhume: Any, starter: Path) -> None:
    ended = exhume("query", "select id from atom", "--corpus", starter, "--limit", "2", "--json")
    assert len(ended.json) == 2
    assert "raise --limit" in ended.said


def test_a_query_cannot_write(exhume: Any, starter: Path) -> None:
    before = starter.read_bytes()
    ended = exhume("query", "delete from atom", "--corpus", starter)
    assert ended.code == 2
    assert starter.read_bytes() == before


def test_a_query_has_a_deadline(exhume: Any, starter: Path) -> None:
    sql = "select count(*) from range(100000000) a, range(100000) b"
    ended = exhume("query", sql, "--corpus", starter, "--deadline", "0.2")
    assert ended.code == 2
    assert "0.2" in ended.said


def test_a_query_near_a_name_is_offered_that_name(exhume: Any, starter: Path) -> None:
    ended = exhume("query", "theoris", "--corpus", starter)
    assert ended.code == 2
    assert "theories" in ended.said


def test_wrong_sql_says_what_is_wrong(exhume: Any, starter: Path) -> None:
    ended = exhume("query", "select nothing from nowhere", "--corpus", starter)
    assert ended.code == 2
    assert "nowhere" in ended.err


def test_the_page_of_a_corpus_shows_it_by_theory_operator_and_year(
    exhume: Any, starter: Path, tmp_path: Path
) -> None:
    page = tmp_path / "corpus.html"
    ended = exhume("stats", "--corpus", starter, "--page", page, "--json")
    assert (ended.code, ended.json["issues"]) == (0, 89)
    text = page.read_text("utf-8")
    for words in (
        "Formulas by theory",
        "Formulas by atom operator",
        "Issues by year",
        "UnicodeStrings",
        "soundness",
    ):
        assert words in text
    assert "<td>Ints</td>" in text
    assert not re.search(r"(?:src|href)=.?(?:https?:)?//|<script", text)


def test_the_page_of_an_empty_corpus_has_no_plots(exhume: Any, tmp_path: Path) -> None:
    Corpus.open(tmp_path / "c.duckdb", write=True).close()
    page = tmp_path / "corpus.html"
    assert exhume("stats", "--corpus", tmp_path / "c.duckdb", "--page", page).code == 0
    assert "<svg" not in page.read_text("utf-8")
