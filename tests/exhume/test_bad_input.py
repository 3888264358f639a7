"""What goes in may be broken, and what is around us may be missing: one line says so, and nothing is lost."""

from __future__ import annotations

import contextlib
import errno
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from corpus.store import Corpus
from solvers.running.process import Limits
from tests.exhume.conftest import hunting
from tests.exhume.test_report import finding

GOOD = "(declare-const x Int)\n(assert (> x 3))\n(check-sat)\n"
Fake = Callable[[str, str], str]


@pytest.fixture
def stocked(exhume: Any, tmp_path: Path) -> Path:
    """A corpus that holds one good formula."""
    folder = tmp_path / "good"
    folder.mkdir()
    (folder / "good.smt2").write_text(GOOD)
    path = tmp_path / "stocked.duckdb"
    exhume("import", folder, "--corpus", path)
    return path


def errors(exhume: Any, corpus: Path) -> dict[str, tuple[str, str | None, int | None]]:
    """Status, error and its line per file name."""
    rows = exhume(
        "query", "select path, status, error, error_line from formula", "--corpus", corpus, "--json"
    ).json
    return {Path(r["path"]).name: (r["status"], r["error"], r["error_line"]) for r in rows}


# Formulas


@pytest.mark.parametrize(
    ("text", "status", "words", "line"),
    [
        (b"(assert (> 1 0)\n(check-sat)\n", "error", "", None),
        (b"(assert true)\n)\n(check-sat)\n", "error", "", 2),
        (bytes(range(256)) * 20, "error", "", None),
        (b"\x7fELF\x02\x01\x01\x00" + b"\x00" * 200, "error", "", None),
        (b"(declare-const x Colour)\n(assert (= x x))\n", "read", "Colour", 1),
        (b"(define-fun f () Int (+ f 1))\n(assert (> f 0))\n", "read", "f", 1),
        (b"(define-sort A () B)\n(define-sort B () A)\n(declare-const x A)\n", "read", "B", 1),
        (b"(declare-datatypes ((T 0)) (((c (d T)))))\n(assert (= 1 2))\n", "read", "", None),
        (b"(declare-const x Int)\n(assert (+ x true))\n", "read", "", 2),
    ],
    ids=[
        "open", "closed-too-often", "bytes", "binary", "unknown-sort", "cyclic-function", "cyclic-sort",
        "empty-datatype", "ill-sorted",
    ],
)  # fmt: skip
@pytest.mark.few(4)
def test_a_broken_formula_is_a_row_with_its_error(
    exhume: Any, stocked: Path, tmp_path: Path, text: bytes, status: str, words: str, line: int | None
) -> None:
    folder = tmp_path / "bad"
    folder.mkdir()
    (folder / "bad.smt2").write_bytes(text)
    (folder / "fine.smt2").write_text(GOOD.replace("x", "y"))
    ended = exhume("import", folder, "--corpus", stocked)
    assert ended.code == 0, "one bad file is not fatal"
    found = errors(exhume, stocked)
    assert found["fine.smt2"][0] == found["good.smt2"][0] == "well-sorted"
    got_status, error, got_line = found["bad.smt2"]
    assert got_status == status
    assert error
    assert words in error
    assert line is None or got_line == line


def test_a_file_of_50_mb_is_dealt_with(exhume: Any, stocked: Path, tmp_path: Path) -> None:
    folder = tmp_path / "big"
    folder.mkdir()
    with (folder / "big.smt2").open("w") as file:
        file.write("(declare-const x Int)\n(assert (> x 3))\n")
        for _ in range(50):
            file.write("; " + "x" * (1024 * 1024) + "\n")
        file.write("(check-sat)\n")
    started = time.monotonic()
    ended = exhume("import", folder, "--corpus", stocked)
    assert ended.code == 0
    assert time.monotonic() - started < 30
    found = errors(exhume, stocked)
    assert found["good.smt2"][0] == "well-sorted"
    status, error, _ = found["big.smt2"]
    assert status == "error"
    assert "more than the limit" in str(error)


def test_people_hear_of_files_that_were_not_read(exhume: Any, tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "bad.smt2").write_text("(assert (> 1 0)\n")
    ended = exhume("import", tmp_path / "f", "--corpus", tmp_path / "c.duckdb")
    assert "1 not readable" in ended.out
    assert "bad.smt2" in ended.err


# The corpus


COMMANDS = [
    pytest.param(lambda c, t: ("stats", "--corpus", c), id="stats"),
    pytest.param(lambda c, t: ("query", "theories", "--corpus", c), id="query"),
    pytest.param(lambda c, t: ("learn", "--corpus", c), id="learn"),
    pytest.param(lambda c, t: ("label", "--corpus", c), id="label"),
    pytest.param(lambda c, t: ("generate", "--corpus", c, "--out", t / "t"), id="generate"),
    pytest.param(lambda c, t: hunting(c, t / "h", "z3"), id="hunt"),
    pytest.param(lambda c, t: ("replay", "--corpus", c, "--solver", "z3"), id="replay"),
    pytest.param(lambda c, t: ("import", t / "src", "--corpus", c), id="import"),
]
CARE = [
    pytest.param(lambda c, t: ("corpus", "vacuum", "--corpus", c), id="vacuum"),
    pytest.param(lambda c, t: ("corpus", "export", "--corpus", c, "--out", t / "e"), id="export"),
]
Make = Callable[[Path, Path], tuple[object, ...]]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.smt2").write_text(GOOD)
    return tmp_path / "src"


@pytest.mark.parametrize("make", COMMANDS)
def test_a_file_that_is_no_corpus_is_left_alone(
    exhume: Any, source: Path, tmp_path: Path, make: Make
) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("my notes\n" * 1000)
    ended = exhume(*make(file, tmp_path))
    assert ended.code == 2
    assert f"{file} is not a corpus" in ended.said
    assert file.read_text() == "my notes\n" * 1000


@pytest.mark.parametrize("make", [*COMMANDS, *CARE])
@pytest.mark.parametrize("is_cut", [True, False], ids=["cut", "overwritten"])
@pytest.mark.few(6)
def test_a_damaged_corpus_is_said_to_be_damaged(
    exhume: Any, source: Path, stocked: Path, tmp_path: Path, make: Make, is_cut: bool
) -> None:
    with stocked.open("r+b") as file:
        if is_cut:
            file.truncate(stocked.stat().st_size // 20)
        else:
            for place in range(20_000, stocked.stat().st_size, 1 << 18):
                file.seek(place)
                file.write(b"damage")
    damaged = stocked.read_bytes()
    ended = exhume(*make(stocked, tmp_path))
    assert ended.code == 2
    assert f"{stocked} is damaged (a part " in ended.said
    assert "exhume corpus import" in ended.said
    assert stocked.read_bytes() == damaged


@pytest.mark.parametrize("make", COMMANDS)
@pytest.mark.few(3)
def test_a_duckdb_file_of_another_program_is_left_alone(
    exhume: Any, source: Path, tmp_path: Path, make: Make
) -> None:
    file = tmp_path / "other.duckdb"
    with duckdb.connect(str(file)) as other:
        other.execute("create table cats (name varchar)")
    ended = exhume(*make(file, tmp_path))
    assert ended.code == 2
    assert str(file) in ended.said
    with duckdb.connect(str(file)) as other:
        assert other.execute("select table_name from duckdb_tables()").fetchall() == [("cats",)]


@pytest.mark.parametrize("make", COMMANDS)
@pytest.mark.few(3)
def test_a_newer_schema_is_refused(
    exhume: Any, source: Path, stocked: Path, tmp_path: Path, make: Make
) -> None:
    with duckdb.connect(str(stocked)) as later:
        later.execute("insert into migration values (9999, '9999_later', now()::timestamp)")
    ended = exhume(*make(stocked, tmp_path))
    assert ended.code == 2
    assert "9999" in ended.said
    assert "newer" in ended.said


@pytest.mark.parametrize("make", COMMANDS)
def test_a_folder_is_no_corpus(exhume: Any, source: Path, tmp_path: Path, make: Make) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    ended = exhume(*make(folder, tmp_path))
    assert ended.code == 2
    assert str(folder) in ended.said


@pytest.mark.parametrize("make", COMMANDS[:-1])
def test_a_missing_corpus_is_said_to_be_missing(
    exhume: Any, source: Path, tmp_path: Path, make: Make
) -> None:
    ended = exhume(*make(tmp_path / "none.duckdb", tmp_path))
    assert ended.code == 2
    assert "there is no corpus" in ended.said
    assert not (tmp_path / "none.duckdb").exists()


@contextlib.contextmanager
def held(corpus: Path, seconds: float) -> Iterator[subprocess.Popen[bytes]]:
    """A process that has the corpus open for so long."""
    script = (
        "import duckdb, sys, time; c = duckdb.connect(sys.argv[1]); print('open', flush=True);"
        f" time.sleep({seconds})"
    )
    with subprocess.Popen([sys.executable, "-c", script, str(corpus)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        yield holder
        holder.kill()


@pytest.fixture
def locked(stocked: Path) -> Iterator[Path]:
    """A corpus that another process writes to."""
    with held(stocked, 60):
        yield stocked


@pytest.mark.parametrize("make", COMMANDS)
@pytest.mark.few(2)
def test_a_corpus_in_use_names_who_uses_it(
    exhume: Any,
    source: Path,
    locked: Path,
    tmp_path: Path,
    make: Make,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("exhume.cli.CORPUS_WAIT", 0.2)
    ended = exhume(*make(locked, tmp_path))
    assert ended.code == 2
    assert "in use by process" in ended.said
    assert not (tmp_path / "h").exists()


@pytest.mark.parametrize("command", [["stats"], ["query", "select 1"], ["learn"]], ids=lambda words: words[0])
@pytest.mark.parametrize(("seconds", "lines"), [(0.3, 0), (1.8, 1)])
@pytest.mark.few(2)
def test_a_corpus_in_use_for_a_moment_is_waited_for(
    exhume: Any,
    stocked: Path,
    command: list[str],
    seconds: float,
    lines: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("corpus.store._MOMENT", 0.0 if lines else 20.0)
    with held(stocked, seconds) as holder:
        ended = exhume(*command, "--corpus", stocked)
        assert ended.code == 0
        said = f"waiting up to 30 s for {stocked}, which process {holder.pid} has open"
        assert " ".join(ended.err.split()).count(said) == lines


def test_a_corpus_in_no_folder_cannot_be_made(exhume: Any, source: Path, tmp_path: Path) -> None:
    ended = exhume("import", source, "--corpus", tmp_path / "no" / "c.duckdb")
    assert ended.code == 2
    assert "there is no folder" in ended.said


@pytest.mark.thorough
def test_an_import_killed_on_the_way_loses_nothing_stored(
    start: Any, exhume: Any, stocked: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(1500):
        (folder / f"{number}.smt2").write_text(GOOD.replace("3", str(number)))
    with start("import", folder, "--corpus", stocked) as process:
        time.sleep(1.5)
        process.kill()
    assert errors(exhume, stocked)["good.smt2"][0] == "well-sorted"
    assert exhume("import", folder, "--corpus", stocked).code == 0
    assert exhume("stats", "--corpus", stocked, "--json").json["formulas"] == 1501


# Where things go


@pytest.mark.parametrize("command", ["generate", "hunt"])
def test_an_output_that_is_a_file_is_left_alone(
    exhume: Any, corpus: Path, yes: str, tmp_path: Path, command: str
) -> None:
    file = tmp_path / "taken"
    file.write_text("mine")
    solver = ("--solver", yes) if command == "hunt" else ()
    ended = exhume(command, "--strategy=skeletons", "--corpus", corpus, *solver, "--out", file)
    assert ended.code == 2
    assert str(file) in ended.said
    assert file.read_text() == "mine"


def test_a_batch_does_not_mix_with_other_files(exhume: Any, corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "mine.txt").write_text("mine")
    ended = exhume("generate", "--corpus", corpus, "--out", tmp_path / "t")
    assert ended.code == 2
    assert "empty or new folder" in ended.said
    assert [f.name for f in (tmp_path / "t").iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("command", ["generate", "hunt"])
def test_an_output_that_cannot_be_written_is_said_at_once(
    exhume: Any, corpus: Path, yes: str, command: str
) -> None:
    solver = ("--solver", yes) if command == "hunt" else ()
    given = ("--strategy=skeletons", "--corpus", corpus, *solver)
    ended = exhume(command, *given, "--out", "/proc/exhume")
    assert ended.code == 2
    assert "/proc/exhume" in ended.said


def test_a_hunt_checks_its_output_before_it_looks_for_answers(
    exhume: Any, corpus: Path, yes: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("exhume.commands.hunt.find_answers", lambda *given: pytest.fail("too late"))
    ended = exhume("hunt", "--corpus", corpus, "--solver", yes, "--out", "/proc/exhume")
    assert (ended.code, "/proc/exhume" in ended.said) == (2, True)


def test_a_full_disk_stops_an_import_and_keeps_what_was_stored(
    exhume: Any, small_disk: Path, source: Path, tmp_path: Path
) -> None:
    corpus = small_disk / "c.duckdb"
    assert exhume("import", source, "--corpus", corpus).code == 0
    folder = tmp_path / "much"
    folder.mkdir()
    noise = random.Random(1)
    for number in range(8):
        # Nothing that can be packed: a megabyte is a megabyte.
        (folder / f"{number}.smt2").write_text(f"; {noise.randbytes(1_000_000).hex()}\n{GOOD}")
    ended = exhume("import", folder, "--corpus", corpus)
    assert ended.code == 2
    assert "full" in ended.said or "space" in ended.said
    assert errors(exhume, corpus)["a.smt2"][0] == "well-sorted"


def test_a_full_disk_stops_a_batch(exhume: Any, small_disk: Path, corpus: Path) -> None:
    ended = exhume("generate", "--corpus", corpus, "--count", 20_000, "--out", small_disk / "t")
    assert ended.code == 2
    assert "No space left" in ended.said


def test_a_full_disk_stops_a_hunt(exhume: Any, small_disk: Path, corpus: Path, yes: str, no: str) -> None:
    (small_disk / "h" / "findings").mkdir(parents=True)
    with (small_disk / "filler").open("wb", buffering=0) as filler, contextlib.suppress(OSError):
        while filler.write(b"x" * 4096) > 0:
            pass
    ended = exhume(*hunting(corpus, small_disk / "h", yes, no), "--tests", 5)
    assert ended.code == 2
    assert "No space left" in ended.said


# Solvers


@pytest.mark.parametrize(
    ("spec", "code", "words"),
    [
        ("z4", 2, "did you mean z3"),
        ("cvc4", 2, "did you mean cvc5"),
        ("z3==", 2, "not a version"),
        ("z3==latest", 2, "not a version"),
        ("mine=", 2, "no command line after '='"),
        ("=z3", 2, "the name before '='"),
        ("mine='z3", 2, "cannot be read"),
        ("mine=no-such-program-here --flag", 3, "no program 'no-such-program-here'"),
        ("mine=/bin/false", 3, "does not answer (check-sat), even in a trivial script: no answer"),
        ("mine=/bin/cat -", 3, "does not answer (check-sat)"),
    ],
)
@pytest.mark.parametrize("command", ["hunt", "replay"])
@pytest.mark.few(10)
def test_a_solver_that_cannot_be_had(
    exhume: Any, starter: Path, tmp_path: Path, command: str, spec: str, code: int, words: str
) -> None:
    out = ("--out", tmp_path / "h") if command == "hunt" else ()
    ended = exhume(command, "--corpus", starter, "--solver", spec, *out)
    assert ended.code == code
    assert words in ended.said
    assert not (tmp_path / "h").exists()


def test_two_solvers_of_one_name(exhume: Any, starter: Path, tmp_path: Path) -> None:
    ended = exhume(*hunting(starter, tmp_path / "h", "z3", "z3"))
    assert ended.code == 2
    assert "two solvers are called 'z3'" in ended.said


# Processes that do such things have tests of their own in tests/solvers/test_process.py.
MISBEHAVING = {
    "hangs": ("timeout", "time.sleep(600)"),
    "floods": (None, "[print('x' * 1000) for _ in range(10**7)]"),
    "eats-memory": (None, "a = [bytearray(10**8) for _ in range(1000)]"),
    "leaves-children": (
        "ok",
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(777)']); print('sat')",
    ),
    "ignores-signals": ("timeout", "signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"),
    "prints-bytes": (
        "refused",
        "print('sat') if 'true' in text else sys.stdout.buffer.write(bytes(range(256)))",
    ),
    "closes-output": ("timeout", "os.close(1); os.close(2); time.sleep(600)"),
}


@pytest.mark.parametrize("name", MISBEHAVING)
@pytest.mark.few(4)
def test_a_solver_that_misbehaves_harms_nothing(
    exhume: Any,
    formulas: Path,
    yes: str,
    fake: Fake,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outcome, body = MISBEHAVING[name]
    monkeypatch.setattr("solvers.lookup._TRIVIAL_LIMITS", Limits(seconds=1.0))
    started = time.monotonic()
    formula = sorted(formulas.rglob("*.smt2"))[0]
    ended = exhume(
        "replay", formula, "--solver", yes, "--solver", fake("bad", body), "--limit", "2", "--json"
    )
    assert ended.code == (3 if outcome == "refused" else 0)
    assert time.monotonic() - started < 120
    rows = ended.json["files"]
    assert [r["outcome"] for r in rows if r["solver"] == "yes"] == ["ok"]
    assert len(rows) == 2
    assert outcome is None or {r["outcome"] for r in rows if r["solver"] == "bad"} == {outcome}
    left = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert "time.sleep(777)" not in left


def test_a_hunt_without_formulas_says_what_to_do(exhume: Any, yes: str, tmp_path: Path) -> None:
    Corpus.open(tmp_path / "c.duckdb", write=True).close()
    ended = exhume(*hunting(tmp_path / "c.duckdb", tmp_path / "h", yes))
    assert ended.code == 2
    assert "exhume learn" in ended.said
    assert not (tmp_path / "h").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("hunt",), "Missing option '--out'"),
        (("hunt", "--out", "h"), "--solver"),
        (("lern",), "learn"),
        (("generate", "--cuont", "3"), "--count"),
        (("generate", "--count", "many"), "Invalid value for '--count'"),
        (("hunt", "--jobs", "0"), "--jobs"),
        (("import", "no-such-folder", "--corpus", "c"), "no-such-folder"),
        (("replay", "no-such-file", "--solver", "z3"), "no-such-file"),
        (("replay", "f", "--solver", "z3", "--limit", "inf"), "--limit"),
        (("apifuzz", "run", "--solver", "z3", "--out", "h", "--time", "99999999999d"), "too long"),
        (("stats", "--corpus", "x" * 300), "File name too long"),
        (("query", "select 1", "--corpus", "x" * 300), "File name too long"),
        (("triage", ".", "--as", "fixed"), "only for --mark"),
        (("triage", ".", "--solver", "z3"), "only for --import"),
        (("bugs", "verify", "--mark"), "name one of your own with --bugs"),
    ],
)
def test_usage_errors(exhume: Any, arguments: tuple[str, ...], words: str) -> None:
    ended = exhume(*arguments)
    assert ended.code == 2
    assert words in ended.err
    assert ended.out == ""


def test_work_on_findings_that_cannot_be_written_does_not_start(exhume: Any, small_disk: Path) -> None:
    finding(small_disk / "h", 1)
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    for command in ("reduce", "bisect"):
        ended = exhume(command, "--all", small_disk / "h")
        assert (ended.code, "cannot be written" in ended.said, "1 of 1" in ended.said) == (2, True, False)


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES])
def test_a_place_that_may_not_be_written_is_one_line(
    number: int, exhume: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number), "some/file")

    monkeypatch.setattr("exhume.cli.app", fails)
    ended = exhume("stats")
    place = "some/file; name a place that you may read and write\n"
    assert (ended.code, ended.err) == (2, f"exhume: {os.strerror(number)}: {place}")
