"""From a trigger to a pair: few releases run, both ends and their neighbours are checked."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

import difftest.bugs.pairing as pairing
from difftest.bugs.build import BuildSettings, Store
from difftest.bugs.pairing import Case, pair_of
from difftest.bugs.records import Bug, Unverified, make_id
from difftest.bugs.truth import Truth
from difftest.triage.kinds import State
from solvers.running.runner import Runner
from tests.difftest.bugs.planted import RELEASES, Did, Planted, planted_benchmark, trigger

OK = ("ok", "sat")


def examine(did: Did, **given: object) -> tuple[list[Bug | Unverified], Planted]:
    shelf = Planted(did)
    with Runner(warm=False) as runner:
        return Case(trigger(**given), shelf, runner).examine(), shelf


def only(found: list[Bug | Unverified]) -> Bug:
    (bug,) = found
    assert isinstance(bug, Bug), bug
    return bug


def why(found: list[Bug | Unverified]) -> str:
    (one,) = found
    assert isinstance(one, Unverified), one
    return one.reason


def test_a_crash_is_paired_with_few_runs() -> None:
    found, shelf = examine(lambda n, _: ("crash", None) if n < 13 else OK)
    bug = only(found)
    assert (bug.finding_class, bug.last_bad, bug.first_good, bug.flaky) == ("crash", "4.12", "4.13", False)
    assert bug.bug_key == "crash|z3|a.cpp:12"
    assert len(shelf.ran) < len(RELEASES)
    assert (shelf.ran["4.12"], shelf.ran["4.13"]) == (3, 3)
    assert [seen.release for seen in bug.strip] == sorted(shelf.ran, key=RELEASES.index)


def test_another_crash_is_another_bug() -> None:
    found, _ = examine(lambda n, _: ("crash", None) if n < 5 else ("invalid-model", "sat") if n < 13 else OK)
    assert {(b.finding_class, b.first_good) for b in found if isinstance(b, Bug)} == {
        ("crash", "4.5"),
        ("invalid-model", "4.13"),
    }


def test_two_bugs_of_one_class_have_ids_of_their_own(tmp_path: Path) -> None:
    places = dict.fromkeys(range(5), "b.cpp:3") | dict.fromkeys(range(9, 13), "a.cpp:12")
    found, _ = examine(lambda n, _: ("crash", places[n]) if n in places else OK)
    bugs = [bug for bug in found if isinstance(bug, Bug)]
    assert [bug.first_good for bug in bugs] == ["4.5", "4.13"]
    # The first one has the id that it had before.
    assert bugs[0].id == make_id(trigger(), "crash")
    assert len(planted_benchmark(tmp_path, *bugs).bugs) == 2
    # Results that an earlier version stored had one id for both.
    settings = BuildSettings()
    with Store(tmp_path) as store:
        store.put(trigger(), settings, [replace(bug, id=bugs[0].id) for bug in bugs], {})
        assert store.results(trigger(), settings) == bugs


def test_releases_that_cannot_be_had_or_say_nothing_are_no_ends() -> None:
    missing = {11: None, 12: ("refused", None), 13: ("timeout", None)}
    found, _ = examine(lambda n, _: missing.get(n, ("invalid-model", "sat") if n < 13 else OK))
    bug = only(found)
    assert (bug.last_bad, bug.first_good, bug.between) == ("4.10", "4.14", 2)


def test_an_unknown_that_a_later_release_decides_is_a_missing_answer() -> None:
    bug = only(examine(lambda n, _: ("unknown", "unknown") if n < 8 else OK)[0])
    assert (bug.finding_class, bug.direction, bug.first_good) == ("incompleteness", "unknown for sat", "4.8")


def test_an_answer_with_a_refuted_model_is_no_good_end() -> None:
    did = dict.fromkeys(range(8), ("unknown", "unknown")) | {8: ("invalid-model", "sat")}
    found, _ = examine(lambda n, _: did.get(n, OK))
    assert {(b.finding_class, b.last_bad, b.first_good) for b in found if isinstance(b, Bug)} == {
        ("incompleteness", "4.7", "4.9")
    }


def test_out_of_time_is_a_slowdown_where_a_later_release_is_fast() -> None:
    bug = only(examine(lambda n, _: ("timeout", None) if n < 8 else OK)[0])
    assert (bug.finding_class, bug.last_bad, bug.first_good) == ("slowdown", "4.7", "4.8")


@pytest.mark.parametrize(("truth", "pair"), [("sat", ("4.7", "4.8")), (None, None), ("unsat", None)])
def test_a_wrong_answer_needs_the_right_one(
    truth: str | None, pair: tuple[str, str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairing, "find_truth", lambda *_: Truth(truth, ("cvc5 says so",)))
    found, _ = examine(lambda n, _: ("ok", "unsat") if n < 8 else OK)
    if pair:
        bug = only(found)
        assert ((bug.last_bad, bug.first_good), bug.wrong, bug.right) == (pair, "unsat", "sat")
        assert bug.evidence == ("cvc5 says so",)
    else:
        assert why(found) == ("no-truth" if truth is None else "still-open")


def test_a_wrong_answer_that_turns_unknown_counts_by_what_the_issue_expects(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pairing, "find_truth", lambda *_: Truth("sat", ()))
    found, _ = examine(lambda n, _: ("ok", "unsat") if n < 8 else ("unknown", "unknown"), expected="sat")
    assert (only(found).finding_class, only(found).first_good) == ("soundness", "4.8")


def test_what_flickers_is_run_on_every_release_and_marked() -> None:
    def did(n: int, before: int) -> tuple[str, str]:
        return ("crash", "") if n < 13 and not (n == 12 and before == 1) else OK

    found, shelf = examine(did)
    assert only(found).flaky
    assert set(shelf.ran) == set(RELEASES)


def test_a_gap_in_the_bug_is_seen_by_the_neighbours() -> None:
    # The search ends between 13 and 14; 15 shows it again.
    found, _ = examine(lambda n, _: ("crash", None) if n in (*range(14), 15) else OK)
    assert only(found).first_good == "4.16"
    assert not only(found).flaky


def test_what_no_pair_is_verified_of_has_a_reason() -> None:
    assert why(examine(lambda n, _: OK)[0]) == "never-shown"
    assert why(examine(lambda n, _: ("crash", None))[0]) == "still-open"
    assert why(examine(lambda n, _: ("crash", None) if n < 8 else ("refused", None))[0]) == "no-good-end"
    assert why(examine(lambda n, _: ("timeout", None))[0]) == "undecided"
    assert why(examine(lambda n, _: None)[0]) == "undecided"
    assert why(examine(lambda n, _: OK, solver="opensmt")[0]) == "no-releases"
    assert why(examine(lambda n, _: OK, text='(include "/a.smt2")\n(check-sat)\n')[0]) == "names-a-file"


def test_formulas_that_time_out_everywhere_take_few_runs() -> None:
    _, shelf = examine(lambda n, _: ("timeout", None))
    assert shelf.ran.total() == 3


def test_answers_under_untrusted_options_are_no_bugs() -> None:
    found, _ = examine(lambda n, _: ("ok", "unsat") if n < 8 else OK, options=("no-such-option=1",))
    assert why(found) == "never-shown"


def test_a_pair_is_the_last_affected_and_the_next_free_release() -> None:
    a, f, s = State.AFFECTED, State.FREE, State.SKIPPED
    names = ["1", "2", "3", "4"]
    assert pair_of(names, dict(zip(names, (a, s, f, f), strict=True))) == ("1", "3")
    assert pair_of(names, dict(zip(names, (a, f, a, s), strict=True))) is None
    assert pair_of(names, {}) is None


def test_a_release_between_that_needs_more_time_is_an_end() -> None:
    def did(n: int, before: int) -> tuple[str, str | None]:
        if n in (13, 14) and before == 0:
            return "timeout", None
        return ("crash", None) if n < 14 else OK

    bug = only(examine(did)[0])
    assert (bug.last_bad, bug.first_good, bug.between, bug.flaky) == ("4.13", "4.14", 0, False)
