"""Against history: same place, same message, a like formula; what is new resembles nothing."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from corpus.store import Corpus
from difftest import DifftestError
from difftest.triage.folder import FindingFolder
from difftest.triage.history import Sought, _places, compare_with_history, resembled
from tests.difftest.test_reports import write

LIKE = "(declare-const s (Set Bool))\n(assert (set.member (set.is_empty s) s))\n(check-sat)\n"
SAID = [
    "ASSERTION VIOLATION\nFile: ../src/smt/theory_seq.cpp\nLine: 333\nUNEXPECTED CODE WAS REACHED.",
    "Fatal failure at /build/7/src/smt/theory_seq.cpp:90\n Check failure",
    "Failed to verify: m_size[3] == 17\n",
    "==71==ERROR: AddressSanitizer: SEGV on address 0x18\n  #2 0x55 in nla::core::propagate(int) (z3+0x7)\n",
]


@pytest.fixture(scope="module")
def path(starter: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The starter tracker, and three issues whose texts are known."""
    file = Path(shutil.copy(starter, tmp_path_factory.mktemp("history") / "c.duckdb"))
    with Corpus.open(file, write=True) as corpus, corpus.transaction():
        corpus.execute("insert into tracker values (900, 'Z3Prover/z3', 'github', null, 'z3')")
        corpus.execute("insert into tracker values (901, 'cvc5/cvc5', 'github', null, 'cvc5')")
        texts = corpus.add_texts(SAID)
        for number, (tracker, text) in enumerate(zip((900, 901, 900, 900), texts, strict=True), 1):
            corpus.execute(
                "insert into issue (id, tracker_id, number, title, text_id, url) values"
                f" ({9000 + number}, {tracker}, {number}, 'Issue {number}', {text}, 'x://{number}')"
            )
    return file


def names(path: Path, folder: Path) -> dict[str, float]:
    with Corpus.open(path) as corpus:
        return {row.issue: row.score for row in resembled(corpus, Sought.of(FindingFolder.read(folder)))}


def crash(folder: Path, **entry: Any) -> Path:
    reported = {"outcome": "crash", "location": None, "detail": "ASSERTION VIOLATION", **entry}
    return write(folder, formula="(check-sat)\n", entry=reported, **{"class": "crash"})


def test_a_crash_resembles_those_at_its_place(path: Path, tmp_path: Path) -> None:
    same = names(path, crash(tmp_path / "a", location="theory_seq.cpp:333"))
    assert same == {"Z3Prover/z3#1": pytest.approx(0.9), "cvc5/cvc5#2": pytest.approx(0.3)}
    near = names(path, crash(tmp_path / "b", location="theory_seq.cpp:334"))
    assert near["Z3Prover/z3#1"] == pytest.approx(0.6)
    assert names(path, crash(tmp_path / "c", location="theory_se.cpp:333")) == {}
    function = names(path, crash(tmp_path / "d", location="nla::core::propagate"))
    assert function == {"Z3Prover/z3#4": pytest.approx(0.6)}
    assert names(path, crash(tmp_path / "e", location="nla::core::other")) == {}


def test_names_are_whole_words_and_rare_ones(path: Path, tmp_path: Path) -> None:
    file = Path(shutil.copy(path, tmp_path / "c.duckdb"))
    with Corpus.open(file, write=True) as corpus, corpus.transaction():
        with_option = [f"{number}: relevancy=0 in evaluate_ite()" for number in range(20)]
        said = [f"relevancy{number} is an evaluate, (eval 1)" for number in range(200)]
        texts = corpus.add_texts([*with_option[:5], *said, *with_option[5:], "fail: eval_all, sat.smt=true"])
        rows = [f"({9100 + n}, 900, {n}, 'One', {text}, 'x')" for n, text in enumerate(texts, 100)]
        corpus.execute(
            f"insert into issue (id, tracker_id, number, title, text_id, url) values {', '.join(rows)}"
        )
    with Corpus.open(file) as corpus:

        def found(**sought: Any) -> list[str]:
            given = {"place": None, "message": "", "crashed": True, "text": "", **sought}
            return [row.issue for row in resembled(corpus, Sought("z3", **given))]

        # Twenty name the option, five of them among the first two hundred that hold the word.
        assert found(options=("relevancy",)) == []
        assert found(options=("sat.smt",)) == ["Z3Prover/z3#320"]
        assert found(place="eval_all") == ["Z3Prover/z3#320"]
        assert found(place="eval") == found(place="evalu") == []


@pytest.mark.parametrize("hostile", ["a" * 60_000, "File: x" + " \n" * 60_000])
def test_places_are_found_in_linear_time(hostile: str) -> None:
    begin = time.process_time()
    assert _places(f"{hostile} src/a.cpp:7 File: ../b.cpp\nLine: 8") == {"a.cpp:7", "b.cpp:8"}
    assert time.process_time() - begin < 2


def test_a_crash_resembles_those_with_its_message(path: Path, tmp_path: Path) -> None:
    found = names(path, crash(tmp_path / "a", detail="Failed to verify: m_size[99] == 1"))
    assert found == {"Z3Prover/z3#3": pytest.approx(0.8)}
    assert names(path, crash(tmp_path / "b", detail="Failed to verify: m_other[99] == 1")) == {}
    assert names(path, crash(tmp_path / "c", detail="signal SIGSEGV")) == {}
    assert (
        names(path, crash(tmp_path / "d", detail="==9==ERROR: AddressSanitizer: SEGV on address 0x10")) == {}
    )


def test_a_known_formula_resembles_its_issue(path: Path, tmp_path: Path) -> None:
    with Corpus.open(path) as corpus:
        name, body = corpus.rows(
            "select tracker.name || '#' || issue.number, body from current_formula f"
            " join text on text.id = f.text_id"
            " join issue on issue.id = f.issue_id join tracker on tracker.id = issue.tracker_id"
            " where f.assertions > 0 order by length(body) desc limit 1"
        )[0]
    folder = write(tmp_path / "f", formula=body)
    # Less than 1 where the issue is about another class of fault.
    assert names(path, folder)[name] >= 0.8


def test_what_is_new_resembles_nothing(path: Path, tmp_path: Path) -> None:
    assert names(path, write(tmp_path / "f", formula=LIKE)) == {}
    assert names(path, write(tmp_path / "g", formula="(((")) == {}


def test_it_is_written_into_the_finding_and_its_report(path: Path, tmp_path: Path) -> None:
    first = crash(tmp_path / "a", location="theory_seq.cpp:333")
    second = write(tmp_path / "b", formula=LIKE)
    with Corpus.open(path) as corpus:
        for _ in range(2):
            assert compare_with_history(corpus, [first, second]) == 1
    rows = json.loads((first / "finding.json").read_text())["resembles"]
    assert rows[0] == {
        "issue": "Z3Prover/z3#1",
        "why": "crash at the same place, theory_seq.cpp:333",
        "score": 0.9,
        "title": "Issue 1",
        "url": "x://1",
    }
    assert "- Z3Prover/z3#1: crash at the same place" in (first / "report.md").read_text()
    assert "## Notes" not in (second / "report.md").read_text()
    assert not list(first.glob(".*"))


def test_what_is_no_finding_is_reported(path: Path, tmp_path: Path) -> None:
    with Corpus.open(path) as corpus, pytest.raises(DifftestError, match="no finding can be read"):
        compare_with_history(corpus, [tmp_path])
