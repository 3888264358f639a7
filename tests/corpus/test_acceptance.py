"""What z3 and cvc5 accept."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import psutil
import pytest

from corpus import acceptance
from corpus.acceptance import Acceptance, Prober, cause_of, probe, version_of
from corpus.importer import import_paths
from corpus.probing import probe_formulas, solver_id
from corpus.query import find_query, run_query
from corpus.store import Corpus
from solvers.cvc5 import tasks as cvc5_tasks
from solvers.errors import SolverMissing
from solvers.lookup import find_solver
from solvers.running.script import Script
from solvers.solver import Solver
from solvers.z3 import tasks as z3_tasks
from tests.sizes import size

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
    ("(set-option :diagnostic-output-channel /x/a)", False, False),
]


@pytest.mark.parametrize("solver", ["z3", "cvc5"])
def test_the_table_of_texts(solver: str) -> None:
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
def test_a_text_neither_writes_nor_reads_files(tmp_path: Path, solver: str) -> None:
    kept = tmp_path / "kept"
    kept.write_text("precious")
    names = "regular-output-channel diagnostic-output-channel smtlib2_log trace_file_name dump-to out err in"
    options = [f":{name}" for name in names.split()]
    texts = [f'(set-option {option} "{kept}")(echo "x")' for option in options]
    texts += [f'(include "{kept}")', f'(set-option :out "{kept}")(set-option :print-success true){INT}']
    list(probe(texts, solver))
    assert kept.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [kept]


def test_long_messages_are_cut() -> None:
    [answer] = probe([f"(assert {'x' * 10_000})"], "z3")
    assert len(answer.message) == acceptance.MAX_MESSAGE


@pytest.mark.parametrize("jobs", [1, 3])
@pytest.mark.few(1)
def test_order_is_kept_whatever_the_number_of_jobs(jobs: int) -> None:
    count = size(600, 1000)
    texts = [f"(assert x{i})" for i in range(count)]
    named = [re.findall(r"x\d+", answer.message) for answer in probe(iter(texts), "z3", jobs)]
    assert named == [[f"x{i}"] for i in range(count)]


def test_texts_are_drawn_as_needed_and_processes_end_with_the_generator() -> None:
    drawn = 0

    def endless() -> Iterator[str]:
        nonlocal drawn
        while True:
            drawn += 1
            yield INT

    answers = probe(endless(), "z3")
    assert next(answers).accepted
    answers.close()  # type: ignore[attr-defined]
    assert drawn < 1000


def test_what_eats_memory_is_refused_and_what_takes_long_is_a_timeout() -> None:
    wide = "(declare-const x (_ BitVec 100000000))(assert (= (bvmul x x) (bvudiv x x)))(simplify x)"
    with Prober("cvc5", seconds=60, megabytes=300) as prober:
        [answer] = prober.probe([wide])
    assert (answer.outcome, answer.message) == ("refused", "out of memory")
    with Prober("cvc5", seconds=0.001) as prober:
        [answer] = prober.probe([wide])
    assert (answer.outcome, answer.message) == ("timeout", "no answer in 0.001 s")


@pytest.mark.thorough
def test_any_spec_can_be_asked(fake: Callable[[str], Solver]) -> None:
    small = "(declare-const f (_ FloatingPoint 3 5))(assert (not (fp.isNaN (fp.add RNE f f))))"
    asked = [INT, small, "(declare-const s String)", "(assert y)"]
    texts = [f"(set-logic ALL){text}(check-sat)" for text in asked]
    takes = {
        "z3": [True, True, True, False],
        "cvc5": [True, False, True, False],
        "cvc5[fp-exp=true]": [True, True, True, False],
        "yices": [True, False, False, False],
        "z3-program=" + find_solver("z3").argv[0]: [True, True, True, False],
    }
    assert {spec: [a.accepted for a in probe(texts, spec)] for spec in takes} == takes
    # What does not answer in time, or crashes, has not refused.
    slow = fake(
        "import os, time\nif 'Float' in text: time.sleep(60)\nif 'String' in text: os.abort()\nprint('sat')"
    )
    assert [a.accepted for a in probe(texts[:3], slow)] == [True] * 3
    odd = fake("print('(error \"no such thing\")')", "odd")
    assert [(a.accepted, a.cause) for a in probe(texts[:1], odd)] == [(False, "no such thing")]


def test_close_leaves_no_process() -> None:
    others = psutil.Process().children()
    prober = Prober("z3")
    assert [a.accepted for a in prober.probe([INT])] == [True]
    assert [a.accepted for a in prober.probe(["(assert x)"])] == [False]
    started = [p for p in psutil.Process().children() if p not in others]
    running = [p for p in started if "solvers.z3.tasks" in p.cmdline()]
    prober.close()
    assert running and not any(process.is_running() for process in running)


def test_a_missing_package_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    assert version_of("z3")
    monkeypatch.setitem(acceptance.DISTRIBUTIONS, "z3", "no-such-package-at-all")
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


# The tasks again, in this process: others cannot be seen by coverage.


@pytest.mark.parametrize(("column", "name", "tasks"), [(1, "z3", z3_tasks), (2, "cvc5", cvc5_tasks)])
def test_tasks_in_process(column: int, name: str, tasks: ModuleType) -> None:
    library = find_solver(name).loadable
    accept = tasks.load_task(["accept", library])
    for row in TABLE:
        text = Script(row[0].encode()).without_solving().decode()
        assert (accept(text)[0] == "accepted") == row[column], row
    answer = tasks.load_task(["answer", library])
    asked = {f"{INT}(check-sat)": "sat", "(assert false)(check-sat)": "unsat", "(assert y)": "refused"}
    assert {text: answer(text)[0] for text in asked} == asked


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
        for _ in range(2):
            probe_formulas(corpus, progress=lambda done, total: progress.append((done, total)))
            assert progress == [(2, 2)]
        assert corpus.rows("select formula_id, form, accepted from acceptance order by all") == [
            *[(1, "printed", True)] * 2,
            *[(2, "written", False)] * 2,
        ]
        assert solver_id(corpus, "z3", version_of("z3")) == 1
        assert corpus.verify() == []
    refusals = run_query(path, find_query("refusals"), {"solver": "z3"})
    assert [row[3:5] for row in refusals.rows] == [("unknown constant _", 1)]
