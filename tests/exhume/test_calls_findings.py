"""Findings of API fuzzing in triage, on the page, in the corpus, and where a command wants others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from apifuzz.running import folder
from apifuzz.running.faults import Fault
from apifuzz.running.findings import Description
from apifuzz.running.setup import Setup
from apifuzz.trace import read_trace
from base.version import VERSION
from corpus.results import BatchRecord
from corpus.store import Corpus
from difftest import DifftestError
from difftest.campaign.state import CampaignState
from difftest.campaign.store_findings import record_finding
from difftest.campaign.stored import Changes
from tests.apifuzz.filing import file_finding
from tests.exhume.test_report import HOSTILE, Page, is_harmless

TRACE = read_trace(
    "exhume-trace 1 z3 1\n1 new\n2 make-sort Int\nreturn s1\n3 make-sort Bool\nreturn s2\n"
    "4 make-constant s1 a\nreturn t1\n5 make-value s1 3\nreturn t2\n6 make-term s1 div t1 t2\nreturn t3\n"
    "7 make-term s2 > t3 t2\nreturn t4\n8 assert t4\n9 check-sat\n"
)
FORMULA = "(declare-const a Int)\n(assert (> (div a 3) 3))\n(check-sat)\n"
CRASH = Fault("crash", "check-sat", "ASSERTION VIOLATION", "theory_seq.cpp:333", "ASSERTION VIOLATION")
SCRIPT = "import z3\n\nv1 = z3.Solver()\nv1.check()\n"


COUNTS = {
    "runs": {"done": 38, "fault": 2},
    "calls": {"calls": 900},
    "errors": {"crash": 1, "answer": 1},
    "tried": {"assert": 30, "check-sat": 12},
    "refused": {"assert": 2},
    "operators": {"Ints div": 5, "Core and": 9},
    "answers": {"sat": 7, "unsat": 5},
}


def finding(
    out: Path, fault: Fault = CRASH, setup: Setup | None = None, facts: Any = None, **files: str
) -> Path:
    inside = out / "findings"
    inside.mkdir(parents=True, exist_ok=True)
    described = Description(facts or {}, {name.replace("_", "."): text for name, text in files.items()})
    return file_finding(inside, fault, TRACE, setup or Setup("z3"), described, fault.stem("z3"))


@pytest.fixture(autouse=True)
def no_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    """No solver has to say its version."""

    def missing(spec: str) -> None:
        raise DifftestError(spec)

    monkeypatch.setattr(folder, "find_solver", missing)


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    """Two findings and the counts of a campaign."""
    out = tmp_path / "calls"
    finding(out, script_py=SCRIPT, formula_smt2=FORMULA)
    settled = {"guilty": None, "reason": "", "evidence": ["z3 says sat"]}
    fault = Fault("answer", "check-sat", "z3 answers sat, cvc5 unsat", None, "zN answers sat, cvcN unsat")
    finding(out, fault, Setup("z3", "cvc5"), settled)
    changes = Changes(tests=40)
    for kind, counts in COUNTS.items():
        changes.counted.update({(kind, name, "z3"): count for name, count in counts.items()})
    with CampaignState.open(out, {"setups": [{"solver": "z3"}], "seed": 3, "versions": ["5.4.0"]}) as state:
        state.commit(changes, 8.0)
    return out


def test_triage_lists_calls(exhume: Any, campaign: Path) -> None:
    rows = exhume("triage", campaign, "--json").json
    assert [row["class"] for row in rows] == ["answer", "crash"]
    crash = rows[1]
    assert crash["title"] == "z3: failed assertion at theory_seq.cpp:333"
    assert (crash["kind"], crash["size"], crash["reduced_size"], crash["unit"]) == ("calls", 9, 9, "calls")
    assert (crash["guilty"], rows[0]["guilty"]) == ("z3", None)
    assert (crash["bisected"], crash["resembles"]) == (False, None)
    ended = exhume("triage", campaign)
    assert "9 to 9" in ended.out
    assert "2 findings in" in ended.out
    assert f"1 of 2 findings not bisected: exhume bisect --all {campaign}" in ended.err
    assert "not fully reduced" not in ended.err


def test_findings_are_compared_with_history_and_kept_in_the_corpus(
    exhume: Any, campaign: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(campaign.parent)
    batch = BatchRecord("", 3, VERSION, "", ("z3",))
    for path in Path(campaign.name, "findings").iterdir():
        assert record_finding(corpus, batch, {}, path)
        assert not record_finding(corpus, batch, {}, path.absolute())
    with Corpus.open(corpus) as opened:
        paths = {path for (path,) in opened.rows("select path from finding")}
        assert paths >= {str(found) for found in (campaign / "findings").iterdir()}
        rows = opened.rows(
            "select class, key, test.index, batch.strategy, command_line, body from finding"
            " join test on test.id = test_id join batch on batch.id = batch_id"
            " join text on text.id = original_text_id where batch.strategy = 'api' order by class"
        )
    assert [row[:4] for row in rows] == [
        ("answer", "answer|z3|check-sat: zN answers sat, cvcN unsat", 7, "api"),
        ("crash", "crash|z3|theory_seq.cpp:333", 7, "api"),
    ]
    assert rows[1][4:] == ("python script.py", FORMULA)
    assert rows[0][5].startswith("exhume-trace 1 z3 1")
    rows = exhume("triage", campaign, "--json").json
    assert all(isinstance(row["resembles"], list) for row in rows)
    assert exhume("triage", campaign, "--corpus", corpus).code == 0


def test_the_page_of_an_api_campaign(exhume: Any, campaign: Path) -> None:
    hostile = Fault("print", "read-back", HOSTILE, None, HOSTILE)
    finding(campaign, hostile, script_py=f"print({HOSTILE!r})\n")
    ended = exhume("report", campaign, "--json")
    assert ended.code == 0
    assert ended.json["findings"] == 3
    assert not any("counts of tests" in line for line in ended.json["missing"])
    page = Page((campaign / "report.html").read_text())
    assert is_harmless(page)
    for words in (
        "Runs", "Calls", "Terms by theory", "Answers", "tests a second", "900",
        "z3: failed assertion at theory_seq.cpp:333", "v1.check()", "z3 says sat", "9 calls",
    ):  # fmt: skip
        assert words in page.text, words


def test_commands_for_hunts_say_what_is_for_calls(exhume: Any, campaign: Path) -> None:
    path = next((campaign / "findings").glob("crash-*"))
    ended = exhume("reduce", path, "--time", "5s")
    assert (ended.code, "does not show the error" in ended.said) == (2, True)
    answer = next((campaign / "findings").glob("answer-*"))
    ended = exhume("bisect", answer)
    assert (ended.code, "is not known, so there is nothing to bisect" in ended.said) == (2, True)
    (path / "finding.json").write_text('{"fault": {}}')
    assert "no finding can be read" in exhume("bisect", path).said
    assert len(exhume("triage", campaign, "--json").json) == 1
    (campaign / "campaign.sqlite").unlink()
    (campaign / "apifuzz.json").write_text("{}")
    assert any(
        "no campaign can be read" in line for line in exhume("report", campaign, "--json").json["missing"]
    )
