"""The experiments measure what is missing, count what tools wrote, and write a table and a page."""

from __future__ import annotations

import json
import math
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Container
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

import duckdb
import pytest

from base.errors import ExhumeError
from corpus.importer import import_paths
from corpus.store import Corpus
from difftest.bugs.describing import by_age
from difftest.bugs.pairing import Case
from difftest.bugs.records import BUNDLED, Benchmark, Bug, write_records
from difftest.bugs.shelf import Shelf
from difftest.errors import DifftestError
from solvers.lookup import find_solver
from solvers.running.runner import Runner
from tests.difftest.bugs.planted import Planted, trigger
from tests.difftest.test_reports import write
from tests.exhume.test_report import HOSTILE, Page, is_harmless
from tests.releases import no_release
from tests.scripts import load_script, run_script

SCRIPTS = Path(__file__).parents[2] / "scripts" / "experiments"
DATA = Path(__file__).parents[2] / "docs" / "data"
SOLVER = """
import os, re, sys
text = open(sys.argv[-1]).read()
if "{0}" in text:
    os.abort()
print("sat\\n" * len(re.findall("check-sat", text)))
"""
BOOM = "(declare-const boom Int)\n(assert (> boom 1))\n(check-sat)\n"
LOUD = f"""
import os
os.makedirs("found")
open("found/a.smt2", "w").write({BOOM!r})
open("found/b.smt2", "w").write({BOOM!r}.replace("1", "2"))
open("found/c.smt2", "w").write({BOOM!r}.replace("boom", "calm"))
open("scratch.smt2", "w").write({BOOM!r}.replace("boom", "bang"))
sum(range(10_000_000))
import time
time.sleep(60)
"""
QUIET = "import time\nopen('none.txt', 'w').write('nothing')\ntime.sleep(0.4)\n"


def script(name: str) -> ModuleType:
    """An experiment, or what they share, as a module."""
    return load_script(f"experiments/{name}")


def run(name: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    return run_script(f"experiments/{name}", *arguments)


def run_alone(name: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """A command of a script, as a process of its own."""
    command = [sys.executable, str(SCRIPTS / name), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def rows_of(got: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    assert got.returncode == 0, got.stderr
    rows: list[dict[str, Any]] = json.loads(got.stdout)
    return rows


def equal_time(tmp_path: Path) -> list[object]:
    """The options of an experiment with two toy peers and two toy solvers, of which one dies of ``boom``."""
    for name, word in (("one", "boom"), ("two", "never")):
        (tmp_path / f"{name}.py").write_text(SOLVER.format(word))
    for name, text in (("loud", LOUD), ("quiet", QUIET)):
        (tmp_path / f"{name}.py").write_text(text)
    python = f"{sys.executable} -I -S"
    specs = [f"{name}={python} {tmp_path / name}.py" for name in ("one", "two")]
    options: list[object] = ["--out", tmp_path / "out", "--minutes", "0.025", "--pair", "toys", *specs]
    for name in ("loud", "quiet"):
        options += ["--peer", f"{name}={python} {tmp_path / name}.py", "--only", name]
    return [*options, "--triggers", "loud=found", "--no-bisect", "--reduce", "0"]


@pytest.mark.thorough
@pytest.mark.slow
def test_what_peers_wrote_is_confirmed_counted_and_kept(tmp_path: Path) -> None:
    options = equal_time(tmp_path)
    loud, quiet = rows_of(run("equal-time", *options, "--repeats", 1, "--json"))
    assert (loud["tool"], loud["files"], loud["starts"]) == ("loud", 3, 1)
    assert (loud["causes"], loud["strict"], loud["severe"], loud["by_class"]) == (1, 1, 0, {"crash": 1})
    assert (quiet["causes"], quiet["names"]) == (0, [])
    # It ends by itself each time.
    assert quiet["starts"] >= 2
    assert loud["seconds"] >= 1.5
    assert 0 < loud["cpu_seconds"] < loud["seconds"] + 3

    # What is there is not measured again, what is not is: each repeat is a row.
    times = [file.stat().st_mtime_ns for file in sorted((tmp_path / "out").rglob("row.json"))]
    rows = rows_of(run("equal-time", *options, "--repeats", 2, "--json"))
    assert [row["repeat"] for row in rows] == [1, 1, 2, 2]
    assert [file.stat().st_mtime_ns for file in sorted((tmp_path / "out").rglob("1/row.json"))] == times
    table = "select tool, repeat, causes, by_class from read_parquet(?) order by all"
    found = duckdb.execute(table, [str(tmp_path / "out" / "rows.parquet")]).fetchall()
    assert [row[:3] for row in found] == [("loud", 1, 1), ("loud", 2, 1), ("quiet", 1, 0), ("quiet", 2, 0)]
    page = (tmp_path / "out" / "index.html").read_text()
    assert '<td class="text">loud</td>' in page and "http" not in page.partition("</style>")[2]

    # The columns of the table: the best peer is loud.
    printed = run("equal-time", *options, "--repeats", 2).stdout
    assert "| quiet | 2 | 0 | 0 | 0 | 0 | " in printed
    assert "0.00 (p " in printed

    # Another command is another experiment.
    (tmp_path / "loud.py").rename(tmp_path / "other.py")
    changed = [str(option).replace("loud.py", "other.py") for option in options]
    got = run("equal-time", *changed, "--repeats", 2)
    assert got.returncode == 2
    assert "name a new folder" in got.stderr


UNIT_COLUMNS = {"tool": "varchar", "names": "json", "what": "varchar"}


def measured(out: Path, *names: str, skip: Container[str] = ()) -> tuple[list[str], list[dict[str, Any]]]:
    """The units that were measured, and the rows of all."""
    measuring = script("measuring.py")
    ran: list[str] = []

    def measure(name: str, folder: Path) -> dict[str, Any]:
        assert folder.is_dir()
        ran.append(name)
        return {"tool": "t", "names": [name, HOSTILE]}

    units = [measuring.Unit(name, "as before", partial(measure, name), name in skip) for name in names]
    return ran, measuring.measure_units(out, units, 0, math.inf, threading.Event())


def test_rows_alone_are_enough_to_continue_elsewhere(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    ran, rows = measured(here, "a/1", "a/2")
    assert ran == ["a/1", "a/2"]
    measuring = script("measuring.py")
    measuring.give_results(
        here, rows, 2, False, lambda rows: measuring.Results("T", "About", UNIT_COLUMNS, [])
    )
    there.mkdir()
    shutil.copy(here / "rows.parquet", there)
    # Whatever is measured first, no row is lost.
    ran, again = measured(there, "a/3", skip=["a/3"])
    assert ran == again == []
    ran, again = measured(there, "a/1", "a/3", "a/2", skip=["a/1", "a/3"])
    assert ran == [] and again == rows
    ran, again = measured(there, "a/1", "a/3", "a/2")
    assert ran == ["a/3"]
    assert again[0] == rows[0] and again[2] == rows[1]
    assert not list(there.glob(".units-*"))

    # Once there are units, a folder that is deleted is measured again.
    shutil.rmtree(there / "units" / "a" / "1")
    assert measured(there, "a/1", "a/3", "a/2")[0] == ["a/1"]


def test_a_hunt_that_was_started_again_is_said_aloud(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    measuring = script("measuring.py")
    campaigns = [tmp_path / f"start-{number}" / measuring.TESTS / measuring.CAMPAIGN for number in (1, 2)]
    assert measuring.hunt_of(tmp_path) is None
    for number, campaign in enumerate(campaigns):
        (campaign / "findings").mkdir(parents=True)
        assert measuring.hunt_of(tmp_path) == campaigns[0]
        assert ("has 2 campaigns, of which the first counts" in capsys.readouterr().err) is bool(number)


@pytest.mark.parametrize("file", sorted(DATA.glob("*.parquet")), ids=lambda file: file.stem)
def test_the_rows_behind_the_results_can_be_continued(file: Path, tmp_path: Path) -> None:
    shutil.copy(file, tmp_path / "rows.parquet")
    units = duckdb.execute("select unit, what from read_parquet(?)", [str(file)]).fetchall()
    measuring = script("measuring.py")
    units = [measuring.Unit(*unit, pytest.fail) for unit in units]
    rows = measuring.measure_units(tmp_path, units, 0, math.inf, threading.Event())
    assert [row["unit"] for row in rows] == [unit.name for unit in units] != []
    assert not re.search("/(?:tmp|home|root|work)/", str(rows)), "a path of the machine"


def test_a_unit_of_other_options_or_another_input_is_refused(tmp_path: Path) -> None:
    measuring = script("measuring.py")

    def ask(what: str) -> list[Any]:
        units = [measuring.Unit("a/1", what, lambda folder: {})]
        return list(measuring.measure_units(tmp_path, units, 0, math.inf, threading.Event()))

    [row] = ask("tool 2; with reduce 5")
    # Rows of earlier versions have fewer options.
    assert ask("tool 2; with reduce 5, corpus 1a2b") == [row]
    for other in ("tool 2; with reduce 50", "tool 2", "tool 3; with reduce 5"):
        with pytest.raises(ExhumeError, match="name a new folder"):
            ask(other)


def test_digests_name_contents(tmp_path: Path) -> None:
    measuring = script("measuring.py")
    corpora = []
    for name, texts in (("a", "xy"), ("b", "yx"), ("c", "xz")):
        folder = tmp_path / name
        folder.mkdir()
        for number, text in enumerate(texts):
            (folder / f"{number}.smt2").write_text(f"(declare-const {text} Bool)(assert {text})")
        corpora.append(tmp_path / f"{name}.duckdb")
        with Corpus.open(corpora[-1], write=True) as corpus:
            import_paths(corpus, [folder])
    one, other, third = [measuring.digest_of_files((tmp_path / name).iterdir()) for name in "abc"]
    assert one == other != third
    one, other, third = map(measuring.digest_of_corpus, corpora)
    assert one == other != third


@pytest.mark.parametrize(("code", "failed"), [(2, "solvers"), (3, "generate")])
def test_only_a_strategy_that_can_make_no_tests_is_left_out(tmp_path: Path, code: int, failed: str) -> None:
    coverage = script("coverage")

    def fails(_: threading.Event, command: str, *rest: str) -> str:
        problem = DifftestError(command)
        problem.exit_code = code
        raise problem

    experiment = coverage.Experiment(tmp_path, "build", (), 0, 2, 1.0, 1, threading.Event())
    with (
        patch.object(coverage, "learned_corpus", lambda *_: tmp_path),
        patch.object(coverage, "exhume", fails),
        pytest.raises(DifftestError, match=failed),
    ):
        experiment.measure("a", ("--strategy", "fusion,storm"), 1, tmp_path / "unit")


def test_a_corpus_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "c.duckdb"
    options = (*equal_time(tmp_path), "--corpus", file)
    Corpus.open(file, write=True).close()
    hold = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print(); sys.stdin.read()"
    command = [sys.executable, "-c", hold, str(file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        got = run("equal-time", *options)
        holder.communicate()
    assert (got.returncode, got.stderr.count("\n")) == (2, 1)
    assert f"in use by process {holder.pid}" in got.stderr
    file.write_text("no corpus")
    got = run("equal-time", *options)
    assert (got.returncode, got.stderr.count("\n"), "is not a corpus" in got.stderr) == (2, 1, True)


@pytest.mark.parametrize("minutes", ["0", "-1", "nan", "x"])
def test_no_time_is_a_wrong_option(tmp_path: Path, minutes: str) -> None:
    got = run("equal-time", *equal_time(tmp_path), "--minutes", minutes)
    assert (got.returncode, "argument --minutes" in got.stderr) == (2, True)


@pytest.mark.parametrize("text", ["", "no Parquet", "select 1 as x"])
def test_a_file_without_rows_of_an_experiment_is_one_line(tmp_path: Path, text: str) -> None:
    file = tmp_path / "rows.parquet"
    file.write_text(text)
    if text.startswith("select"):
        duckdb.execute(f"copy ({text}) to '{file}' (format parquet)")
    with pytest.raises(ExhumeError, match=r"rows\.parquet has no rows of an experiment"):
        measured(tmp_path, "a/1")
    assert not (tmp_path / "units").exists()


def test_a_crash_that_needs_an_option_is_no_strict_cause(tmp_path: Path) -> None:
    measuring = script("measuring.py")
    key = "crash|z3-4.8.5|signal SIGSEGV in f"
    for place, options in enumerate((["model_validate=true", "sat.smt=true"], ["model_validate=true"])):
        entry = {"name": "z3-4.8.5", "family": "z3", "outcome": "crash", "options": options}
        changes = {"class": "crash", "key": f"{key}{place}", "check": None}
        write(tmp_path / "findings" / f"crash-{place}", entry=entry, **changes)
    assert [cause.is_strict for cause in measuring.causes_of(tmp_path)] == [False, True]


def test_rows_name_no_folder_outside_the_experiment(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    row: dict[str, Any] = {"tool": "t", "names": [], "what": "as before"}
    rows = [{"unit": name, **row} for name in ("../../away", "a/1")]
    columns = {"unit": "varchar", **UNIT_COLUMNS}
    script("measuring.py").put_parquet(out / "rows.parquet", rows, columns)
    with pytest.raises(ExhumeError, match=r"a unit '\.\./\.\./away' outside"):
        measured(out, "a/1", "a/2")
    assert [path.name for path in out.iterdir()] == ["rows.parquet"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.thorough
@pytest.mark.slow
def test_hunts_are_counted_like_peers_and_leave_the_corpus_as_it_is(tmp_path: Path) -> None:
    formulas, corpus = tmp_path / "formulas", tmp_path / "c.duckdb"
    formulas.mkdir()
    (formulas / "a.smt2").write_text(BOOM)
    for command in (["import", formulas], ["learn"]):
        run_exhume = [*script("measuring.py").EXHUME, *map(str, command), "--corpus", str(corpus)]
        assert subprocess.run(run_exhume, capture_output=True, check=False).returncode == 0
    before = corpus.read_bytes()
    options = [
        *equal_time(tmp_path)[:8],
        "--corpus",
        corpus,
        "--arm",
        "mine=--strategy opfuzz --modes default",
    ]
    options += ["--minutes", "0.25", "--repeats", "1", "--no-bisect", "--reduce", "1", "--json"]
    (mine,) = rows_of(run("equal-time", *options))
    assert (mine["tool"], mine["kind"], mine["starts"] >= 1) == ("mine", "exhume", True)
    assert mine["tests"] >= 1
    assert (mine["causes"], mine["by_class"]) == (1, {"crash": 1})
    assert corpus.read_bytes() == before


@pytest.mark.slow
def test_a_tool_that_cannot_run_is_an_error_and_no_row(tmp_path: Path) -> None:
    options = equal_time(tmp_path)
    (tmp_path / "loud.py").write_text("raise SystemExit('no such seeds')")
    got = run("equal-time", *options, "--repeats", 1, "--minutes", 10)
    assert got.returncode == 2
    assert "20 starts without a file: exit status 1: no such seeds" in got.stderr
    assert not list((tmp_path / "out").rglob("row.json"))


@pytest.mark.thorough
@pytest.mark.slow
def test_a_run_that_was_interrupted_or_killed_begins_again(tmp_path: Path, assert_gone: object) -> None:
    options = [*equal_time(tmp_path), "--repeats", 1, "--json"]
    command = [sys.executable, str(SCRIPTS / "equal-time"), *map(str, options)]
    longer = [*command, "--minutes", "60"]
    for argv, number in ((longer, signal.SIGINT), (command, signal.SIGKILL)):
        before = set(tmp_path.rglob("found/c.smt2"))
        process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while set(tmp_path.rglob("found/c.smt2")) == before and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(number)
        assert process.wait(60) == (0 if number is signal.SIGINT else -number)
        assert callable(assert_gone)
        assert_gone(str(tmp_path / "loud.py"))
        assert not list(tmp_path.rglob("row.json"))
    (left,) = (tmp_path / "out").rglob("0.05m/1/start-1/tests")
    (left / "left.smt2").write_text(BOOM)
    rows = rows_of(run("equal-time", *options))
    assert [(row["tool"], row["causes"]) for row in rows] == [("loud", 1), ("quiet", 0)]
    assert not list(tmp_path.rglob("left.smt2"))


@pytest.mark.thorough
def test_nothing_is_started_that_cannot_end_in_time(tmp_path: Path) -> None:
    options = (*equal_time(tmp_path), "--repeats", 1, "--minutes", 60, "--time-left", "1s")
    got = run_alone("equal-time", *options)
    assert got.returncode == 0
    assert "repeat the command to resume" in got.stderr
    assert not list((tmp_path / "out").rglob("start-*"))


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("equal-time", ("--peer", "x"), "has no command"),
        ("equal-time", ("--only", "exhume"), "hunts need --corpus FILE"),
        ("equal-time", ("--peer", "=x"), "write NAME="),
        ("equal-time", ("--arm", "a=", "--arm", "a="), "two tools are called a"),
        ("equal-time", ("--triggers", "nobody=x"), "no tool is called nobody"),
        ("future-bugs", (), "no-history needs --plain"),
        ("coverage", ("--formulas", "x", "--only", "y"), "no arm is called y"),
        ("coverage", ("--formulas", "x", "--arm", "=y"), "argument --arm: =y: write NAME="),
        ("coverage", ("--formulas", "x", "--arm", "a='"), "argument --arm: a=': No closing quotation"),
        ("coverage", ("--formulas", "x", "--corpus", "c", "--arm", "history="), "two arms have one name"),
        ("future-bugs", ("--arm", "a=", "--arm", "a="), "two arms have one name"),
    ],
)
def test_wrong_options_of_experiments_are_one_line(
    name: str, options: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with patch.object(sys, "argv", [name, "--out", "out", *options]), pytest.raises(SystemExit) as ended:
        script(name).main()
    assert ended.value.code == 2
    assert message in capsys.readouterr().err.splitlines()[-1]


def test_strategies_of_an_arm_share_its_tests() -> None:
    coverage = script("coverage")
    assert coverage.batches(["--rules", "off"], 10) == [(["--rules", "off"], 10)]
    assert coverage.batches(["--strategy", "opfuzz"], 10) == [(["--strategy", "opfuzz"], 10)]
    words = ["--strategy", "join,storm,weaken", "--corpus", "c.duckdb"]
    made = coverage.batches(words, 8)
    assert [(options[1], options[2:], count) for options, count in made] == [
        ("join", ["--corpus", "c.duckdb"], 3),
        ("storm", ["--corpus", "c.duckdb"], 3),
        ("weaken", ["--corpus", "c.duckdb"], 2),
    ]
    assert len(coverage.batches(words, 2)) == 2
    every = dict(coverage.named(arm) for arm in coverage.ARMS)["all"]
    assert {"skeletons", "theorems", "weaken"} <= {*every[1].split(",")} and "enumerate" not in every[1]


def test_a_corpus_adds_the_arm_of_its_history() -> None:
    coverage = script("coverage")
    given = ["coverage", "--out", "out", "--formulas", "x", "--corpus", "c.duckdb", "--only", "history"]
    with patch.object(sys, "argv", given):
        arms = coverage.parse().arms
    assert arms["history"] == (*arms["all"], "--corpus", "c.duckdb")


def test_arms_are_compared_by_the_lines_that_they_run() -> None:
    def run(arm: str, lines: int) -> dict[str, Any]:
        percents = {"line_percent": lines / 10, "function_percent": 50.0}
        counts = {"lines_run": lines, "lines": 1000, "measured": 9, "lost": {"timeout": 2}}
        return {"arm": arm, "build": "z3==1", "seeds": 3, **counts, **percents}

    rows = [run(arm, lines + n) for arm, lines in (("seeds", 100), ("skeletons", 300)) for n in range(5)]
    (table, paper) = script("coverage").tables_of(rows)
    assert [list(line) for line in table.rows] == [
        ["seeds", "5", "10.2", "50.0", "9", "2", "0.00794"],
        ["skeletons", "5", "30.2", "50.0", "9", "2", "-"],
    ]
    assert list(paper.rows)[-1] == ("histfuzz", "33.9", "35.3")


def hunted(tool: str, *names: str, pair: str = "p") -> dict[str, Any]:
    """What the plots read of a row of equal-time."""
    return {"tool": tool, "pair": pair, "names": list(names), "by_class": {"crash": len(names)}}


SHARED = [
    hunted("one", "a", "b", "c"),
    hunted("one", "c", "d"),
    hunted("two", "c", "x"),
    hunted("three", "c", "x", "y"),
    hunted("none"),
]


def test_causes_are_in_the_column_of_all_tools_that_found_them_in_any_repeat() -> None:
    (_, plot) = script("equal-time").plots_of(SHARED)
    in_all = [("one, in all", "4"), ("three, in all", "3"), ("two, in all", "2"), ("none, in all", "0")]
    columns = [("one alone", "3"), ("three alone", "1"), ("three and two alone", "1")]
    columns += [("one, three and two alone", "1")]
    assert [tuple(line) for line in plot.rows] == [*in_all, *columns]
    said = "; ".join(f"{text}: {count}" for text, count in plot.rows)
    assert plot.description == f"causes by tool: {said}."
    assert "if any of its repeats did" in plot.note
    assert "none 1, one 2, three 1, two 1." in plot.note
    assert "Shown:" not in plot.note
    numbers = [word for word in Page(plot.svg).words if word.isdigit()]
    assert {"one", "two", "three", "none"} < set(Page(plot.svg).words)
    assert numbers


def test_the_order_of_rows_and_causes_does_not_matter() -> None:
    plots_of = script("equal-time").plots_of
    drawn = plots_of(SHARED)[1]
    for seed in range(3):
        chance = random.Random(seed)
        rows = [{**row, "names": chance.sample(row["names"], len(row["names"]))} for row in SHARED]
        chance.shuffle(rows)
        assert plots_of(rows)[1] == drawn


def test_pairs_without_causes_have_no_plots_and_one_tool_has_one_column() -> None:
    plots_of = script("equal-time").plots_of
    assert plots_of([]) == plots_of([hunted("one"), hunted("two")]) == []
    plots = plots_of([hunted("one", pair="p"), hunted("one", "a", "b", pair="q")])
    assert [plot.title for plot in plots] == ["q", "q: causes that tools share"]
    assert list(map(list, plots[1].rows)) == [["one, in all", "2"], ["one alone", "2"]]


def test_of_many_columns_the_largest_are_drawn() -> None:
    tools = "vwxyz"
    # A cause for each combination of five tools, and a second one for the last: all of them.
    names = {tool: [f"c{n}" for n in range(1, 32) if n >> at & 1] for at, tool in enumerate(tools)}
    rows = [hunted(tool, *causes, "again") for tool, causes in names.items()]
    (_, plot) = script("equal-time").plots_of(rows)
    assert "Shown: the 20 of 31 columns with the most; the others have 11." in plot.note
    assert len(plot.rows) == 5 + 31
    assert list(plot.rows[5]) == ["v, w, x, y and z alone", "2"]
    assert plot.description.count(" alone: ") == 20


def test_nothing_breaks_out_of_the_page_of_an_experiment(tmp_path: Path) -> None:
    measuring, plots_of = script("measuring.py"), script("equal-time").plots_of
    rows = [hunted(HOSTILE + tool, HOSTILE, tool, pair=HOSTILE) for tool in ("a", "b")]
    results = measuring.Results(HOSTILE, HOSTILE, {"tool": "varchar"}, [], plots_of(rows))
    measuring.give_results(tmp_path, rows, len(rows), False, lambda rows: results)
    text = (tmp_path / "index.html").read_text("utf-8")
    page = Page(text)
    assert is_harmless(page)
    assert {"title", "desc"} <= page.tags
    assert ("role", "img") in page.attributes
    assert not set(text) & {"\x00", "\x1b"}
    assert f"{HOSTILE}a and {HOSTILE}b alone: 1" in page.text.replace("\ufffd[31m\ufffd", "\x1b[31m\x00")


def row(release: str, arm: str, repeat: int, **found: float) -> dict[str, Any]:
    return {
        "release": release,
        "arm": arm,
        "repeat": repeat,
        "history": 5,
        "bugs": 2,
        "to_find": ["a", "b"],
        "found_after": found,
        "found": len(found),
        "fixed_later": 1,
        "fixed_names": [f"k{repeat} 9"] if arm == "with" else ["k1 9"],
        "causes": 3,
        "tests": 100,
    }


def test_complete_repeats_of_all_releases_are_compared() -> None:
    future = script("future-bugs")
    rows = [row(r, "with", n, a=5.0, b=9.0) for r in ("4.1", "4.2") for n in (1, 2, 3)]
    rows += [row("4.1", "without", n) for n in (1, 2, 3)] + [row("4.2", "without", n, a=50.0) for n in (1, 2)]
    fuzzers = future.pooled(rows, 60.0)
    assert future.complete(rows) == [1, 2]
    assert [fuzzer.name for fuzzer in fuzzers] == ["with", "without"]
    assert [fuzzer.counts for fuzzer in fuzzers] == [[4, 4], [1, 1]]
    assert fuzzers[0].bugs == ("4.1/a", "4.1/b", "4.2/a", "4.2/b")
    everything, each, papers = future.tables_of(rows, 60.0)
    assert everything.rows[0][:4] == ["with", "4", "4", "5 s"]
    assert everything.rows[1][:4] == ["without", "4", "1", "-"]
    assert everything.rows[1][6] == "1.00"
    assert [line[7:] for line in everything.rows] == [["2", "-", "-"], ["2", "-", "0.50"]]
    assert [len(fixed.bugs) for fixed in future.pooled_causes(rows, 60.0)] == [6, 6]
    assert each.rows[3] == ["4.2", "without", "2", "5", "2", "1", "1", "3", "100", "1"]
    assert ("HistFuzz", "z3 4.8.14, cvc5 0.0.5", "120", "10") in papers.rows
    over_time, shared = future.plots_of(rows, 60.0)
    assert over_time.head == ["arm", "seconds", "bugs"]
    assert [list(line) for line in shared.rows[2:]] == [["with alone", "3"], ["with and without alone", "1"]]
    assert future.complete(rows[:1] + rows[6:7]) == [1]
    assert future.pooled(rows[:1] + rows[-1:], 60.0) == []


def test_bugs_of_the_history_are_not_to_be_found() -> None:
    future = script("future-bugs")
    shelf = Planted(lambda n, _: ("crash", None) if n < 7 else ("ok", "sat"))
    later = Planted(lambda n, _: ("crash", None) if n < 12 else ("ok", "sat"))
    bugs = []
    for place, text, issue in ((shelf, "x", "z3#1"), (later, "y", "z3#2"), (later, "z", "z3#1")):
        other = trigger(text=trigger().text.replace("x", text), issue=issue)
        with Runner(warm=False) as runner:
            bugs += [bug for bug in Case(other, place, runner).examine() if isinstance(bug, Bug)]
    assert [bug.first_good for bug in bugs] == ["4.7", "4.12", "4.12"]
    split = future.Split.at("4.8", bugs, "z3")
    assert (split.history, split.future) == ((bugs[0],), (bugs[1],))
    before = future.Split.at("4.2", bugs, "z3")
    assert (len(before.history), len(before.future)) == (0, 3)
    assert split.digest != before.digest


class Listed(Shelf):
    """The releases that the bundled bugs were run with."""

    def releases(self, family: str) -> list[str]:
        bugs = Benchmark(BUNDLED).bugs.values()
        return sorted({one.release for bug in bugs if bug.solver == family for one in bug.strip}, key=by_age)


@pytest.mark.thorough
def test_releases_to_split_at_are_spread_and_differ_in_their_history() -> None:
    future = script("future-bugs")
    bugs = list(Benchmark(BUNDLED).bugs.values())
    found = future.good_releases(bugs, Listed(), "z3", 5)
    splits = [future.Split.at(release, bugs, "z3") for release in found]
    sizes = [len(split.history) for split in splits]
    assert len(found) == 5
    assert sizes == sorted(set(sizes))
    assert all(min(len(split.history), len(split.future)) >= 5 for split in splits)
    more = future.good_releases(bugs, Listed(), "z3", 99)
    assert set(found) < set(more)
    assert (found[0], found[-1]) == (more[0], more[-1])
    # What was fixed is not to be found.
    assert not {bug.id for bug in splits[-1].history} & {bug.id for bug in splits[-1].future}


@pytest.mark.thorough
@pytest.mark.slow
def test_hunts_learn_from_what_was_fixed_and_are_measured_by_the_rest(tmp_path: Path) -> None:
    try:
        Shelf().releases("z3")
        find_solver("z3==4.8.6").check_starts()
    except ExhumeError as problem:
        no_release(problem)
    future = script("future-bugs")
    bugs = [bug for bug in Benchmark(BUNDLED).bugs.values() if not bug.options and not bug.flaky]
    split = future.Split.at("4.8.6", bugs, "z3")
    small = sorted(split.history, key=lambda bug: len(bug.text))[:2]
    write_records(tmp_path / "bugs.jsonl", [*small, *split.future[:3]])
    options: list[object] = ["--bugs", tmp_path, "--out", tmp_path / "out", "--release", "4.8.6"]
    options += ["--arm", "opfuzz=--strategy opfuzz", "--minutes", "0.25"]
    options += ["--repeats", "1", "--limit", "1", "--json"]
    (got,) = rows_of(run("future-bugs", *options))
    assert (got["history"], got["bugs"], len(got["to_find"])) == (2, 3, 3)
    assert got["to_find"] == sorted(bug.id for bug in split.future[:3])
    assert set(got["found_after"]) <= set(got["to_find"])
    assert (got["hits"] > 0) == bool(got["found"])
    assert got["fixed_later"] == len(got["fixed_names"]) <= got["causes"]
    # A first good release stands at the end of each.
    assert all(name.split("|")[1].startswith("z3-4.8.6") and " 4." in name for name in got["fixed_names"])
    assert (got["arm"], got["release"], got["starts"] >= 1) == ("opfuzz", "4.8.6", True)
    assert rows_of(run("future-bugs", *options)) == [got]
    corpus = tmp_path / "out" / "corpora" / "4.8.6" / "history.duckdb"
    with duckdb.connect(str(corpus), read_only=True) as opened:
        assert opened.execute("select count(*) from formula").fetchone() == (2,)
