"""The ledger: what it silences in hunts, what it takes, and the queue."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from difftest import HuntOptions, Solver, Stage, hunt
from difftest.campaign.events import HuntFinished, HuntSummary
from difftest.errors import DifftestError
from difftest.triage.folder import FindingFolder
from difftest.triage.known import KnownErrors
from difftest.triage.ledger import (
    Became,
    Entry,
    Ledger,
    add_entry,
    campaigns_below,
    general_key,
    is_memory_error,
    queue,
)
from generator.strategy import GeneratedTest
from tests.difftest.test_reports import write

TODAY = datetime.date(2026, 11, 23)
KEY = "crash|z3-4.8.5|a.cpp:7"
TEXT = "(declare-const x Int)\n(assert (> x {}))\n(check-sat)\n"
DIES = "say('ASSERTION VIOLATION', 'File: ../src/' + ('a' if '> x 1)' in text else 'b') + '.cpp', 'Line: 7')"
DIES += "; os.kill(os.getpid(), 6)"


def test_keys_are_those_of_all_releases() -> None:
    assert general_key("crash|z3-4.8.5[a=b,c=d]|x.cpp:1") == "crash|z3[a=b,c=d]|x.cpp:1"
    assert general_key("soundness|z3[t=a+b]+mine|Int") == "soundness|z3[t=a+b]+mine|Ints"
    assert general_key("soundness|z3-5.4.0+debug.address[a=b]+mine+debug|Ints") == (
        "soundness|z3[a=b]+mine+debug|Ints"
    )
    assert general_key("crash|z3-nightly|f") == "crash|z3|f" and general_key("odd") == "odd"


def test_what_is_fixed_is_known_in_older_releases_only() -> None:
    ledger = Ledger([Entry(general_key(KEY), Became.FIXED, at="4.8.7"), Entry("crash|z3|b", Became.WONT_FIX)])
    assert ledger.silencing(KEY, "4.8.5") is not None
    assert [ledger.silencing(KEY, release) for release in ("4.8.7", "5.4.0", None)] == [None] * 3
    assert ledger.find(KEY) is not None
    assert KnownErrors.of([], ledger).match("crash|z3-9.9|b", "9.9") == "crash|z3|b"
    # One option more, and one theory more, is the same cause, as in a hunt.
    ledger = Ledger([Entry("soundness|z3|Ints|div", Became.REPORTED)])
    assert ledger.find("soundness|z3-4.8.5[proof=true]|Ints+Reals|div") is not None
    assert ledger.find("soundness|z3-4.8.5|Ints|mod") is None and Ledger().find(KEY) is None


def test_entries_are_added_and_read_again(tmp_path: Path) -> None:
    found = FindingFolder.read(write(tmp_path / "f", key='invalid-model|z3-4.8.5|Ints|"q"'))
    file = tmp_path / "findings.toml"
    add_entry(file, found, Became.REPORTED, "https://example.org/1", TODAY)
    file.write_text(file.read_text() + "# a person's note\n")
    add_entry(file, found, Became.FIXED, "4.8.7", TODAY)
    assert "# a person's note" in file.read_text()
    first, second = Ledger.read(file).entries
    assert (first.key, first.on, first.tracker) == ('invalid-model|z3|Ints|"q"', TODAY, "Z3Prover/z3")
    assert str(first) == "reported 2026-11-23, https://example.org/1" and str(second) == "fixed in 4.8.7"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[finding]]\nstate = 'reported'", "finding number 1: write key"),
        ("[[finding]]\nkey = 'k'\nstate = 'reportd'", "state 'reportd': not known; did you mean reported?"),
        ("[[finding]]\nkey = 'k'\nstate = 'fixed'\non = '2026'", "on: write a date"),
        ("finding = 3", r"write each finding under \[\[finding\]\]"),
        ("finding = [3]", "finding number 1"),
        ("[[", "not a ledger of findings"),
        ("\udcff", "not a ledger of findings"),
    ],
)
def test_a_ledger_that_cannot_be_read_is_one_line(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "findings.toml"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(DifftestError, match=said):
        Ledger.read(file)
    with pytest.raises(DifftestError, match="not a ledger"):
        Ledger.read(tmp_path / "none")


def run(tests: list[GeneratedTest], solver: Solver, out: Path, ledger: Ledger | None) -> HuntSummary:
    options = HuntOptions(out, stages=(Stage(5.0, 1.0),), warm=False, ledger=ledger)
    *_, last = hunt(tests, [solver], options)
    assert isinstance(last, HuntFinished)
    return last.summary


def test_hunts_count_what_is_listed_and_report_the_rest(
    fake: Callable[..., Solver], make_test: Callable[..., GeneratedTest], tmp_path: Path
) -> None:
    solver = fake(DIES, "z3-own")
    tests = [make_test(TEXT.format(number), number) for number in (1, 1, 2)]
    first = run(tests, solver, tmp_path / "one", None)
    assert {record.key for record in first.findings} == {"crash|z3-own|a.cpp:7", "crash|z3-own|b.cpp:7"}
    listed = run(tests, solver, tmp_path / "two", Ledger([Entry("crash|z3|a.cpp:7", Became.REPORTED)]))
    assert [record.key for record in listed.findings] == ["crash|z3-own|b.cpp:7"]
    assert listed.statistics["known"] == {"crash|z3|a.cpp:7": 2}
    assert list(campaigns_below([tmp_path], tmp_path / "two")) == [tmp_path / "one"]
    earlier = Ledger().with_earlier(campaigns_below([tmp_path]))
    assert {str(entry.state) for entry in earlier.entries} == {"seen"}
    assert run(tests, solver, tmp_path / "three", earlier).findings == ()


def finding(folder: Path, number: int, **changes: Any) -> FindingFolder:
    key = changes.pop("key", f"invalid-model|z3-4.8.5|Ints|op{number}")
    return FindingFolder.read(write(folder / str(number), id=f"{number:012x}", key=key, **changes))


def test_the_queue_is_worst_first_and_short(tmp_path: Path) -> None:
    found = [finding(tmp_path, number) for number in range(5)]
    listed = Entry(general_key(found[0].key), Became.WONT_FIX, TODAY, "no", "Z3Prover/z3")
    old = Entry("crash|z3|old", Became.REPORTED, TODAY - datetime.timedelta(days=7), "", "Z3Prover/z3")
    due = queue(found, Ledger([listed, old]), 3, TODAY)
    assert [one.words for one in due] == ["wont-fix 2026-11-23, no", "now", "now", "later", "later"]
    assert [one.words for one in queue(found[1:], Ledger(), 0, TODAY)] == ["later"] * 4
    (found[4].path / "bisect.json").write_text('{"complete": true, "report": {"first_fixed": "4.8.7"}}')
    again = FindingFolder.read(found[4].path)
    assert [one.words for one in queue([again], Ledger(), 3, TODAY)] == ["fixed in 4.8.7"]


def test_memory_errors_are_for_private_reports(tmp_path: Path) -> None:
    plain = finding(tmp_path, 1)
    bad = finding(tmp_path, 2, stdout="==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x1\n")
    assert [is_memory_error(one) for one in (plain, bad)] == [False, True]
    assert {one.words for one in queue([plain, bad], Ledger(), 3, TODAY)} == {"now", "now, in private"}
