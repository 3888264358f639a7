"""What z3 and cvc5 accept, and what becomes of workers that crash or hang."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus import _probe, acceptance
from corpus.acceptance import Acceptance, Prober, SolverMissing, cause_of, probe, version_of
from corpus.importer import import_paths
from corpus.probing import probe_formulas, solver_id
from corpus.query import find_query, run_query
from corpus.store import Corpus

INT = "(declare-const x Int)"

# A text, whether z3 accepts it, whether cvc5 does.
TABLE = [
    ("", True, True),
    ("; nothing\n", True, True),
    (f"{INT}(assert (> x 0))(check-sat)(get-model)", True, True),
    (f"(set-logic QF_LIA){INT}(assert (> x y))", False, False),
    ("(declare-const s String)(assert (= (str.to.int s) 1))", True, False),
    ("(declare-sort T)(declare-const t T)", True, False),
    ("(declare-const a Real)(assert (= a 1))", True, True),
    (f"{INT}(push 1)(assert (> x 0))(check-sat)(pop 1)(check-sat)", True, True),
    (f"{INT}(pop 1)", False, False),
    (f"{INT}(assert (> x 0)", False, False),
    (f"{INT}(exit)(assert (> y 0))", True, True),
    (f'{INT}(echo "(assert (> y 0))")', True, True),
    ("(declare-fun |(check-sat| () Int)(assert (> |(check-sat| 0))", True, True),
    (f"{INT}(check-sat-using smt)(assert (> x 0))", True, True),
    ("(assert (forall ((x Int)) (= (* x x) x)))(check-sat)", True, True),
]


@pytest.mark.parametrize("solver", ["z3", "cvc5"])
def test_the_table_of_texts(solver: acceptance.Solver) -> None:
    answers = list(probe((text for text, _, _ in TABLE), solver))
    column = ("z3", "cvc5").index(solver) + 1
    assert [a.accepted for a in answers] == [row[column] for row in TABLE]
    for answer in answers:
        assert answer.outcome == ("accepted" if answer.accepted else "refused")
        assert bool(answer.message) == bool(answer.cause) == (not answer.accepted)


def test_messages_keep_places_and_causes_do_not() -> None:
    [answer] = probe([f"{INT}\n(assert (> x yy))"], "z3")
    assert "line 2 column 13" in answer.message
    assert answer.cause == "unknown constant _"


def test_options_of_one_text_are_not_those_of_the_next() -> None:
    texts = ["(set-option :smtlib2_compliant true)", "(declare-const a Real)(assert (= a 1))"] * 2
    assert all(a.accepted for a in probe(texts, "z3"))


@pytest.mark.parametrize("solver", ["z3", "cvc5"])
def test_a_text_neither_writes_nor_reads_files(tmp_path: Path, solver: acceptance.Solver) -> None:
    kept = tmp_path / "kept"
    kept.write_text("precious")
    names = "regular-output-channel diagnostic-output-channel smtlib2_log trace_file_name dump-to out err in"
    options = [f":{name}" for name in names.split()]
    texts = [f'(set-option {option} "{kept}")(echo "x")' for option in options]
    texts += [f'(include "{kept}")', f'(set-option :out "{kept}")(set-option :print-success true){INT}']
    list(probe(texts, solver))
    assert kept.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [kept]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("(check-sat)", "           "),
        ("(a)(check-sat\n)(b)", "(a)          \n (b)"),
        ('(echo "(")(a)', "          (a)"),
        ("(a) ; (check-sat)\n(get-value (x))", "(a) ; (check-sat)\n               "),
        ("(|check-sat|)", "(|check-sat|)"),
        ("(a) (exit) (b)", "(a) "),
        (
            "(set-option :verbosity 1)(set-option :solver.smtlib2_log f)",
            "(set-option :verbosity 1)" + " " * 34,
        ),
        ("(set-logic ALL)(set-info :logic x)", "(set-logic ALL)(set-info :logic x)"),
        (")(check-sat)", ")(check-sat)"),
        ("(assert (check-sat", "(assert (check-sat"),
        ('(a "x""(check-sat)" b)', '(a "x""(check-sat)" b)'),
        ("()( check-sat )", "()             "),
    ],
)
def test_commands_that_solve_become_blanks(text: str, left: str) -> None:
    assert _probe.without_solving(text) == left


PIECES = st.sampled_from(
    ["(", ")", "check-sat", "exit", " ", "\n", '"', "|", ";", "set-option :out ", "x", '""', "é"]
)


@given(st.lists(PIECES, max_size=30).map("".join))
def test_blanks_keep_every_place(text: str) -> None:
    left = _probe.without_solving(text)
    assert len(left) <= len(text)
    assert all(a == b or (b == " " and a != "\n") for a, b in zip(text, left, strict=False))
    assert len(left) == len(text) or "exit" in text
    assert cause_of(text) == cause_of(text).strip()


@pytest.fixture
def troubled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker whose solver crashes, hangs, exits, talks or eats memory as the text tells it to."""
    script = tmp_path / "worker.py"
    script.write_text(
        f"""
import os, sys, time
sys.path.insert(0, {str(Path(_probe.__file__).parent)!r})
import _probe
seen = []
def check(text):
    seen.append(text)
    if text == "abort":
        os.write(2, b"Fatal failure in foo.cpp:42"); os.abort()
    if text == "hang": time.sleep(60)
    if text == "exit": os._exit(3)
    if text == "fragile" and len(seen) > 2: os.abort()
    if text == "eat": bytearray(8 << 30)
    if text == "talk": print("noise " * 100000, flush=True)
    if text == "long": return "refused", "x" * 100000
    good = text in ("good", "fragile", "talk") or text.startswith("(")
    return ("accepted", "") if good else ("refused", "no: " + text)
_probe.CHECKS = {{"z3": lambda: check, "cvc5": lambda: 1 / 0}}
_probe.main()
"""
    )
    monkeypatch.setattr(acceptance, "_WORKER", script)


@pytest.mark.usefixtures("troubled")
def test_a_crash_or_a_hang_is_that_texts_outcome() -> None:
    texts = ["good", "abort", "good", "hang", "fragile", "exit", "bad", "eat", "talk", "good"]
    answers = list(probe(texts, "z3", seconds=0.6))
    assert [a.outcome for a in answers] == [
        *("accepted", "crash", "accepted", "timeout", "accepted"),
        *("crash", "refused", "refused", "accepted", "accepted"),
    ]
    assert answers[1].message == "SIGABRT: Fatal failure in foo.cpp:42"
    assert answers[3].message == "no answer in 0.6 s"
    assert answers[5].message == "exit status 3"
    assert answers[6].message == "no: bad"
    assert answers[7].message == "out of memory"


@pytest.mark.usefixtures("troubled")
def test_a_crash_that_others_caused_is_tried_alone() -> None:
    answers = list(probe(["good", "good", "good", "fragile", "good"], "z3"))
    assert [a.outcome for a in answers] == ["accepted"] * 5


@pytest.mark.usefixtures("troubled")
@pytest.mark.parametrize("jobs", [1, 3])
def test_order_is_kept_whatever_the_number_of_jobs(jobs: int) -> None:
    texts = [str(i) for i in range(1000)]
    assert [a.message for a in probe(iter(texts), "z3", jobs)] == [f"no: {text}" for text in texts]


@pytest.mark.usefixtures("troubled")
def test_texts_are_drawn_as_needed_and_processes_end_with_the_generator() -> None:
    drawn = 0

    def endless() -> object:
        nonlocal drawn
        while True:
            drawn += 1
            yield "good"

    answers = probe(endless(), "z3")  # type: ignore[arg-type]
    assert next(answers).accepted
    answers.close()  # type: ignore[attr-defined]
    assert drawn < 1000


@pytest.mark.usefixtures("troubled")
def test_long_messages_are_cut() -> None:
    [answer] = probe(["long"], "z3")
    assert len(answer.message) == _probe.MAX_MESSAGE


@pytest.mark.usefixtures("troubled")
def test_a_worker_that_cannot_start_is_told() -> None:
    with pytest.raises(SolverMissing, match="ZeroDivisionError"):
        list(probe(["x"], "cvc5"))


def test_a_killed_worker_is_told_and_close_leaves_no_process() -> None:
    prober = Prober("z3")
    assert [a.accepted for a in prober.probe([INT])] == [True]
    assert [a.accepted for a in prober.probe(["(assert x)"])] == [False]
    process = prober._workers[0]._process
    os.kill(process.pid, signal.SIGKILL)
    with pytest.raises(SolverMissing, match="z3 died"):
        list(prober.probe([INT]))
    prober.close()
    assert process.poll() is not None


def test_a_hanging_child_dies_with_its_worker(troubled: None) -> None:
    prober = Prober("z3", seconds=60)
    answers = prober._threads.submit(prober._ask, ["hang"])
    pid = prober._workers[0]._process.pid
    deadline = time.monotonic() + 10
    children: list[int] = []
    while not children and time.monotonic() < deadline:
        file = Path(f"/proc/{pid}/task/{pid}/children")
        if not file.exists():
            pytest.skip("needs /proc/PID/task/PID/children")
        children = [int(c) for c in file.read_text().split()]
    prober.close()
    assert isinstance(answers.exception(), SolverMissing)
    while Path(f"/proc/{children[0]}").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not Path(f"/proc/{children[0]}").exists()


def test_a_missing_package_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert version_of("z3")
    monkeypatch.setitem(acceptance._WHEELS, "z3", "no-such-package-at-all")
    with pytest.raises(SolverMissing):
        version_of("z3")


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        ("", ""),
        (
            '(error "line 3 column 5: unknown constant foo (Int) ")\n(error "line 4 column 1: x")',
            "unknown constant _",
        ),
        (
            "<string>:1.20-1.24: Symbol 'a' not declared as a variable",
            "Symbol _ not declared as a variable",
        ),
        ("text:1.20: Symbol 'd' not declared as a variable", "Symbol _ not declared as a variable"),
        ("SIGSEGV", "SIGSEGV"),
        ("no answer in 5 s", "no answer in N s"),
        ("\n\nexpected 3 got 45", "expected N got _"),
    ],
)
def test_causes_are_messages_without_names_and_numbers(message: str, cause: str) -> None:
    assert cause_of(message) == cause
    assert Acceptance(False, "refused", message).cause == cause
    assert Acceptance(True, "accepted", message).cause == ""


# The worker's parts again, in this process: its own cannot be seen by coverage.


@pytest.mark.parametrize("name", ["z3", "cvc5"])
def test_checks_in_process(name: str) -> None:
    check = _probe.CHECKS[name]()
    column = ("z3", "cvc5").index(name) + 1
    for row in TABLE:
        assert (check(row[0]) == ("accepted", "")) == row[column], row


def test_answers_in_process() -> None:
    def check(text: str) -> tuple[str, str]:
        if text == "hang":
            time.sleep(60)
        if text == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        return ("refused", text) if text else ("accepted", "")

    assert _probe.answer(check, ["", "a", "die", "hang", "b"], 0.5, 100_000) == [
        ("accepted", ""),
        ("refused", "a"),
        ("crash", "SIGKILL"),
        ("timeout", "no answer in 0.5 s"),
        ("refused", "b"),
    ]


# The corpus


def test_formulas_are_asked_once_and_as_printed(tmp_path: Path) -> None:
    folder = tmp_path / "z3"
    folder.mkdir()
    (folder / "1_0.smt2").write_text("(declare-const s String)(assert (= (str.to.int s) 1))(check-sat)")
    (folder / "1_1.smt2").write_text("(assert (> x 0))")
    (folder / "1_2.smt2").write_bytes(b"\0")
    path = tmp_path / "c"
    with Corpus.open(path, write=True) as corpus:
        import_paths(corpus, [folder])
        progress: list[tuple[int, int]] = []
        reports = probe_formulas(corpus, progress=lambda done, total: progress.append((done, total)))
        assert [(r.solver, r.asked, r.accepted) for r in reports] == [("z3", 2, 1), ("cvc5", 2, 1)]
        assert progress == [(2, 2)]
        assert [r.asked for r in probe_formulas(corpus)] == [0, 0]
        assert corpus.rows("select formula_id, form, accepted from acceptance order by all") == [
            *[(1, "printed", True)] * 2,
            *[(2, "written", False)] * 2,
        ]
        assert solver_id(corpus, "z3", version_of("z3")) == 1
        assert corpus.verify() == []
    refusals = run_query(path, find_query("refusals"), {"solver": "z3"})
    assert [row[3:5] for row in refusals.rows] == [("unknown constant _", 1)]
