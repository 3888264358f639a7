"""triage and the ledger on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.conftest import HUNT
from tests.exhume.test_report import campaign, finding


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A campaign of four findings below the current folder."""
    monkeypatch.chdir(tmp_path)
    for number in range(1, 5):
        finding(tmp_path / "found", number, key=f"invalid-model|z3-4.8.5|Ints|op{number}")
    campaign(tmp_path / "found")
    return tmp_path


def test_marks_are_kept_and_shown(exhume: Any, place: Path) -> None:
    rows = exhume("triage", "found", "--json").json
    assert [row["report_now"] for row in rows] == [True, True, True, False]
    assert {row["tracker"] for row in rows} == {"Z3Prover/z3"} and not any(row["ledger"] for row in rows)
    ended = exhume("triage", "found", "--mark", f"{2:012x}", "--at", "https://example.org/7")
    assert ended.code == 0
    assert "findings.toml: invalid-model|z3|Ints|op2: reported 2" in ended.err
    rows = {row["id"]: row for row in exhume("triage", "found", "--json").json}
    assert rows[f"{2:012x}"]["ledger"] == {"state": "reported", "at": "https://example.org/7"}
    # One of the three of this week was sent.
    assert sum(row["report_now"] for row in rows.values()) == 2
    shown = exhume("triage", "found", "--per-week", 1).out
    assert "https://example.org/7" in shown and "later" in shown and "now" not in shown


def test_a_mark_with_names_is_one_of_the_cause(exhume: Any, place: Path) -> None:
    ended = exhume("triage", "found", "--mark", f"{2:012x}", "--as", "wont-fix", "--names", "op2")
    assert ended.code == 0 and "invalid-model|z3|op2: wont-fix 2" in ended.err
    finding(place / "found", 7, key="invalid-model|z3-5.4.0|Reals|op2,op7")
    rows = exhume("triage", "found", "--json").json
    assert {row["id"] for row in rows if row["ledger"]} == {f"{2:012x}", f"{7:012x}"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--mark", "zzz"), "--mark zzz: no finding has this id"),
        (("--mark", "0"), "--mark 0: several ids begin with it"),
        (("--mark", f"{1:012x}", "--as", "fixed"), "name the release that fixed it with --at"),
        (("--mark", f"{1:012x}", "--as", "lost"), "'lost' is not one of"),
        (("--mark", f"{1:012x}", "--names", "op1,op2"), "does not mention all of op1, op2"),
        (("--ledger", "none.toml"), "none.toml: no such file"),
    ],
)
def test_bad_marks_change_nothing(exhume: Any, place: Path, options: tuple[str, ...], said: str) -> None:
    ended = exhume("triage", "found", *options)
    assert ended.code == 2
    assert said in ended.err
    assert not (place / "findings.toml").exists()


def test_a_hunt_reads_the_ledger_of_its_folder(exhume: Any, place: Path, yes: str) -> None:
    (place / "findings.toml").write_text("[[finding]]\n")
    command = (*HUNT, "--solver", yes, "--solver", "z3", "--tests", 1, "--out", place / "h")
    assert "findings.toml: finding number 1" in exhume(*command, "--seeds", place).err
    calls = ("apifuzz", "run", "--solver", "smtlib", "--runs", 1, "--out", place / "c")
    assert "findings.toml: finding number 1" in exhume(*calls).err
