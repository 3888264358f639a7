"""Who is wrong: what is gathered about an error, and how it stands in the finding and its report."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import z3

from apifuzz.running import describing, evidence
from apifuzz.running.evidence import weigh
from apifuzz.running.faults import Fault, reported
from apifuzz.running.findings import Description
from apifuzz.running.question import at_once
from apifuzz.running.runs import RunResult
from apifuzz.running.setup import Setup
from apifuzz.trace import Trace, print_trace, read_trace
from difftest.errors import DifftestError
from difftest.triage.folder import FindingFolder
from difftest.triage.kinds import title_of
from difftest.triage.store import read_findings, update_finding
from tests.apifuzz.filing import file_finding, missing, without_versions

CALLS = read_trace(
    """exhume-trace 1 cvc5 1
1 new
2 set-option incremental true
3 set-option fp-exp true
4 make-sort Bool
return s1
5 make-constant s1 a
return t1
6 make-constant s1 b
return t2
7 assert t1
8 push 1
9 assert t2
10 check-sat
11 get-value t1
12 pop 1
13 push 2
14 check-sat-assuming t2
"""
)
DIFFER = Fault(
    "answer", "check-sat-assuming", "cvc5 answers unsat, z3 sat", None, "cvcN answers unsat, zN sat"
)
BOTH = Setup("cvc5", "z3")


def result(*answers: str, fault: Fault | None = None, refused: tuple[tuple[int, str], ...] = ()) -> RunResult:
    return RunResult("fault" if fault else "done", "", 0.1, fault, answers=answers, refused=refused)


def hear(monkeypatch: pytest.MonkeyPatch, said: dict[str, RunResult | None], plain: RunResult | None) -> None:
    """Have solvers alone end as ``said``; the first one without options as ``plain``."""

    def replay(setup: Setup, trace: Trace) -> RunResult | None:
        shorter = len(trace.lines) < len(CALLS.lines)
        return plain if shorter and setup.label == "cvc5" else said.get(setup.label)

    monkeypatch.setattr(evidence, "_replay", replay)
    monkeypatch.setattr(evidence, "find_solver", missing)


def test_one_solver_alone_is_the_one() -> None:
    found = weigh(Setup("cvc5"), CALLS, Fault("crash", "assert", "SIGSEGV in assert"))
    assert (found.culprit, found.reason, found.sentences) == ("cvc5", "", [])


def test_a_model_that_the_other_solver_refutes_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Fault("model", "cvc5:model", "z3 answers unsat to the model of cvc5")
    hear(monkeypatch, {"cvc5": result("sat"), "z3": result("sat")}, None)
    found = weigh(BOTH, CALLS, model)
    assert (found.culprit, found.reason) == ("cvc5", "z3 refutes its model")
    # The program has the values of this model in it, so that it says nothing of another release.
    monkeypatch.setattr(describing, "ask_older", missing)
    assert describing._hear_older(found, BOTH, model, "assert False") == ""
    assert found.sentences[-1].startswith("no older release was asked")


def test_who_crashed_in_lockstep_is_seen_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    crash = Fault("crash", "assert", "SIGSEGV in assert", None, "SIGSEGV")
    hear(monkeypatch, {"cvc5": result("sat"), "z3": result(fault=crash)}, None)
    found = weigh(BOTH, CALLS, crash)
    assert (found.culprit, found.reason) == ("z3", "it shows the error alone, too")
    assert "cvc5 makes the same calls without an error" in found.sentences
    hear(monkeypatch, {"cvc5": result(fault=crash), "z3": result(fault=crash)}, None)
    assert weigh(BOTH, CALLS, crash).culprit is None


def test_who_rejected_in_lockstep(monkeypatch: pytest.MonkeyPatch) -> None:
    hear(monkeypatch, {"cvc5": result("sat"), "z3": result("sat")}, None)
    assert weigh(BOTH, CALLS, reported("rejected", "assert", "z3: no")).culprit == "z3"
    assert weigh(BOTH, CALLS, reported("rejected", "assert", "no")).culprit == "cvc5"
    alone = reported("rejected", "assert", "no")
    hear(monkeypatch, {"cvc5": result("sat"), "z3": result(fault=alone)}, None)
    weighed = weigh(BOTH, CALLS, reported("rejected", "assert", "z3: no"))
    assert weighed.reason == "it shows the error alone, too"


def test_who_refutes_its_own_values_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    hear(monkeypatch, {"cvc5": result("sat"), "z3": result("sat")}, None)
    for kind in ("answer", "model"):
        found = weigh(BOTH, CALLS, Fault(kind, "get-value", "a second instance of z3 refutes its own values"))
        assert (found.culprit, found.reason) == ("z3", "a second instance of it refutes its own values")


def test_a_solver_that_answers_otherwise_without_options_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    said = {"cvc5": result("sat", "unsat"), "z3": result("sat", "sat")}
    hear(monkeypatch, said, result("sat", "sat"))
    found = weigh(BOTH, CALLS, DIFFER)
    assert found.culprit == "cvc5"
    assert found.reason == "it answers unsat, and sat to the same calls without its options"
    assert found.sentences[:2] == ["cvc5 alone answers unsat", "z3 alone answers sat"]


def test_a_third_solver_decides_what_nothing_else_does(monkeypatch: pytest.MonkeyPatch) -> None:
    said = {"cvc5": result("sat", "unsat"), "z3": result("sat", "sat")}
    hear(monkeypatch, {**said, "bitwuzla": result("sat", "unsat")}, result("sat", "unsat"))
    found = weigh(BOTH, CALLS, DIFFER)
    assert (found.culprit, found.reason) == ("z3", "bitwuzla answers unsat as the other one does")
    # Without an assertion sat says nothing, unsat does; with a check less it is another question.
    left_out = replace(result("sat", "sat"), refused=((CALLS.lines[6].number, "no"),))
    for other in (left_out, result("sat"), result("sat", "unknown"), None):
        hear(monkeypatch, {**said, "bitwuzla": other}, result("sat", "unsat"))
        assert weigh(BOTH, CALLS, DIFFER).culprit is None


def test_refused_lines_are_those_of_the_printed_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    # A minimised trace keeps the line numbers of the trace that was drawn.
    drawn = replace(CALLS, lines=tuple(replace(line, number=line.number + 90) for line in CALLS.lines))
    option = replace(result("sat", "sat"), refused=((CALLS.lines[1].number, "no such option"),))
    said = {"cvc5": result("sat", "unsat"), "z3": result("sat", "sat"), "bitwuzla": option}
    hear(monkeypatch, said, result("sat", "unsat"))
    found = weigh(BOTH, drawn, DIFFER)
    assert (found.culprit, found.reason) == ("cvc5", "bitwuzla answers sat as the other one does")


def test_the_last_question_at_once() -> None:
    calls = [line.split(" ", 1)[1] for line in print_trace(at_once(CALLS)).splitlines() if line[0].isdigit()]
    assert calls[-3:] == ["assert t1", "assert t2", "check-sat"]
    assert not any(call.startswith(("push", "pop", "get-value")) for call in calls)


@pytest.mark.slow
def test_a_real_disagreement_is_settled_by_own_words() -> None:
    trace = read_trace(Path(__file__).with_name("lockstep.trace").read_text("utf-8"))
    found = weigh(BOTH, trace, DIFFER)
    if not any("with its options" in line for line in found.sentences):
        pytest.skip("this release of cvc5 has no fault in fp.roundToIntegral")
    assert found.culprit == "cvc5"
    assert found.reason == "it says unsat, and sat to the same formula with the model of z3 inserted"
    assert "(fp.roundToIntegral" in found.formula


# In the finding


def test_evidence_stands_in_the_finding_and_its_report(tmp_path: Path) -> None:
    settled = {
        "guilty": "cvc5",
        "reason": "it says so itself",
        "evidence": ["z3 says sat", "against cvc5: it"],
    }
    files = {"script.py": "import cvc5\n\nv1 = cvc5.Solver()\nv1.check()\n"}
    path = file_finding(tmp_path, DIFFER, CALLS, BOTH, Description(settled, files))
    data = json.loads((path / "finding.json").read_text())
    assert {name: data[name] for name in settled} == settled
    assert [entry["name"] for entry in data["solvers"]] == ["cvc5", "z3"]
    assert all(entry["version"] for entry in data["solvers"])
    text = (path / "report.md").read_text()
    assert "# cvc5: wrong unsat in check-sat-assuming with fp-exp=true\n" in text
    assert "; Options: `fp-exp=true` (expert); " in text and "; Language: Python interface; " in text
    assert "`sat`. cvc5 1." in text
    assert f"it says so itself.\n\n- z3 {z3.get_version_string()} answers `sat`\n- it\n" in text
    assert text.endswith("\nFound by exhume (API fuzzing).\n")
    update_finding(path, {"guilty": None, "reason": "", "lines": [9, 3]})
    text = (path / "report.md").read_text()
    assert "# cvc5: wrong answer in check" in text
    assert "cvc5 version 1." in text and "; Z3 version" in text
    assert [FindingFolder.read(record.path).size for record in read_findings(tmp_path)] == [(9, 3)]


@pytest.mark.parametrize(
    ("solver", "fault", "title"),
    [
        (
            "z3",
            Fault("crash", "check-sat", "SIGSEGV in check-sat"),
            "z3: segmentation fault in check-sat",
        ),
        ("z3", Fault("crash", "check-sat", "ASSERT", "a.cpp:3"), "z3: failed assertion at a.cpp:3"),
        ("cvc5", Fault("crash", "cvc5:x", "Fatal", "a.cpp:3"), "cvc5: failed assertion at a.cpp:3"),
        ("bitwuzla", Fault("model", "get-value", "no"), "bitwuzla: invalid model in get-value"),
        ("cvc5", Fault("answer", "cvc5:core", "a second solver says no"), "cvc5: wrong answer in core"),
        ("cvc5", Fault("core", "unsat-core", "no"), "cvc5: wrong unsat core in unsat-core"),
        ("other=solver", Fault("core", "unsat-core", "no"), "other: wrong unsat core in unsat-core"),
        ("z3", Fault("print", "read-back", "no"), "z3: printed term does not read back in read-back"),
    ],
)
def test_titles_say_what_goes_wrong_in_which_call(
    solver: str, fault: Fault, title: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_versions(monkeypatch)
    path = file_finding(tmp_path, fault, CALLS, Setup(solver))
    found = FindingFolder.read(path)
    # What the options of a program are is not known.
    assert title_of(found) == title + " with fp-exp=true" * ("=" not in solver)
    text = (path / "report.md").read_text()
    # Without a program the trace is what shows it.
    assert "exhume-trace 1 cvc5 1" in text
    assert "exhume apifuzz replay minimised.trace" in text
    assert "in check-sat]" not in text
    assert "None" not in text.replace("None of the issues", "")


def test_the_title_names_the_function_that_dies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_versions(monkeypatch)
    fault = Fault("crash", "check-sat", "SIGSEGV in check-sat", shape="SIGSEGV")
    path = file_finding(tmp_path, fault, CALLS, Setup("z3"), key="crash|z3|SIGSEGV in a::b::c::d::e")
    assert title_of(FindingFolder.read(path)).startswith("z3: segmentation fault in c::d::e with ")


def test_a_folder_from_before_evidence_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_versions(monkeypatch)
    path = file_finding(tmp_path, reported("rejected", "assert", "no"), CALLS, Setup("z3"))
    data = json.loads((path / "finding.json").read_text())
    for name in ("solvers", "guilty", "reason", "evidence"):
        del data[name]
    (path / "finding.json").write_text(json.dumps(data))
    found = FindingFolder.read(path)
    assert found.culprit is not None
    assert (found.culprit["name"], found.culprit["version"]) == ("z3", "1.0")
    assert title_of(found).startswith("z3: call rejected that should be allowed in assert")
    (path / "finding.json").write_text("{}")
    with pytest.raises(DifftestError, match="no finding can be read"):
        FindingFolder.read(path)


def test_the_language_is_that_of_the_file_that_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_versions(monkeypatch)
    fault = Fault("crash", "check-sat", "SIGSEGV in check-sat")
    script, formula = {"script.py": "import z3\n"}, {"formula.smt2": "(check-sat)\n"}
    for number, (files, shows, file, language) in enumerate(
        [
            ({**script, **formula}, True, "formula.smt2", "smt2"),
            ({**script, **formula}, False, "script.py", "python"),
            # A script that does not show it is not the input of a report.
            (formula, False, "minimised.trace", "text"),
        ]
    ):
        (tmp_path / str(number)).mkdir()
        described = Description({"text_shows": shows}, files)
        path = file_finding(tmp_path / str(number), fault, CALLS, Setup("z3"), described)
        found = FindingFolder.read(path)
        assert (found.input_file, found.language) == (file, language)
        assert f"```{language}\n" in (path / "report.md").read_text()


def test_text_comes_first_where_it_shows_the_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_versions(monkeypatch)
    files = {"script.py": "import z3\n", "formula.smt2": "(set-option :auto_config false)\n(check-sat)\n"}
    fault = Fault("crash", "check-sat", "SIGSEGV in check-sat")
    for shows in (False, True):
        described = Description({"text_shows": shows}, files)
        (tmp_path / str(shows)).mkdir()
        path = file_finding(tmp_path / str(shows), fault, CALLS, Setup("z3"), described)
        found = FindingFolder.read(path)
        text = (path / "report.md").read_text()
        file = "formula.smt2" if shows else "script.py"
        assert (found.input_file, found.shown_text) == (file, files[file])
        assert ("import z3" in text, "(check-sat)" in text) == (not shows, shows)
        assert ("Language: Python interface" in text) == (not shows)
        assert ("`(set-option :auto_config false)` (regular)" in text) == shows
