"""The book of findings, given by hand what workers saw."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from difftest import Limits, Outcome, find_solver
from difftest.campaign.book import Book
from difftest.campaign.events import DuplicateSeen, FindingConfirmed
from difftest.campaign.state import CampaignState
from difftest.campaign.stored import Changes, FindingState, read_campaign
from difftest.campaign.tally import Tally
from difftest.campaign.tasks import Confirmation, TestName
from difftest.oracles.base import Candidate
from difftest.triage.filing import FindingRecord
from difftest.triage.key import FoundKey
from difftest.triage.ledger import Became, Entry, KnownCause, Ledger
from difftest.triage.newness import ONLY_BASE, ONLY_BASE_TESTS
from difftest.triage.store import Shown, prepare_output
from generator.strategy import GeneratedTest
from solvers.running.outcomes import Verdict
from solvers.running.process import Run

TEXT = "(declare-const x Int)\n(assert (> x 1))\n(check-sat)\n"


def written(folder: Path, options: tuple[str, ...]) -> FindingRecord:
    """The finding that comes of a crash of z3 under ``options``, in a worker that keeps it elsewhere."""
    here = find_solver("z3")
    there = replace(here, argv=("/elsewhere/z3",), loadable="/elsewhere/libz3.so").with_options(options)
    key = f"crash|{there.name}|a.cpp:1"
    candidate = Candidate("crash", (there.name,), key, there.name, "crash")
    book = Book(prepare_output(folder), [here], 1, Tally(["z3"]), 0.0, lambda: 0.0, lambda _, reward: None)
    assert not list(book.take(TestName("s", "", 0), candidate, GeneratedTest(0, TEXT, "s")))
    task = book.next_task(lambda stage: Limits())
    assert task is not None
    verdict = Verdict(Outcome.CRASH, (None,), 0.1, "crash", "a.cpp:1")
    evidence = Shown((there,), {there.name: verdict}, {there.name: Run("exit", 1, None, "", "", 0.1)})
    (event,) = book.take_confirmation(Confirmation(task, evidence, 0.1))
    assert isinstance(event, FindingConfirmed)
    return event.record


@pytest.mark.parametrize("options", [(), ("smt.arith.solver=2", "smt.random_seed=3")])
def test_command_lines_are_those_of_the_drivers_machine(tmp_path: Path, options: tuple[str, ...]) -> None:
    folder = written(tmp_path, options).path
    line = (folder / "command.txt").read_text().splitlines()[1]
    assert line.startswith(f"{find_solver('z3').argv[0]} ")
    assert all(f" {option} " in line for option in options)
    assert "elsewhere" not in line
    (entry,) = json.loads((folder / "finding.json").read_text())["solvers"]
    assert "elsewhere" not in json.dumps(entry)
    assert entry["options"] == list(options)


@pytest.mark.parametrize(("of_files", "listed"), [(True, 29), (False, 20)])
def test_files_that_wait_for_a_confirmation_are_all_listed(
    tmp_path: Path, of_files: bool, listed: int
) -> None:
    z3 = find_solver("z3")
    book = Book(prepare_output(tmp_path), [z3], 1, Tally(["z3"]), 0.0, lambda: 0.0, lambda _, reward: None)
    candidate = Candidate("crash", ("z3",), "crash|z3|a.cpp:1", "z3", "crash")
    for index in range(30):
        test = GeneratedTest(index, TEXT, "files", origin=f"/files/{index}.smt2" if of_files else "")
        assert not list(book.take(TestName("files", "", index), candidate, test))
    task = book.next_task(lambda stage: Limits())
    assert task is not None
    verdict = Verdict(Outcome.CRASH, (None,), 0.1, "crash", "a.cpp:1")
    evidence = Shown((z3,), {"z3": verdict}, {"z3": Run("exit", 1, None, "", "", 0.1)})
    found, *others = book.take_confirmation(Confirmation(task, evidence, 0.1))
    assert isinstance(found, FindingConfirmed)
    duplicates = (found.record.path / "duplicates.txt").read_text().splitlines()
    assert len(set(duplicates)) == len(others) == listed


def test_findings_are_gone_through_for_a_reduction_when_there_is_a_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = Book(
        *(prepare_output(tmp_path), [find_solver("z3")], 1, Tally(["z3"]), 10.0),
        *(lambda: 1e9, lambda _, reward: None),
    )
    looks: list[str] = []

    def plain(label: str) -> str:
        looks.append(label)
        return label

    monkeypatch.setattr(book, "_plain", plain)
    for number in range(3):
        book.records[str(number)] = FindingRecord(str(number), "crash", "z3", str(number), False, tmp_path)
        for _ in range(5):
            assert book.next_reduction() is None
    assert len(looks) == 1 + 2 + 3
    # One becomes a part of another, and a new one comes.
    book.records["3"] = book.records.pop("0")
    assert book.next_reduction() is None
    assert len(looks) == 1 + 2 + 3 + 3


@pytest.mark.parametrize("at_once", [False, True])
def test_tests_that_only_the_base_shows_are_counted_and_named_as_such(tmp_path: Path, at_once: bool) -> None:
    tally = Tally(["z3"])
    folder = prepare_output(tmp_path)
    book = Book(folder, [find_solver("z3")], 1, tally, 0.0, lambda: 0.0, lambda _, reward: None)
    candidate = Candidate("soundness", ("old", "new"), "soundness|old+new|Ints", None, "two disagree")

    def confirm_all() -> None:
        while (task := book.next_task(lambda stage: Limits())) is not None:
            shown = Confirmation(task, Shown((), {}, {}), 0.1, not_new=ONLY_BASE)
            assert not list(book.take_confirmation(shown))

    for index in range(20):
        assert not list(book.take(TestName("s", "", index), candidate, GeneratedTest(index, TEXT, "s")))
        if not at_once:
            confirm_all()
    confirm_all()
    counts = {kind: sum(count.values()) for kind, count in tally.statistics.items()}
    assert counts == {ONLY_BASE: 20, ONLY_BASE_TESTS: 20}


@pytest.mark.parametrize("seen", [0, 1])
def test_a_resumed_run_knows_which_earlier_findings_the_campaign_saw_again(tmp_path: Path, seen: int) -> None:
    record = written(tmp_path, ())
    row = FindingState(record.id, "crash", "z3", record.key, record.path.name, "s", 0, 1, 0.0, seen, True)
    with CampaignState.open(tmp_path, {}) as state:
        state.commit(Changes(new=[row]), 1.0)
    book = Book(
        *(prepare_output(tmp_path), [find_solver("z3")], 1, Tally(["z3"]), 0.0, lambda: 0.0),
        *(lambda _, reward: None, read_campaign(tmp_path)),
    )
    assert set(book.records) == ({record.key} if seen else set())
    # It was another campaign whose test 0 showed it first.
    candidate = Candidate("crash", ("z3",), record.key, "z3", "crash")
    kinds = [type(e) for e in book.take(TestName("s", "", 0), candidate, GeneratedTest(0, TEXT, "s"))]
    assert kinds == ([DuplicateSeen] if seen else [FindingConfirmed, DuplicateSeen])


def test_a_list_is_asked_about_what_reduction_leaves(tmp_path: Path) -> None:
    # Before it every test has the theories of all its parts, so nearly all would be under the first entry.
    listed, other = "invalid-model|z3|Ints+Quantifiers", "invalid-model|z3|Ints+Sequences|seq.replace"
    raw = "invalid-model|z3|Ints+Quantifiers+Sequences"
    book = Book(
        *(prepare_output(tmp_path), [find_solver("z3")], 1, (tally := Tally(["z3"]))),
        *(10.0, lambda: 1000.0, lambda _, reward: None),
        ledger=Ledger([Entry(listed, Became.SEEN)]),
    )
    candidate = Candidate("invalid-model", ("z3",), raw, "z3", "invalid-model")
    run = Run("exit", 0, None, "sat", "", 0.1)
    evidence = Shown((book.solvers["z3"],), {"z3": Verdict(Outcome.OK, ("sat",), 0.1)}, {"z3": run})
    found = []
    for index, left in enumerate((listed, other, listed, other)):
        assert not list(book.take(TestName("s", "", index), candidate, GeneratedTest(index, TEXT, "s")))
        task = book.next_task(lambda stage: Limits())
        if task is not None:
            key = FoundKey(left, TEXT, True)
            found += list(book.take_confirmation(Confirmation(task, evidence, 0.1, key)))
    assert [event.record.key for event in found if isinstance(event, FindingConfirmed)] == [other]
    assert tally.statistics["known"].total() == 3


def test_a_known_cause_is_seen_in_the_reduced_formula(tmp_path: Path) -> None:
    known = KnownCause("z3", "soundness", frozenset(("HORN",)))
    ledger = Ledger([Entry(str(known), Became.REPORTED, cause=known)])
    paid: list[float] = []
    book = Book(
        *(prepare_output(tmp_path), [find_solver("z3")], 1, (tally := Tally(["z3"]))),
        *(10.0, lambda: 0.0, lambda _, reward: paid.append(reward)),
        ledger=ledger,
    )
    raw, left = "soundness|z3|ArraysEx+Ints", "soundness|z3|ArraysEx|store"
    candidate = Candidate("soundness", ("z3",), raw, "z3", "soundness")
    for index in range(3):
        assert not list(book.take(TestName("s", "", index), candidate, GeneratedTest(index, TEXT, "s")))
        task = book.next_task(lambda stage: Limits())
        # What it was reduced to says that it is known; no later test of the first key is looked at.
        assert (task is not None) == (index == 0)
        if task is not None:
            run = Run("exit", 0, None, "sat", "", 0.1)
            evidence = Shown((book.solvers["z3"],), {"z3": Verdict(Outcome.OK, ("sat",), 0.1)}, {"z3": run})
            key = FoundKey(left, f"(set-logic HORN)\n{TEXT}", True)
            assert not list(book.take_confirmation(Confirmation(task, evidence, 0.1, key)))
    assert tally.statistics["known"] == {"soundness|z3|HORN": 3} and not paid


def test_a_known_cause_of_a_crash_is_seen_in_the_options(tmp_path: Path) -> None:
    known = KnownCause("z3", "crash", frozenset(("elim-predicates",)))
    z3 = find_solver("z3")
    book = Book(
        *(prepare_output(tmp_path), [z3], 1, (tally := Tally(["z3"]))),
        *(10.0, lambda: 0.0, lambda _, reward: None),
        ledger=Ledger([Entry(str(known), Became.REPORTED, cause=known)]),
    )
    found = []
    for index, tactic in enumerate(("elim-predicates", "nnf")):
        solver = z3.with_options([f"check-sat-using={tactic}"])
        candidate = Candidate("crash", (solver.name,), f"crash|z3|place.cpp:{index}", "z3", "crash")
        assert not list(book.take(TestName("s", "", index), candidate, GeneratedTest(index, TEXT, "s")))
        task = book.next_task(lambda stage: Limits())
        assert task is not None
        crash = Verdict(Outcome.CRASH, (None,), 0.1, location=f"place.cpp:{index}")
        evidence = Shown((solver,), {solver.name: crash}, {solver.name: Run("exit", 1, None, "", "", 0.1)})
        found += list(book.take_confirmation(Confirmation(task, evidence, 0.1)))
    assert [event.record.key for event in found if isinstance(event, FindingConfirmed)] == [
        "crash|z3|place.cpp:1"
    ]
    assert tally.statistics["known"].total() == 1
