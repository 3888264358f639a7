"""Campaigns from the command line: resuming, several strategies, what the screen shows, a full disk."""

from __future__ import annotations

import contextlib
import io
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest
from rich.console import Console

from corpus.errors import CorpusLocked, CorpusMissing
from corpus.results import BatchRecord, FoundRecord
from corpus.store import Corpus
from difftest import FindingRecord, Outcome, Progress, find_solver
from difftest.campaign import store_findings
from difftest.campaign.state import CampaignState
from difftest.campaign.store_findings import Recorder, record_finding
from difftest.campaign.stored import ArmState, NoCampaign, read_campaign
from difftest.triage.store import read_findings
from exhume.screens.console import Pace, PlainConsole, progress
from exhume.screens.hunt import Goal, HuntScreen
from exhume.screens.summary import show_findings, show_summary
from exhume.screens.wording import size, span
from tests.difftest.test_reports import write
from tests.exhume.conftest import hunting

Fake = Callable[[str, str], str]


def test_a_killed_hunt_resumes_with_the_same_command(
    exhume: Any, start: Callable[..., subprocess.Popen[str]], corpus: Path, fake: Fake, tmp_path: Path
) -> None:
    slow = fake("slow", "time.sleep(0.03); print('sat')")
    out = tmp_path / "h"
    command = (*hunting(corpus, out, slow), "--tests", 30, "--json")
    process = start(*command)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with contextlib.suppress(NoCampaign):
            if read_campaign(out).tests > 3:
                break
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    done = read_campaign(out).tests
    assert 3 < done < 30
    document = exhume(*command).json
    assert document["tests"] == sum(document["outcomes"]["slow"].values()) == 30
    state = read_campaign(out)
    assert [run.ending for run in state.runs] == [None, "finished"]
    assert (state.open, state.arms[0].next_index) == ((), 30)


def test_resume_needs_no_settings_and_a_campaign_can_be_made_longer(
    exhume: Any, corpus: Path, yes: str, tmp_path: Path
) -> None:
    out = tmp_path / "h"
    exhume(*hunting(corpus, out, yes), "--tests", 4, "--seed", 9)
    assert exhume("hunt", "--resume", "--out", out, "--json").json["tests"] == 4
    assert exhume("hunt", "--resume", "--out", out, "--tests", 7, "--json").json["tests"] == 7
    assert read_campaign(out).settings["seed"] == 9


def test_other_settings_in_the_same_folder_are_one_line(
    exhume: Any, corpus: Path, yes: str, no: str, tmp_path: Path
) -> None:
    out = tmp_path / "h"
    exhume(*hunting(corpus, out, yes), "--tests", 2)
    for changed, said in (
        ([*hunting(corpus, out, yes), "--tests", 2, "--seed", 2], "seed 1, not seed 2"),
        ([*hunting(corpus, out, no), "--tests", 2], "started with solvers"),
        ([*hunting(corpus, out, yes), "--tests", 2, "--bandit"], "bandit off, not bandit on"),
        (["hunt", "--resume", "--out", out, "--seed", 5], "seed 1, not seed 5"),
    ):
        ended = exhume(*changed)
        assert ended.code == 2
        assert said in ended.said


@pytest.mark.parametrize(
    ("settings", "given"),
    [
        ({}, {"solver": ["z3"], "strategy": ["files"]}),
        ({}, {"solver": ["z3"], "strategy": ["all"], "base": "z3"}),
        ({"setups": []}, {"solver": ["z3"], "strategy": ["api"]}),
        ({}, {}),
    ],
)
def test_the_campaign_of_another_command_is_not_resumed(
    exhume: Any, tmp_path: Path, settings: dict[str, Any], given: dict[str, Any]
) -> None:
    CampaignState.open(tmp_path, settings, notes={"given": given}).close()
    ended = exhume("hunt", "--resume", "--out", tmp_path)
    said = "the campaign there was not started by 'exhume hunt'; repeat its own command to resume it"
    assert (ended.code, ended.said) == (2, f"exhume: {tmp_path}: {said}")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--resume"], "no campaign there"),
        (["--corpus", "c.duckdb"], "--solver"),
        (["--solver", "z3", "--corpus", "c.duckdb", "--executor", "dask"], "--scheduler tcp://HOST:PORT"),
    ],
)
def test_what_is_missing_is_said(
    exhume: Any, starter: Path, tmp_path: Path, arguments: list[str], said: str
) -> None:
    given = [str(starter) if part == "c.duckdb" else part for part in arguments]
    ended = exhume("hunt", *given, "--out", tmp_path / "h")
    assert ended.code == 2
    assert said in ended.err


@pytest.mark.thorough
def test_ctrl_c_twice_while_findings_are_stored_leaves_the_summary(
    exhume: Any, corpus: Path, breaks: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closing = threading.Event()
    signals = [signal.SIGINT, signal.SIGINT]

    def locked(*_: object) -> None:
        while closing.is_set() and signals:
            time.sleep(0.3)
            os.kill(os.getpid(), signals.pop())
        raise CorpusLocked(f"{corpus} is in use by process 1", corpus, 1)

    def close(recorder: Recorder) -> None:
        closing.set()
        close_really(recorder)

    close_really = Recorder.close
    monkeypatch.setattr(store_findings, "store_hunt", locked)
    monkeypatch.setattr(Recorder, "close", close)
    ended = exhume(*hunting(corpus, tmp_path / "h", breaks), "--tests", 1, "--first-limit", 20, "--json")
    assert not signals
    assert (ended.code, len(ended.json["findings"])) == (1, 1)
    assert "1 finding is not in the corpus yet: " in ended.err


def test_a_finding_that_cannot_be_stored_holds_up_no_other(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, name in enumerate(["bad", "good", "merged"]):
        test = {"strategy": "s", "index": number}
        write(tmp_path / "findings" / name, id=name, key=f"invalid-model|z3|{name}", test=test)

    def store(opened: Corpus, batch: BatchRecord, rows: list[FoundRecord]) -> int:
        folder = Path(rows[0].path)
        if folder.name == "bad":
            raise duckdb.ConversionException("of this one")
        stored = store_really(opened, batch, rows)
        if folder.name == "merged":
            folder.rename(tmp_path / folder.name)
        return stored

    store_really = store_findings.store_hunt
    monkeypatch.setattr(store_findings, "store_hunt", store)
    monkeypatch.setattr(store_findings, "_RETRY_SECONDS", 0.01)
    recorder = Recorder(corpus, {}, 1, [find_solver("z3")])
    for record in read_findings(tmp_path / "findings"):
        recorder.add(record)
    deadline = time.monotonic() + 60
    while recorder.left > 1 and time.monotonic() < deadline:
        time.sleep(0.01)
    recorder.close()
    assert sorted(recorder.take_stored()) == ["good", "merged"]
    assert (recorder.left, "of this one" in recorder.problem) == (1, True)


def test_no_corpus_is_made_for_findings_where_that_of_the_hunt_is_gone(tmp_path: Path) -> None:
    corpus = tmp_path / "gone.duckdb"
    with pytest.raises(CorpusMissing, match="put it back"):
        record_finding(corpus, BatchRecord("", 1, "", "", ("z3",)), {}, tmp_path)
    assert not corpus.exists()


@pytest.mark.thorough
def test_several_strategies_share_a_hunt_and_the_corpus_knows_their_tests(
    exhume: Any, corpus: Path, breaks: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    out = Path("h")
    command = (*hunting(corpus, out, breaks), "--tests", 8, "--strategy", "skeletons,opfuzz", "--json")
    found = exhume(*command).json["findings"]
    arms = {arm.strategy: arm.tests for arm in read_campaign(out).arms}
    assert arms == {"skeletons": 4, "opfuzz": 4}
    sql = (
        "select batch.strategy, test.index, finding.path from finding"
        " join test on test.id = test_id join batch on batch.id = batch_id"
    )
    rows = exhume("query", sql, "--corpus", corpus, "--json").json
    # The corpus may be asked from another folder.
    assert {row["path"] for row in rows} == {str(tmp_path / finding["path"]) for finding in found}
    assert {row["strategy"] for row in rows} == {"skeletons", "opfuzz"}
    for row in rows:
        head = (Path(row["path"]) / "original.smt2").read_text()
        assert f"index {row['index']}" in head.splitlines()[0] or row["strategy"] != "skeletons"


def test_a_hunt_by_time_moves_its_time(exhume: Any, corpus: Path, yes: str, tmp_path: Path) -> None:
    out = tmp_path / "h"
    exhume(*hunting(corpus, out, yes), "--time", "2s")
    arms = read_campaign(out).arms
    assert len(arms) > 3
    assert sum(arm.share for arm in arms) == pytest.approx(1)
    assert all(arm.test_class for arm in arms)


def test_a_full_disk_stops_a_hunt_with_its_summary(
    shell: Any, start: Callable[..., subprocess.Popen[str]], corpus: Path, breaks: str, small_disk: Path
) -> None:
    with start(*hunting(corpus, small_disk / "h", breaks), "--time", "90s") as process:
        while process.poll() is None and not list(small_disk.glob("h/findings/crash-*")):
            time.sleep(0.05)
        with contextlib.suppress(OSError), (small_disk / "rest").open("wb", buffering=0) as rest:
            while rest.write(bytes(4096)):
                pass
        out, err = process.communicate(timeout=120)
    assert process.returncode == 2, err
    assert f"No space left on device: {small_disk}" in err.splitlines()[-1]
    assert "--resume" in err
    assert "findings" in out
    # The corpus lies elsewhere and has what was found until then.
    stored = shell("query", "select count(*) as n from finding", "--corpus", corpus, "--json").json
    folders = list((small_disk / "h" / "findings").glob("crash-*"))
    assert stored[0]["n"] >= len(folders) > 0
    assert not list((small_disk / "h" / "findings").glob(".tmp-*"))
    # Fails if a process is left that uses it.
    subprocess.run(["umount", small_disk], check=True)


def progress_of(now: float, tests: int) -> Progress:
    return Progress(
        tests=tests,
        decided=tests // 2,
        findings=tuple(
            FindingRecord(str(n), name, "z3", f"{name}|z3|{n}", False, Path())
            for n, name in enumerate(("crash", "crash", "soundness"))
        ),
        seconds=now + 3600,
        now=now,
        solver_seconds=now,
        outcomes={"z3": {Outcome.OK: tests}, "cvc5[evil]": {Outcome.TIMEOUT: 1, Outcome.OK: tests - 1}},
        new_in_hour=2,
        jobs=2,
        memory=300 << 20,
        arms=(
            ArmState("skeletons", "Ints", 9, False, 70, 50, 3, 20.0, 0.7),
            ArmState("opfuzz", "", 9, False, 30, 10, 0, 10.0, 0.3),
        ),
    )


def test_findings_under_young_options_are_listed_last(capsys: pytest.CaptureFixture[str]) -> None:
    names = ("z3-5.4.1[sat.smt=true]", "z3-5.4.1", "cvc5+z3[smt.bv.solver=2]", "cvc5")
    findings = [
        FindingRecord(str(n), "crash", name, f"crash|{name}|place{n}", n == 1, Path("out", f"crash-{n}"))
        for n, name in enumerate(names)
    ]
    show_findings(findings)
    shown = capsys.readouterr().out
    assert (
        "4 findings, 1 of them from an earlier hunt, 2 under options of young engines, listed last" in shown
    )
    assert re.findall(r"place(\d)", shown) == ["1", "3", "0", "2"]
    assert [record.to_json()["young"] for record in findings] == [True, False, True, False]


def test_the_screen_shows_rates_outcomes_findings_and_what_pays(tmp_path: Path) -> None:
    screen = HuntScreen("exhume hunt: z3, cvc5", Goal("1000 tests", "10m"))
    screen.update(progress_of(10, 100))
    screen.update(progress_of(20, 300))
    console = Console(width=100, record=True, file=open(os.devnull, "w"))  # noqa: SIM115, PTH123
    console.print(screen.render(progress_of(20, 300)))
    shown = console.export_text()
    console.file.close()
    assert "300 of 1000 tests, 1:00:20 of 10m, 2 jobs, 300 MB" in shown
    assert "300 tests (20.0/s), 150 decided (10.0/s)" in shown
    assert "3 findings: 2 crash, 1 soundness; 2 in the last hour" in shown
    lines = shown.splitlines()
    assert any("cvc5[evil]" in line and "299" in line for line in lines)
    assert any(line.split()[:6] == ["skeletons", "Ints", "70%", "70", "2.5", "3"] for line in lines)
    assert screen.line(progress_of(20, 300)).startswith("1:00:20: 300 tests (20.0/s)")


def test_elsewhere_a_line_is_printed_soon_then_at_times(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [1000.0]
    monkeypatch.setattr(Pace, "FIRST", 5.0)
    monkeypatch.setattr("exhume.screens.console.time", SimpleNamespace(monotonic=lambda: clock[0]))
    with HuntScreen("hunt") as screen, HuntScreen("hunt", quiet=True) as quiet:
        for second in range(0, 80, 10):
            clock[0] = 1000.0 + second
            screen.update(progress_of(second, 10 * second))
            quiet.update(progress_of(second, 10 * second))
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(" tests")[0] for line in lines] == ["1:00:10: 100", "1:00:40: 400", "1:01:10: 700"]
    assert all("(10.0/s)" in line and line.endswith("300 MB") for line in lines)


def test_elsewhere_a_long_step_prints_lines_even_if_nothing_is_done(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Pace, "FIRST", 0.1)
    monkeypatch.setattr(Pace, "EVERY", 0.2)
    said: list[str] = []

    def lines(count: int) -> list[str]:
        """All lines so far, when there are so many."""
        deadline = time.monotonic() + 30
        while len(said) < count and time.monotonic() < deadline:
            time.sleep(0.02)
            said.extend(capsys.readouterr().err.splitlines())
        return [line.partition(", ")[0] for line in said]

    with progress("learning") as tick, progress("silent", quiet=True):
        assert set(lines(1)) == {"learning"}
        tick(3, 9)
        assert lines(len(said) + 2)[-1] == "learning: 3 of 9"


def test_a_screen_says_something_before_the_first_test(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = PlainConsole(file=io.StringIO(), force_terminal=True, width=100)
    monkeypatch.setattr("exhume.screens.hunt.err", terminal)
    with HuntScreen("exhume hunt: z3, cvc5"):
        pass
    assert isinstance(terminal.file, io.StringIO)
    shown = terminal.file.getvalue()
    assert "exhume hunt: z3, cvc5" in shown and "making the first tests" in shown


def test_a_finding_on_the_screen_is_shown_as_it_is() -> None:
    screen = HuntScreen("hunt")
    screen._live = object()  # type: ignore[assignment]
    path = Path("/f/soundness-x[bold]")
    screen.found(FindingRecord("i", "soundness", "z3", "soundness|z3|[red]Ints", False, path))
    console = Console(width=120, record=True, file=open(os.devnull, "w"))  # noqa: SIM115, PTH123
    console.print(screen.render(progress_of(5, 10)))
    assert "soundness of z3: [red]Ints (soundness-x[bold])" in console.export_text()
    console.file.close()


def test_spans_and_sizes() -> None:
    assert [span(5), span(75), span(3675), span(200_000)] == ["0:05", "1:15", "1:01:15", "2d 7:33:20"]
    assert [size(3 << 20), size(5 << 30)] == ["3 MB", "5.0 GB"]


def test_the_summary_names_what_it_counts(capsys: pytest.CaptureFixture[str]) -> None:
    counts = {"calls": {"check": 9}, "answers": {"sat": 2}, "known": {"crash|z3|a.cpp:1": 3}}
    outcomes = {**progress_of(10, 100).outcomes, "z3+cvc5": {}}
    show_summary(replace(progress_of(10, 100), statistics=counts, outcomes=outcomes))
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("API fuzzing: 9 calls (") and lines[1].endswith(": 2 sat")
    assert [line.split()[0] for line in lines[2:6]] == ["solver", "z3", "cvc5[evil]", "known"]
    assert lines[5] == "known and not reported: 3"


@pytest.mark.thorough
def test_a_command_to_paste_is_quoted(
    exhume: Callable[..., Any], corpus: Path, yes: str, no: str, tmp_path: Path
) -> None:
    out = tmp_path / "two words"
    ended = exhume(*hunting(corpus, out, yes, no), "--first-limit", 10, "--tests", 2)
    assert ended.err == f"next: exhume reduce --all '{out}'\n"
    assert f"exhume reduce --all '{out}'" in exhume("report", out).err
