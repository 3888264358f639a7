"""The ledger: what it silences in hunts, what it takes, and the queue."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from difftest import HuntOptions, Solver, Stage, hunt
from difftest.campaign.events import HuntSummary
from difftest.errors import DifftestError
from difftest.triage.folder import FindingFolder, words_in
from difftest.triage.ledger import (
    Became,
    Entry,
    KnownCause,
    Ledger,
    add_entry,
    campaigns_below,
    general_key,
    is_memory_error,
    queue,
)
from generator.strategy import GeneratedTest
from tests.difftest.hunts import summary_of
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
    limited = "crash|z3[a=b,rlimit=9]+cvc5[rlimit-per=9]+mine[rlimit=9]|f"
    assert general_key(limited) == "crash|z3[a=b]+cvc5+mine[rlimit=9]|f"
    assert general_key("crash|z3-nightly|f") == "crash|z3|f" and general_key("odd") == "odd"


def test_what_is_fixed_is_known_in_older_releases_only() -> None:
    ledger = Ledger([Entry(general_key(KEY), Became.FIXED, at="4.8.7"), Entry("crash|z3|b", Became.WONT_FIX)])
    assert ledger.silencing(KEY, "4.8.5") is not None
    assert [ledger.silencing(KEY, release) for release in ("4.8.7", "5.4.0", None)] == [None] * 3
    assert ledger.find(KEY) is not None
    assert (known := ledger.silencing("crash|z3-9.9|b", "9.9")) is not None and known.key == "crash|z3|b"
    # One option more, and one theory more, is the same cause, as in a hunt.
    ledger = Ledger([Entry("soundness|z3|Ints|div", Became.REPORTED)])
    assert ledger.find("soundness|z3-4.8.5[proof=true]|Ints+Reals|div") is not None
    assert ledger.find("soundness|z3-4.8.5|Ints|mod") is None and Ledger().find(KEY) is None


def test_entries_are_added_and_read_again(tmp_path: Path) -> None:
    found = FindingFolder.read(write(tmp_path / "f", key='invalid-model|z3-4.8.5|Ints|"q"'))
    file = tmp_path / "findings.toml"
    add_entry(file, found, Became.REPORTED, "https://example.org/1", TODAY)
    file.write_text(file.read_text() + "# a person's note\n")
    link = tmp_path / "link.toml"
    link.symlink_to(file)
    add_entry(link, found, Became.FIXED, "4.8.7", TODAY)
    assert link.is_symlink()
    assert "# a person's note" in file.read_text()
    first, second = Ledger.read(file).entries
    assert (first.key, first.on, first.tracker) == ('invalid-model|z3|Ints|"q"', TODAY, "Z3Prover/z3")
    assert str(first) == "reported 2026-11-23, https://example.org/1" and str(second) == "fixed in 4.8.7"


def test_a_list_in_one_line_gets_no_entry(tmp_path: Path) -> None:
    found = FindingFolder.read(write(tmp_path / "f"))
    file = tmp_path / "findings.toml"
    file.write_text('finding = [{key = "crash|z3|a.cpp:7", state = "reported"}]\n')
    before = file.read_text()
    assert len(Ledger.read(file).entries) == 1
    with pytest.raises(DifftestError, match=r"write each entry under \[\[finding"):
        add_entry(file, found, Became.REPORTED, "", TODAY)
    assert file.read_text() == before


def test_any_text_is_written_so_that_it_is_read_again(tmp_path: Path) -> None:
    key = 'invalid-model|z3|"\\\\\x7f\x01\U0001f600'
    file = tmp_path / "findings.toml"
    found = FindingFolder.read(write(tmp_path / "f", key=key))
    add_entry(file, found, Became.DUPLICATE, "\U0001f600\x7f \udcff", TODAY)
    (entry,) = Ledger.read(file).entries
    assert (entry.key, entry.at) == (key, "\U0001f600\x7f \\udcff")
    assert Ledger.read(file).find(key) == entry


HORN = "(set-option :smt.mbqi true)\n(set-logic HORN)\n(assert (= (store a 0 1) a)) ; set.range\n"


def cause(*names: str, **more: Any) -> Entry:
    known = KnownCause("z3", more.pop("kind", "soundness"), frozenset(names), more.pop("place", "*"))
    return Entry(str(known), more.pop("state", Became.REPORTED), cause=known, **more)


@pytest.mark.parametrize(
    ("entry", "key", "text", "is_known"),
    [
        (cause("HORN", "store"), "soundness|z3-5.4.0|ArraysEx|const", HORN, True),
        # The operators of the key count, too; a comment does not.
        (cause("HORN", "const"), "soundness|cvc5-1.3.0+z3-5.4.0[a=b]|ArraysEx|const", HORN, True),
        (cause("smt.mbqi"), "soundness|z3-5.4.0|ArraysEx|const", HORN, True),
        (cause("HORN", "set.range"), "soundness|z3-5.4.0|ArraysEx|const", HORN, False),
        (cause("HORN"), "soundness|z3-5.4.0|ArraysEx|const", "", False),
        (cause("HORN"), "invalid-model|z3-5.4.0|ArraysEx|const", HORN, False),
        (cause("HORN", kind="*"), "invalid-model|z3-5.4.0|ArraysEx|const", HORN, True),
        (cause("HORN"), "soundness|cvc5-1.3.0|ArraysEx|const", HORN, False),
        (
            cause("smt", "tactic.default_tactic"),
            "soundness|z3[tactic.default_tactic=(then smt)]|Ints",
            "",
            False,
        ),
        (cause("smt", "tactic"), "soundness|z3[tactic.default_tactic=(then sat smt)]|Ints", "", True),
        (cause(place="sls_*", kind="crash"), "crash|z3-5.4.0|sls_seq_plugin.cpp:378", "", True),
        (cause(place="sls_*", kind="crash"), "crash|z3-5.4.0|signal SIGSEGV|Ints", "", False),
        (cause("HORN", state=Became.FIXED, at="5.4.1"), "soundness|z3-5.4.0|ArraysEx|const", HORN, True),
        (cause("HORN", state=Became.FIXED, at="5.4.0"), "soundness|z3-5.4.0|ArraysEx|const", HORN, False),
    ],
)
def test_a_cause_is_known_by_what_all_its_findings_have(
    entry: Entry, key: str, text: str, is_known: bool
) -> None:
    assert (Ledger([entry]).silencing(key, "5.4.0", words_in(text, "")) is not None) == is_known


def test_a_cause_is_known_by_the_reason(tmp_path: Path) -> None:
    known = KnownCause("z3", names=frozenset(("euf-completion",)))
    reason = "Both scripts ask the same question; the second one by the tactic (then euf-completion smt)."
    found = FindingFolder.read(write(tmp_path / "f", key="contradiction|z3-4.8.5|Ints", reason=reason))
    assert Ledger([Entry(str(known), Became.SEEN, cause=known)]).find(found.key, found.words) is not None


def test_a_cause_of_a_crash_is_known_by_the_options_of_the_solver() -> None:
    place = "generic_model_converter.cpp:*"
    ledger = Ledger([cause("elim-predicates", "check-sat-using", place=place, kind="crash")])
    for solver, is_known in (("z3-5.4.1[check-sat-using=elim-predicates]", True), ("z3-5.4.1", False)):
        words = words_in("", "", solver)
        found = ledger.find("crash|z3-5.4.1|generic_model_converter.cpp:34", words)
        assert (found is not None) == is_known


def test_the_cause_of_a_finding_is_noted(tmp_path: Path) -> None:
    found = FindingFolder.read(write(tmp_path / "f", key="soundness|z3-4.8.5+cvc4|ArraysEx|const"))
    (found.path / "reduced.smt2").write_text(HORN)
    file = tmp_path / "findings.toml"
    with pytest.raises(DifftestError, match="does not mention all of HORN, bvadd"):
        add_entry(file, found, Became.REPORTED, "", TODAY, ["HORN", "bvadd"])
    assert not file.exists()
    add_entry(file, found, Became.REPORTED, "https://example.org/1", TODAY, ["const", "HORN"])
    (entry,) = Ledger.read(file).entries
    assert entry.cause == KnownCause("z3", "soundness", frozenset(("HORN", "const")))
    assert (entry.key, entry.tracker) == ("soundness|z3|HORN,const", "Z3Prover/z3")
    listed = finding(tmp_path, 3, key="soundness|z3-5.4.0|Sets+ArraysEx|const,select")
    (listed.path / "reduced.smt2").write_text(HORN)
    assert [one.words for one in queue([listed], Ledger.read(file), 3, TODAY)] == [str(entry)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[cause]]\nclass = 'crash'", "cause number 1: write solver = "),
        ("[[cause]]\nclass = 'crash'\nsolver = 'z3'", "write names or place: without them it stands for"),
        ("[[cause]]\nclass = 7\nsolver = 'z3'", "class: write the class"),
        ("[[cause]]\nclass = 'crash'\nsolver = 'z3'\nplace = '*'", "write names or place"),
        ("[[cause]]\nclass = 'crash'\nsolver = 'z3'\nplace = 7", "place: write the place of the crash"),
        ("[[cause]]\nclass = 'crash'\nsolver = 'z3'\nnames = 'HORN'", "names: write a list, such as"),
        ("[[cause]]\nclass = 'crash'\nsolver = 'z3'\nnames = ['HORN']", "state None: not known"),
        ("cause = 3", r"write each cause under \[\[cause\]\]"),
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
    with pytest.raises(DifftestError, match="none: no such file"):
        Ledger.read(tmp_path / "none")


def run(tests: list[GeneratedTest], solver: Solver, out: Path, ledger: Ledger | None) -> HuntSummary:
    options = HuntOptions(out, stages=(Stage(5.0, 1.0),), warm=False, ledger=ledger)
    return summary_of(hunt(tests, [solver], options))


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


def test_a_crash_in_another_function_is_not_known_by_its_operators(tmp_path: Path) -> None:
    plain = "crash|z3[smt.x=2]|signal SIGSEGV|Ints|div"
    other = "crash|z3[smt.x=2]|signal SIGSEGV|Reals|/"
    here, there = (f"crash|z3|signal SIGSEGV in smt::{name}" for name in ("here", "there"))
    by_function = {"key": here, "key_by_operators": plain}
    # Found without gdb, and seen in gdb when it was reduced.
    seen_later = {"key": plain, "reduced": {"confirmed": True, "key": here}}
    for number, changes in enumerate((by_function, seen_later)):
        folder = tmp_path / str(number) / "findings"
        found = finding(folder, number, **{"class": "crash"}, **changes)
        (found.path / "reduced.smt2").write_text(TEXT)
        earlier = Ledger().with_earlier([folder])
        assert earlier.silencing(here, None, by_operators=plain) is not None
        assert earlier.silencing(plain, None) is not None, "there is no gdb here"
        assert earlier.silencing(there, None, by_operators=plain) is None
        assert earlier.silencing(there, None, by_operators=other) is None
        # A finding whose function is not known may be this one.
        finding(folder, 7, **{"class": "crash"}, key=plain)
        earlier = Ledger().with_earlier([folder])
        assert earlier.silencing(there, None, by_operators=plain) is not None
    listed = Ledger([Entry(general_key(plain), Became.REPORTED)])
    assert listed.silencing(there, None, by_operators=other) is not None
