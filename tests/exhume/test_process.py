"""exhume as a process: pipes, colour, Ctrl-C, and its own bugs."""

from __future__ import annotations

import contextlib
import io
import json
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from exhume.cli import main
from exhume.commands import learn
from tests.exhume.conftest import hunting

SLOW = "time.sleep(0.05)\nprint('sat')"


@pytest.mark.thorough
def test_a_whole_session_in_processes_of_its_own(shell: Any, formulas: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "c.duckdb"
    assert shell("import", formulas, "--corpus", corpus).code == 0
    assert shell("learn", "--corpus", corpus, "--min-support", 2).code == 0
    assert shell("stats", "--corpus", corpus, "--json").json["formulas"] == 3
    made = shell("generate", "--corpus", corpus, "--count", 5, "--out", tmp_path / "t", "--json")
    assert made.json["written"] == 5
    ended = shell("replay", tmp_path / "t", "--solver", "z3", "--json")
    assert ended.code == 0
    assert len(ended.json["files"]) == 5


def test_no_colour_and_no_progress_in_pipes(
    shell: Any, corpus: Path, yes: str, no: str, tmp_path: Path
) -> None:
    ended = shell(*hunting(corpus, tmp_path / "h", yes, no), "--tests", 2)
    assert ended.code == 1
    assert "\x1b" not in ended.out + ended.err
    assert "\r" not in ended.out + ended.err
    # On a slow machine, lines of progress come before.
    assert ended.err.splitlines()[-1] == f"next: exhume reduce --all {tmp_path / 'h'}"
    assert not any(line != line.rstrip() for line in ended.out.splitlines())


@pytest.mark.parametrize("form", ["--json", "--format=ndjson", "--format=table"])
@pytest.mark.few(1)
def test_a_reader_that_goes_away_is_no_error(start: Any, starter: Path, form: str) -> None:
    sql = "select body, i from text, range(20) as r(i) limit 5000"
    with start("query", sql, "--corpus", starter, form) as process:
        process.stdout.read(10)
        process.stdout.close()
        err = process.stderr.read()
    assert (process.returncode, err) == (0, "")


def test_results_do_not_need_a_reader_of_messages(
    start: Any, formulas: Path, yes: str, no: str, tmp_path: Path
) -> None:
    command = ("replay", formulas, "--solver", yes, "--solver", no, "--out", tmp_path / "r")
    with start(*command) as process:
        process.stderr.close()
        printed = process.stdout.read()
    assert process.returncode == 1
    assert "0 of 3 files show no bug" in printed


@pytest.mark.parametrize("as_json", [True, False])
@pytest.mark.few(1)
def test_ctrl_c_ends_a_hunt_with_its_summary(
    start: Any, corpus: Path, no: str, fake: Callable[[str, str], str], tmp_path: Path, as_json: bool
) -> None:
    out = tmp_path / "h"
    slow = fake("slow", SLOW)
    options = ("--json",) if as_json else ()
    with start(*hunting(corpus, out, slow, no), *options) as process:
        deadline = time.monotonic() + 120
        while not list(out.glob("findings/soundness-*")) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        printed, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    folders = sorted(str(folder) for folder in out.glob("findings/*"))
    assert folders
    assert not any(".tmp" in folder for folder in folders)
    if as_json:
        assert sorted(f["path"] for f in json.loads(printed)["findings"]) == folders
    else:
        assert "decided by every solver" in printed
    with duckdb.connect(str(corpus), read_only=True) as opened:
        stored = {path for (path,) in opened.execute("select path from finding").fetchall()}
    assert stored == set(folders)


@pytest.mark.parametrize(
    "sleeping",
    [
        pytest.param(1, id="a test"),
        pytest.param(3, id="the evidence on a finding"),
    ],
)
@pytest.mark.thorough
def test_ctrl_c_twice_stops_a_hunt_immediately(
    exhume: Any,
    start: Any,
    corpus: Path,
    no: str,
    fake: Callable[[str, str], str],
    assert_gone: Callable[[str], None],
    tmp_path: Path,
    sleeping: int,
) -> None:
    """Whatever it waits for: from its run of this number on the solver sleeps."""
    out, runs, cured = tmp_path / "h", tmp_path / "runs", tmp_path / "cured"
    # What it is asked before the first test is no test.
    body = "if '; exhume' not in text: print('sat'); sys.exit()\n"
    body += f"open({str(runs)!r}, 'a').write('.')\n"
    body += f"if os.path.exists({str(cured)!r}): print('unsat'); sys.exit()\n"
    body += f"if os.path.getsize({str(runs)!r}) >= {sleeping}: time.sleep(120)\nprint('sat')"
    sleepy = fake(f"sleepy{uuid.uuid4().hex}", body)
    command = (*hunting(corpus, out, sleepy, no), "--tests", 1)
    with start(*command, "--first-limit", 30, "--modes", "default", "--oracles", "soundness") as process:
        deadline = time.monotonic() + 120
        while process.poll() is None and time.monotonic() < deadline and _size(runs) < sleeping:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        said = process.stderr.readline()
        assert "again to stop immediately" in said, said + process.stderr.read()
        process.send_signal(signal.SIGINT)
        started = time.monotonic()
        process.communicate(timeout=60)
    assert time.monotonic() - started < 8
    assert process.returncode == 130
    assert_gone(sleepy.partition("=")[0])
    # What was dropped is done again.
    cured.touch()
    resumed = exhume("hunt", "--resume", "--out", out, "--json")
    assert (resumed.code, resumed.json["tests"]) == (0, 1), resumed.err


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def open_files(pid: int) -> set[str]:
    """What the process has open just now."""
    found = set()
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            found.add(str(entry.readlink()))
    return found


def test_ctrl_c_elsewhere_ends_at_once(start: Any, starter: Path) -> None:
    sql = "select count(*) from range(100000000) a, range(100000) b"
    with start("query", sql, "--corpus", starter) as process:
        while str(starter) not in open_files(process.pid):
            assert process.poll() is None
            time.sleep(0.05)
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        started = time.monotonic()
        printed, err = process.communicate(timeout=30)
    assert time.monotonic() - started < 10
    assert process.returncode in (130, -signal.SIGINT)  # a shell calls both 130
    assert printed == ""
    assert "Traceback" not in err


def test_our_own_bugs_show_where_they_are_and_are_no_findings(
    exhume: Any, starter: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(_: object) -> dict[str, int]:
        raise ZeroDivisionError("ours")

    monkeypatch.setattr(learn, "stats", broken)
    with pytest.raises(ZeroDivisionError, match="ours"):
        exhume("stats", "--corpus", starter)
    monkeypatch.setattr(sys, "argv", ["exhume", "stats", "--corpus", str(starter)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 70
    assert "ZeroDivisionError: ours" in capsys.readouterr().err


@pytest.mark.parametrize("as_json", [True, False])
def test_names_of_files_need_not_be_utf_8(
    no: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, as_json: bool
) -> None:
    name = b"bad\xff.smt2".decode("utf-8", "surrogateescape")
    (tmp_path / name).write_text("(set-info :status sat)(check-sat)")
    printed = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(printed, "utf-8", errors="strict"))
    options = ["--json"] if as_json else []
    monkeypatch.setattr(sys, "argv", ["exhume", "replay", str(tmp_path / name), "--solver", no, *options])
    with pytest.raises(SystemExit) as ended:
        main()
    sys.stdout.flush()
    assert (ended.value.code, b"bad\\udcff.smt2" in printed.getvalue()) == (1, True), printed.getvalue()


def test_starting_does_not_wait_for_pygithub() -> None:
    asked = "import sys, exhume.cli; print('github' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
