"""Runs in processes, errors distinguished, campaigns: planted bugs are found, honest solvers have none."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from apifuzz.programs.ending import REPEATS
from apifuzz.run import Drawing
from apifuzz.running import faults
from apifuzz.running.describing import describe
from apifuzz.running.faults import Fault
from apifuzz.running.findings import Description
from apifuzz.running.keys import key_of
from apifuzz.running.known import shipped
from apifuzz.running.runs import Runner, RunResult, last_action, run_seed
from apifuzz.running.setup import Setup
from apifuzz.running.strategy import CallsCandidate, CallsStrategy
from apifuzz.trace import TraceError, read_trace
from base.documents import from_document, to_document
from base.version import VERSION
from difftest import (
    DifftestError,
    Event,
    FindingConfirmed,
    HuntFinished,
    HuntOptions,
    HuntSummary,
    Limits,
    hunt,
)
from difftest.campaign import upgrading
from difftest.campaign.schedule import Schedule
from difftest.campaign.state import CampaignState
from difftest.campaign.stored import SettingsDiffer, read_campaign
from difftest.campaign.tasks import ConfirmTask, RunTask, TestName
from difftest.errors import InUse
from difftest.triage.folder import read_document
from difftest.triage.key import FoundKey, fold
from difftest.triage.known import read_known
from difftest.triage.ledger import Ledger
from difftest.triage.store import read_findings
from generator.strategy import GeneratedTest
from tests.difftest.hunts import no_room
from tests.sizes import size

HERE = Path(__file__).resolve().parent
DRAWING = Drawing(("Core", "FixedSizeBitVectors"), False, False, calls=120)
PUSHES = "exhume-trace 1 smtlib 1\n1 new\n2 push 1\n3 pop 1\n4 check-sat\n5 delete\n"


def double(name: str) -> Setup:
    """A setup of one of the doubles."""
    return Setup("smtlib", factory=f"doubles:{name}", path=str(HERE))


def events_of(out: Path, setup: Setup, runs: int | None, jobs: int = 1, **given: Any) -> Iterator[Event]:
    """Run a campaign, as ``exhume apifuzz run`` does."""
    seed = given.pop("seed", 1)
    stop = given.pop("stop", None)
    strategy = CallsStrategy(
        (setup,), seed, **{"drawing": DRAWING, "unconfirmed": out / "unconfirmed", "describe": bare, **given}
    )
    settings = {"seed": seed, **strategy.settings}
    with CampaignState.open(out, settings) as state:
        schedule = Schedule([strategy], seed, False, runs, state.loaded)
        yield from hunt(schedule, (), HuntOptions(out, jobs, seed, runs), stop, state=state)


def bare(*_: object) -> Description:
    """Nothing but the error itself is looked at."""
    return Description()


def run_campaign(out: Path, setup: Setup, runs: int, enough: int = 1000, **given: Any) -> HuntSummary:
    """Run a campaign to its end, or until this many findings are filed."""
    stop = threading.Event()
    found = 0
    for event in events_of(out, setup, runs, stop=stop, **given):
        if isinstance(event, FindingConfirmed) and not event.record.known:
            found += 1
            if found >= enough:
                stop.set()
        elif isinstance(event, HuntFinished):
            return event.summary
    raise AssertionError("a campaign ends with its summary")


# Runs


@pytest.fixture(scope="module")
def honest() -> Runner:
    with Runner(double("honest")) as made:
        yield made


def test_a_run_is_the_same_every_time_and_repeats(honest: Runner) -> None:
    first, second = (honest.generate(DRAWING, 5) for _ in range(2))
    assert first.outcome == "done"
    assert first.trace == second.trace
    assert (
        first.calls
        == first.trace.count("\n") - first.trace.count("\nreturn ") - first.trace.count("\nset ") - 1
    )
    assert first.statistics["tried"]["new"] == 1
    for again in (honest.replay(first.trace), honest.replay(first.trace, fresh=True)):
        assert (again.outcome, again.answers, again.calls) == ("done", first.answers, first.calls)
    assert honest.generate(DRAWING, 6).trace != first.trace


def test_what_every_run_asks_for_is_asked_before_they_are_forked() -> None:
    with Runner(double("asks_once")) as runner:
        (first, one), (second, two) = (runner.version().split() for _ in range(2))
    assert first == second != "[]"
    assert one != two
    assert first not in (f"[{one}]", f"[{two}]")


def test_seeds_of_runs_are_their_own_and_fit_a_trace() -> None:
    seeds = {run_seed(campaign, number) for campaign in range(20) for number in range(50)}
    assert len(seeds) == 1000
    assert max(seeds) < 1 << 63
    assert run_seed(1, 0) == 696423654170927051


def test_a_trace_that_cannot_be_repeated_says_why(honest: Runner) -> None:
    result = honest.replay("exhume-trace 1 smtlib 1\n1 new\n2 assert t7\n")
    assert (result.outcome, result.fault) == ("trace", None)
    assert "line 3" in result.detail
    assert "t7" in result.detail


def test_a_crash_leaves_its_trace_and_is_seen_in_a_fresh_process() -> None:
    with Runner(double("crashes_at_first_pop")) as runner:
        for result in (runner.replay(PUSHES), runner.replay(PUSHES, fresh=True)):
            assert result.outcome == "fault"
            assert result.fault is not None
            assert (result.fault.kind, result.fault.action, result.fault.shape) == ("crash", "pop", "SIGSEGV")
            assert (result.trace.splitlines()[-1], result.calls) == ("3 pop 1", 3)


def test_a_crash_before_the_first_call_is_in_no_action() -> None:
    with Runner(double("dies")) as runner:
        seen = runner.replay("exhume-trace 1 smtlib 1\n1 new\n", fresh=True)
    assert seen.fault is not None
    assert (seen.fault.kind, seen.fault.action, seen.trace) == ("crash", "", "")


def test_a_run_over_its_limits_is_no_error(honest: Runner) -> None:
    slow = "".join(f"{n} make-constant s1 c{n}\nreturn t{n}\n" for n in range(1, 4000))
    text = f"exhume-trace 1 smtlib 1\n1 new\n2 make-sort Bool\nreturn s1\n{slow}"
    late = honest.replay(text, Limits(0.05, 1 << 30, 1 << 20))
    assert (late.outcome, late.fault) == ("timeout", None)
    big = honest.replay(text, Limits(20.0, 1 << 20, 1 << 20))
    assert (big.outcome, big.fault) == ("memout", None)


def test_a_leak_is_memory_that_grows_with_each_repetition(honest: Runner) -> None:
    text = "exhume-trace 1 smtlib 1\n1 new\n2 make-sort Bool\nreturn s1\n"
    text += "3 make-value s1 true\nreturn t1\n4 assert t1\n"
    assert honest.repeat(text).fault is None
    with Runner(double("leaks")) as runner:
        assert runner.replay(text).fault is None
        found = runner.repeat(text).fault
    assert found is not None
    assert found.stem("z3") == "leak|z3|delete"


def test_what_only_the_engine_keeps_is_no_leak() -> None:
    # A bit-blasted remainder leaves a megabyte in its term manager, which has to outlive all terms.
    text = """exhume-trace 1 bitwuzla 1
1 new
2 make-sort (_ FloatingPoint 11 53)
return s1
3 make-special-value s1 (_ -zero 11 53)
return t1
4 make-constant s1 a
return t2
5 make-term s1 fp.rem t2 t1
return t3
6 make-sort Bool
return s2
7 make-term s2 fp.isZero t3
return t4
8 assert t4
9 check-sat
"""
    with Runner(Setup("bitwuzla")) as runner:
        seen = runner.repeat(text, Limits(10.0, 1 << 30, 8 << 20))
    assert (seen.outcome, len(seen.resident), seen.fault) == ("done", REPEATS, None)


def test_our_own_error_is_reported_with_its_traceback() -> None:
    with Runner(double("breaks")) as runner:
        result = runner.replay(PUSHES)
    assert result.fault is not None
    assert result.fault.kind == "internal"
    assert "ZeroDivisionError" in result.fault.shape
    assert "doubles.py" in result.fault.detail


# Faults and keys


def test_a_fault_is_the_same_whatever_the_names_and_numbers() -> None:
    one = faults.reported("rejected", "assert", "Symbol 'c12' of sort (_ BitVec 8) is not declared, see t14")
    two = faults.reported(
        "rejected", "assert", "Symbol 'x y' of sort (Array Int (_ BitVec 3)) is not declared, see t2"
    )
    assert one.is_same(two)
    assert not one.is_same(faults.reported("rejected", "push", one.detail))
    assert not one.is_same(None)
    assert from_document(json.loads(json.dumps(to_document(one))), Fault) == one


def test_a_crash_is_known_by_its_place() -> None:
    said = "noise\nFatal failure within void f() at ../src/theory/arith.cpp:91\nmore\n"
    one, two = faults.crash("check-sat", "SIGABRT", said), faults.crash("get-value", "SIGABRT", said)
    assert one.place == "arith.cpp:91"
    assert one.is_same(two)
    assert not one.is_same(faults.crash("check-sat", "SIGABRT", said.replace("91", "92")))
    assert faults.reported("rejected", "push", "Assertion `x' failed at solver.cpp:7").kind == "crash"
    # z3 tells its interface little; the last of what it printed is where.
    printed = "".join(f"ASSERTION VIOLATION\nFile: /b/core/{f}\nLine: 7\n" for f in ("a.h", "b.h"))
    assert faults.reported("crash", "push", "unreachable", printed).place == "b.h:7"
    assert faults.reported("answer", "push", "unreachable", printed).place is None


def test_pythons_own_words_on_a_signal_do_not_count() -> None:
    assert (
        faults.crash("pop", "SIGSEGV", "Fatal Python error: Segmentation fault\n\nStack:\n").shape
        == "SIGSEGV"
    )


def test_keys_hold_operators_where_words_say_too_little() -> None:
    trace = read_trace(
        "exhume-trace 1 z3 1\n1 make-term s1 and t1 t2\n2 make-term s2 (_ extract 3 0) t3\n"
        "3 make-term s3 (as seq.empty (Seq Int))\n4 make-binder s1 forall (t1) t2\n5 z3:optimise t1\n"
    )
    wrong = faults.reported("answer", "check-sat", "z3 says sat, cvc5 says unsat")
    key = key_of(wrong, "z3", trace, True)
    assert key.key == "answer|z3|check-sat: zN says sat, cvcN says unsat|extract,forall,seq.empty,z3:optimise"
    placed = Fault("crash", "pop", "", "a.cpp:1")
    assert not placed.needs_operators
    assert key_of(placed, "z3", trace, False).key == "crash|z3|a.cpp:1"
    # Any wrong model ends there.
    checked = Fault("crash", "check-sat", "", "check_models.cpp:251")
    expected = "crash|cvc5|check_models.cpp:251|extract,forall,seq.empty,z3:optimise"
    assert key_of(checked, "cvc5", trace, True).key == expected


def test_what_was_cut_short_folds_into_what_shares_most() -> None:
    known = ["answer|z3|x|bvadd", "answer|z3|x|bvadd,bvmul", "answer|z3|y|bvadd,bvmul,bvor"]
    three = "answer|z3|x|bvadd,bvmul,bvor"
    assert fold(FoundKey(three, "", False), known) == known[1]
    assert fold(FoundKey(three, "", True), known) == three
    assert fold(FoundKey("answer|z3|x|bvor", "", False), known) == "answer|z3|x|bvor"


def known_as(ledger: Ledger, key: str) -> str | None:
    entry = ledger.silencing(key, None)
    return None if entry is None else entry.key


def test_lists_of_known_errors_of_earlier_versions(tmp_path: Path) -> None:
    keys = (
        *("crash|z3|a.cpp:1", "answer|z3|x"),
        *("crash|z3|x: SIGSEGV|tree-order,*", "crash|z3|y: SIGSEGV|mod", "crash|z3|z: SIGSEGV|*,abs,*"),
    )
    listed = {"format": "exhume-known-errors", "version": 1, "errors": [{"key": key} for key in keys]}
    file = tmp_path / "known.json"
    file.write_text(json.dumps(listed))
    known = Ledger(read_known([file]))
    assert known_as(known, "crash|z3|a.cpp:1") == "crash|z3|a.cpp:1"
    assert known_as(known, "answer|z3|x|bvadd,bvor") == "answer|z3|x"
    assert known_as(known, "crash|z3|a.cpp:2") is None
    assert known_as(known, "crash|z3|z: SIGSEGV|abs,mod") == "crash|z3|z: SIGSEGV|*,abs,*"
    assert known_as(known, "crash|z3|x: SIGSEGV|mod0,tree-order") == "crash|z3|x: SIGSEGV|tree-order,*"
    assert known_as(known, "crash|z3|x: SIGSEGV|mod0") is None
    assert known_as(known, "crash|z3|y: SIGSEGV|mod,mod0") is None
    for text in ("", "{}", '{"format": "exhume-known-errors", "version": 9, "errors": []}', "[" * 100_000):
        file.write_text(text)
        with pytest.raises(DifftestError, match="not a list of known errors"):
            read_known([file])


def test_shipped_ledgers_are_read_and_distinguished_by_solver() -> None:
    assert not shipped("smtlib")
    for name in ("bitwuzla", "cvc5", "oxiz", "z3"):
        causes = [entry.cause for entry in shipped(name) if entry.at and entry.cause]
        assert causes and {cause.solver for cause in causes} == {name}
        # In lockstep the error comes under the other solver's name.
        together = [entry.cause for entry in shipped("smtlib", name)]
        assert together == [replace(cause, solver="smtlib") for cause in causes]


def test_the_last_action_is_read_off_a_torn_trace() -> None:
    assert last_action("exhume-trace 1 z3 1\n3 new\n4 push 1\nreturn t1\n") == "push"
    assert last_action("exhume-trace 1 z3 1\n3 new\n4 make-constant s1 |a\x855 pop|\n") == "make-constant"
    assert last_action("") == ""


# Setups


def test_a_setup_stands_in_its_trace() -> None:
    setup = Setup("bitwuzla", "cvc5", True)
    text = "exhume-trace 1 bitwuzla 1\n" + "".join(f"set {n} {v}\n" for n, v in setup.settings())
    assert Setup.of_trace(read_trace(text)) == setup
    assert Setup.of_trace(read_trace(text), "z3").solver == "z3"
    assert Setup.of_trace(read_trace(text), None, "z3") == replace(setup, cross_check="z3")


@pytest.mark.parametrize(("name", "said"), [("mine", "mine"), ("z3 ", "z3=")])
def test_a_trace_does_not_tell_the_command_line_of_a_solver(name: str, said: str) -> None:
    setup = Setup("bitwuzla", f"{name}=/opt/private/solver --key 1")
    assert setup.settings() == [("cross-check", said)]
    trace = read_trace(f"exhume-trace 1 bitwuzla 1\nset cross-check {said}\n")
    with pytest.raises(TraceError, match="--cross-check"):
        Setup.of_trace(trace)
    assert Setup.of_trace(trace, None, setup.cross_check) == setup


@pytest.mark.parametrize("line", ["|sh=rm -rf x|", "elsewhere"])
def test_a_strangers_trace_starts_no_program(line: str) -> None:
    with pytest.raises(TraceError, match="--solver"):
        Setup.of_trace(read_trace(f"exhume-trace 1 {line} 1\n"), None, "cvc5")
    other = read_trace(f"exhume-trace 1 z3 1\nset cross-check {line}\n")
    with pytest.raises(TraceError, match="--cross-check"):
        Setup.of_trace(other, "cvc5")
    assert Setup.of_trace(other, None, "a=b").specs == ("z3", "a=b")


@pytest.mark.parametrize("given", [(None, "z3=old -in"), ("cvc5 =old", None), ("a=b", "a=c")])
def test_solvers_of_one_name_are_not_compared(given: tuple[str | None, str | None]) -> None:
    with pytest.raises(TraceError, match="same name"):
        Setup.of_trace(read_trace("exhume-trace 1 z3 1\nset cross-check cvc5\n"), *given)
    # As an earlier version wrote it.
    assert Setup.of_trace(read_trace("exhume-trace 1 z3 1\nset cross-check z3\n")).specs == ("z3", "z3")


# Campaigns

# Double, what its finding is called, and what its minimised trace is made of.
PLANTED = {
    "leaks": ("leak", {"new", "make-sort", "make-value", "make-constant", "assert"}, 5),
    "crashes_after_pops": ("crash", {"new", "push", "pop"}, 8),
    "forgets_declarations": (
        "rejected",
        {"new", "make-sort", "make-constant", "make-term", "push", "pop", "assert"},
        8,
    ),
    "answers_wrongly": ("answer", None, 14),
    "returns_wrong_cores": ("core", None, 14),
}
FEW, MORE = size(6, 30), size(10, 45)
"""Runs of a campaign, and when it has been resumed."""
MOST_RUNS = 150


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANTED)
@pytest.mark.few(1)
def test_planted_bugs_are_found_and_minimised(name: str, tmp_path: Path) -> None:
    kind, actions, most = PLANTED[name]
    given: dict[str, Any] = {"leaks": 2 * (name == "leaks"), "quick": 60.0, "describe": describe}
    came = run_campaign(tmp_path, double(name), MOST_RUNS, 1, **given)
    assert came.findings, f"nothing found in {came.tests} runs"
    finding = came.findings[0]
    assert finding.finding_class == kind
    trace = read_trace((finding.path / "minimised.trace").read_text())
    assert len(trace.lines) <= most
    if actions is not None:
        assert {line.action for line in trace.lines} <= actions
    data = read_document(finding.path)
    assert data["lines"] == [
        len(read_trace((finding.path / "trace.txt").read_text()).lines),
        len(trace.lines),
    ]
    report = (finding.path / "report.md").read_text()
    assert "exhume apifuzz replay minimised.trace" in report
    assert "Stack (most recent call first)" not in report
    assert (finding.path / "formula.smt2").read_text().startswith("(")


def test_an_honest_wrapper_gives_no_findings_and_counts(tmp_path: Path) -> None:
    came = run_campaign(tmp_path, double("honest"), 12, jobs=2, leaks=0)
    assert came.findings == ()
    document = came.to_json()
    statistics = document["statistics"]
    assert (document["tests"], document["unconfirmed"], "errors" in statistics) == (12, 0, False)
    assert statistics["calls"] == {"calls": sum(statistics["tried"].values())}
    assert sum(statistics["answers"].values()) > 0
    for kind in ("states", "operators", "sorts"):
        assert statistics[kind]
    assert read_campaign(tmp_path).statistics == {k: Counter(c) for k, c in came.statistics.items()}


def test_a_campaign_resumes_and_knows_what_it_found(tmp_path: Path) -> None:
    setup = double("crashes_at_first_pop")
    first = run_campaign(tmp_path / "c", setup, FEW, leaks=0, quick=30.0)
    assert [f.known for f in first.findings] == [False]
    second = run_campaign(tmp_path / "c", setup, MORE, leaks=0, quick=30.0)
    assert [f.known for f in second.findings] == [True]
    assert second.tests == MORE
    assert second.statistics["errors"]["crash"] == 1 + second.duplicates
    third = run_campaign(tmp_path / "c", setup, MORE, leaks=0, quick=30.0)
    assert (third.tests, third.duplicates) == (MORE, second.duplicates)
    with pytest.raises(SettingsDiffer, match="started with seed 1, not seed 2"):
        run_campaign(tmp_path / "c", setup, MORE, seed=2, leaks=0)
    whole = run_campaign(tmp_path / "whole", setup, MORE, leaks=0, quick=30.0, jobs=2)
    assert whole.statistics["errors"] == second.statistics["errors"]
    assert [f.key for f in whole.findings] == [f.key for f in second.findings]
    # What was found is known to the next one.
    listed = Ledger().with_earlier([tmp_path / "c"]).entries
    known = run_campaign(tmp_path / "known", setup, FEW, leaks=0, more_known=listed)
    assert (known.findings, sum(known.statistics["known"].values())) == (
        (),
        first.statistics["errors"]["crash"],
    )


def test_what_no_fresh_process_shows_is_no_finding(tmp_path: Path) -> None:
    came = run_campaign(tmp_path, double("crashes_in_forks_only"), 15, leaks=0)
    assert came.findings == ()
    assert 0 < came.unconfirmed <= came.statistics["errors"]["crash"]
    assert list((tmp_path / "unconfirmed").iterdir())


class Still(Runner):
    """Its runs take as long as it says."""

    def generate(self, *_: object) -> RunResult:
        return RunResult("done", PUSHES, 1.0)

    def repeat(self, *_: object) -> RunResult:
        return RunResult("done", PUSHES, 8.0)


def test_the_time_that_leaks_and_confirmations_take_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apifuzz.running.strategy.Runner", Still)
    monkeypatch.setattr("apifuzz.running.strategy.examine", lambda *_: time.sleep(0.05))
    performer = CallsStrategy((double("honest"),), 1, DRAWING, leaks=2).performer()
    tasks = [RunTask(TestName("api", "", index), 0, Limits()) for index in range(2)]
    assert [performer.run(task).solver_seconds for task in tasks] == [1.0, 9.0]
    fault = Fault("crash", "pop", "")
    candidate = CallsCandidate("crash", ("smtlib",), "crash|smtlib|pop", "smtlib", fault=fault)
    task = ConfirmTask(tasks[0].name, GeneratedTest(0, PUSHES, "api"), candidate, Limits())
    assert performer.confirm(task).solver_seconds >= 0.05
    performer.close()


def test_a_full_disk_is_reported_with_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apifuzz.running.strategy.run_seed", no_room)
    with pytest.raises(OSError, match="No space left") as caught:
        list(events_of(tmp_path, double("honest"), 5))
    assert caught.value.filename == tempfile.gettempdir()


@pytest.mark.thorough
def test_what_is_asked_about_an_error_does_not_keep_a_campaign_from_stopping_at_once(tmp_path: Path) -> None:
    asking, done = threading.Event(), threading.Event()

    def ask(*_: object) -> Description:
        asking.set()
        done.wait(60)
        return Description()

    events = events_of(tmp_path, double("returns_wrong_cores"), None, leaks=0, describe=ask)
    while not asking.is_set():
        next(events)
    started = time.monotonic()
    events.close()  # as the second Ctrl-C does
    assert time.monotonic() - started < 20
    done.set()


def test_two_campaigns_cannot_share_a_folder(tmp_path: Path) -> None:
    events = events_of(tmp_path, double("honest"), 1000)
    next(events)
    with pytest.raises(InUse, match="another campaign uses this folder"):
        next(events_of(tmp_path, double("honest"), 1))
    events.close()


@pytest.mark.slow
@pytest.mark.thorough
def test_a_killed_campaign_loses_and_repeats_nothing(tmp_path: Path) -> None:
    code = (
        "import json, sys; from pathlib import Path\n"
        "from apifuzz.running.setup import Setup\n"
        "from difftest import FindingConfirmed\n"
        "from tests.apifuzz.test_runs import events_of\n"
        "setup, out = Setup(**json.loads(sys.argv[1])), Path(sys.argv[2])\n"
        f"for seen in events_of(out, setup, {MORE}, leaks=0, quick=30.0):\n"
        "    if isinstance(seen, FindingConfirmed):\n"
        "        print('Finding', seen.record.id, flush=True)\n"
    )
    setup = double("crashes_at_first_pop")
    started = subprocess.Popen(
        [sys.executable, "-c", code, json.dumps(asdict(setup)), str(tmp_path)],
        cwd=HERE.parents[1],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert started.stdout is not None
    seen = next(line for line in started.stdout if line.startswith("Finding"))
    started.send_signal(signal.SIGKILL)
    started.wait()
    started.stdout.close()
    assert [finding.id for finding in read_findings(tmp_path / "findings")] == [seen.split()[1]]
    time.sleep(0.2)
    came = run_campaign(tmp_path, setup, MORE, leaks=0, quick=30.0)
    assert came.tests == MORE
    assert [(f.id, f.known) for f in came.findings] == [(seen.split()[1], True)]


# Campaigns of earlier versions


def of_an_earlier_version(out: Path, setup: Setup, **changes: Any) -> None:
    """What API fuzzing kept when it had a state of its own: 12 runs, of which number 10 is not done."""
    strategy = CallsStrategy((setup,), 1, drawing=DRAWING, leaks=0)
    settings = {
        **{
            name: value for name, value in strategy.settings.items() if name in ("drawing", "limits", "leaks")
        },
        **{"setup": asdict(setup), "seed": 1, "corpus": None, "version": "1.0", "exhume": VERSION},
    }
    counts = {
        **{"first": 10, "done": [11], "runs": 11, "calls": 900, "seconds": 8.0, "solver_seconds": 4.0},
        **{"unconfirmed": 1, "duplicates": 2, "known": 3, "outcomes": {"done": 7, "fault": 4}},
        **{"errors": {"crash": 4}, "missed": {}, "seen": {"crash|z3|a.cpp:1": 3, "leak|z3|x": 3}},
        **{"looks": {"crash|smtlib|pop: SIGSEGV": 1}, "statistics": {"answers": {"sat": 5, "unsat": 2}}},
        "first_key": {"crash|smtlib|pop: SIGSEGV": "crash|smtlib|pop: SIGSEGV"},
    }
    out.mkdir(parents=True, exist_ok=True)
    (out / "findings").mkdir(exist_ok=True)
    document = {"format": 1, "settings": settings, "counts": counts, **changes}
    (out / upgrading.FILE).write_text(json.dumps(document))


def test_a_campaign_of_an_earlier_version_is_read_and_resumed(tmp_path: Path) -> None:
    of_an_earlier_version(tmp_path, double("honest"))
    read = upgrading.read_any(tmp_path)
    assert not (tmp_path / "campaign.sqlite").exists()
    assert read.settings["setups"][0]["factory"] == "doubles:honest"
    assert (read.seconds, read.statistics["calls"]["calls"]) == (8.0, 900)
    assert read.statistics["known"] == {"crash|z3|a.cpp:1": 3, "leak|z3|x": 3}
    upgrading.upgrade(tmp_path)
    assert read_campaign(tmp_path).open == (("api", "", 10, 11),)
    upgrading.upgrade(tmp_path)
    strategy = CallsStrategy((double("honest"),), 1, drawing=DRAWING, leaks=0)
    with CampaignState.open(tmp_path, {"seed": 1, "setups": strategy.settings["setups"]}) as state:
        schedule = Schedule([strategy], 1, False, 14, state.loaded)
        names = [taken[0].index for taken in iter(lambda: schedule.next(made=True), None)]
    assert names == [10, 12, 13]


def test_a_large_number_of_an_earlier_version_takes_no_time(tmp_path: Path) -> None:
    of_an_earlier_version(tmp_path, double("honest"))
    file = tmp_path / upgrading.FILE
    document = json.loads(file.read_text())
    document["counts"]["done"] = [12, 10**15]
    file.write_text(json.dumps(document))
    read = upgrading.read_any(tmp_path)
    assert read.open == (("api", "", 10, 12), ("api", "", 13, 10**15))
    assert read.arms[0].next_index == 10**15 + 1


@pytest.mark.parametrize("text", ["{", "{}", '{"format": 9}', '{"format": 1, "settings": {}, "counts": {}}'])
def test_an_unreadable_state_is_reported(text: str, tmp_path: Path) -> None:
    (tmp_path / upgrading.FILE).write_text(text)
    with pytest.raises(DifftestError, match="no campaign can be read"):
        upgrading.upgrade(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == [upgrading.FILE]
