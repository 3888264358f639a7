"""What people read of a bug, which bugs are like it, and what a corpus learned from it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from corpus.importer import import_paths
from corpus.learn import learn
from corpus.store import Corpus
from difftest.bugs.describing import by_age, command_of, releases_of, spans_of, states_of, strip_of, title_of
from difftest.bugs.learning import learned_from
from difftest.bugs.likeness import likenesses
from difftest.bugs.records import BUNDLED, Benchmark, Seen
from difftest.errors import DifftestError
from difftest.triage.kinds import State
from tests.difftest.bugs.planted import RAN, planted_benchmark, planted_bug

A, F, S = State.AFFECTED, State.FREE, State.SKIPPED


def test_titles_say_what_is_wrong() -> None:
    assert title_of(planted_bug()) == "z3 4.8.6: crash at smt/a.cpp:12 on QF_LIA"
    wrong = planted_bug(finding_class="soundness", direction="sat for unsat", theories=("Reals", "Nonlinear"))
    assert title_of(wrong) == "z3 4.8.6: sat for unsat on QF_NRA"


def test_the_command_line_is_the_solvers_own() -> None:
    bug = planted_bug(options=("smt.arith.solver=2",))
    assert command_of(bug, "f.smt2") == "z3 smt.arith.solver=2 model_validate=true f.smt2"
    assert command_of(planted_bug(options=("no such option",)), "f.smt2").endswith("f.smt2")


def test_releases_are_sorted_by_age() -> None:
    other = planted_bug(2, strip=(*planted_bug().strip[1:3], Seen(release="4.5.0", outcome="refused")))
    assert releases_of([planted_bug(), other]) == {"z3": ["4.5.0", *RAN]}
    assert sorted(["4.10", "odd", "4.9"], key=by_age) == ["odd", "4.9", "4.10"]


def test_a_strip_has_every_release() -> None:
    assert states_of(planted_bug(), {"z3": ["4.5.0", *RAN]}) == list(
        zip(["4.5.0", *RAN], [None, A, A, F, F], strict=True)
    )
    spans = [(span.releases, span.state) for span in spans_of(planted_bug())]
    assert spans == [(("4.8.5", "4.8.6"), A), (("4.8.7", "4.8.10"), F)]


def test_slowdowns_show_without_times() -> None:
    outcomes = ("ok", "timeout", "ok", "refused")
    answers = ("sat", None, "sat", None)
    ran = zip(RAN, outcomes, answers, strict=True)
    strip = [Seen(release=release, outcome=outcome, answers=(answer,)) for release, outcome, answer in ran]
    bug = planted_bug(finding_class="slowdown", strip=tuple(strip))
    assert [state for _, state in strip_of(bug)] == [F, A, F, S]
    for stored in Benchmark(BUNDLED).bugs.values():
        states = {seen.release: state for seen, state in strip_of(stored)}
        assert (states[stored.last_bad], states[stored.first_good]) == (A, F), stored.id


@pytest.mark.parametrize(
    "broken",
    [
        {"id": "../../etc"},
        {"id": ".hidden"},
        {"last_bad": "9.9"},
        {"strip": [{"release": "1", "outcome": "x"}]},
    ],
)
def test_a_damaged_record_is_named(broken: dict[str, object], tmp_path: Path) -> None:
    benchmark = planted_benchmark(tmp_path / "b", planted_bug())
    row = msgspec.json.decode((benchmark.folder / "bugs.jsonl").read_bytes()) | broken
    (benchmark.folder / "bugs.jsonl").write_bytes(msgspec.json.encode(row) + b"\n")
    with pytest.raises(DifftestError, match="line 1 is damaged"):
        Benchmark(benchmark.folder)


def test_like_are_those_that_share_what_is_rare() -> None:
    bugs = [planted_bug(n, operators=("and", name)) for n, name in enumerate(("div", "mod", "div", "abs"))]
    near = likenesses(bugs, most=2)
    assert near[0][0].bug.id == bugs[2].id
    assert near[0][0].shared[0] == "div" and near[0][0].likeness == 1.0
    assert near[0][1].likeness < 1 and all(len(found) == 2 for found in near)
    assert likenesses([planted_bug()]) == [[]]


def test_like_is_the_same_both_ways_and_never_itself() -> None:
    bugs = list(Benchmark(BUNDLED).bugs.values())
    near = likenesses(bugs, most=len(bugs))
    found = {
        (bug.id, like.bug.id): like.likeness for bug, likes in zip(bugs, near, strict=True) for like in likes
    }
    assert all(found[other, one] == likeness and one != other for (one, other), likeness in found.items())


def test_what_was_learned_from_a_formula(tmp_path: Path) -> None:
    folder = tmp_path / "formulas"
    folder.mkdir()
    bugs = [planted_bug(number) for number in range(3)]
    for number, bug in enumerate(bugs[:2]):
        (folder / f"z3_{number}_0.smt2").write_text(bug.text)
    with Corpus.open(tmp_path / "c.duckdb", write=True) as corpus:
        import_paths(corpus, [folder])
        learn(corpus)
        found = learned_from(corpus, bugs)
    assert found.keys() == {bug.sha256 for bug in bugs[:2]}
    learned = found[bugs[1].sha256]
    assert learned.skeletons == [("(hole 0)", 2)]
    assert learned.atoms == [("(lambda ((x0 Int)) (> x0 1))", 1)]
