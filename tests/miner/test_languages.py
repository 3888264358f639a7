"""Code that is not SMT-LIB, what crashes without an assertion, and where crashes are."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus.store import Corpus
from miner.classify import classify
from miner.crashes import Crash, crash_of
from miner.extract import extract_issue
from tests.miner.mining_help import extract_text, issue_of, store_issues

SCRIPT = "(declare-const a Int)\n(assert (> a 0))\n(check-sat)"
Z3PY = "from z3 import *\nx = Int('x')\ns = Solver()\ns.add(x > 0)\nprint(s.check())"


@pytest.mark.parametrize(
    ("code", "language"),
    [
        (Z3PY, "python"),
        ("#include <z3++.h>\nint main() { z3::context c; }", "c++"),
        ("Context ctx = new Context();\nBoolExpr b = ctx.mkTrue();", "java"),
        ("open Z3\nlet ctx = mk_context []", "ocaml"),
        ("(set-logic LIA)\n(synth-fun f ((x Int)) Int)\n(constraint (= (f 1) 1))\n(check-synth)", "sygus"),
        ("(define x::int)\n(assert (> x 0))\n(check)", "yices"),
        ("fof(a, axiom, ! [X] : p(X)).\ncnf(b, axiom, q).", "tptp"),
    ],
)
def test_code_in_other_languages_is_kept_and_is_no_formula(code: str, language: str) -> None:
    extraction = extract_text(f"It crashes:\n```\n{code}\n```\n")
    assert extraction.formulas == ()
    assert [located.written_in for located in extraction.blocks if located.block.is_code] == [language]


def test_the_mark_of_a_block_decides_if_it_calls_a_solver() -> None:
    call = "let s = Solver::new(&ctx);"
    text = f"```rust\n{call}\n```\n\n```rust\nlet x = 3;\n```\n\n```\n{call}\n```\n"
    found = [located.written_in for located in extract_text(text).blocks if located.block.is_code]
    assert found == ["rust", "", ""]


def test_a_script_in_a_program_is_a_formula_and_the_block_is_the_program() -> None:
    text = f'```python\nimport z3\ns = z3.Solver()\ns.from_string("""\n{SCRIPT}\n""")\n```'
    extraction = extract_text(text)
    assert [formula.text for formula in extraction.formulas] == [SCRIPT + "\n"]
    assert [located.written_in for located in extraction.blocks] == ["python"]


def test_a_script_that_crashes_without_an_assertion_is_a_formula() -> None:
    script = "(push 1)\n(declare-datatypes ((T 0)) (((c (s T)) (d))))\n(pop 1)"
    (formula,) = extract_text(f"This segfaults:\n```\n{script}\n```").formulas
    assert formula.original == script
    assert extract_text("```\n(declare-datatypes ((T 0)) (((c (s T)) (d))))\n```").formulas == ()


def test_scripts_that_check_at_other_places_are_two() -> None:
    one = "(declare-const a Int)\n(push)\n(assert (> a 0))\n(check-sat)\n(pop)\n(assert (< a 0))\n(check-sat)"
    other = (
        "(declare-const a Int)\n(push)\n(assert (> a 0))\n(pop)\n(check-sat)\n(assert (< a 0))\n(check-sat)"
    )
    formulas = extract_text(f"```\n{one}\n```\nand\n```\n{other}\n```").formulas
    assert [formula.duplicate_of for formula in formulas] == [None, None]
    formulas = extract_text(f"```\n{one}\n```\nand\n```\n{one}\n```").formulas
    assert [formula.duplicate_of for formula in formulas] == [None, 0]


def test_scripts_with_other_assumptions_are_two() -> None:
    script = "(declare-const p Bool)\n(declare-const q Bool)\n(assert (or p q))\n(check-sat-assuming ({}))"
    text = f"```\n{script}\n```"
    formulas = extract_text(text.format("p") + "\nand\n" + text.format("(not p)")).formulas
    assert [formula.duplicate_of for formula in formulas] == [None, None]


def test_a_fragment_below_the_last_check_is_not_part_of_the_script() -> None:
    (formula,) = extract_text(f"```\n{SCRIPT}\n\n(assert (= b 2))\n```").formulas
    assert formula.text == formula.script == SCRIPT + "\n"
    (formula,) = extract_text(f"```\n{SCRIPT}\n\n(assert (= a 2))\n(check-sat)\n```").formulas
    assert formula.text.count("check-sat") == 2


@pytest.mark.parametrize(
    ("output", "crash"),
    [
        (
            "ASSERTION VIOLATION\nFile: ../src/smt/smt_context.cpp\nLine: 352\nm_scope_lvl > 0\n(C)ontinue",
            Crash("smt_context.cpp", 352, "", "m_scope_lvl > 0"),
        ),
        (
            "Fatal failure within void cvc5::internal::Foo<T>::bar(int) const at /x/src/theory/foo.cpp:12\n"
            "Check failure\n\n n.isConst()\nAborted",
            Crash("foo.cpp", 12, "cvc5::internal::Foo::bar", "n.isConst()"),
        ),
        (
            "opensmt: /x/src/proof/PG.cc:158: void Graph::build(int): Assertion `a != b' failed.\nAborted",
            Crash("PG.cc", 158, "Graph::build", "a != b"),
        ),
        (
            "==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x60\n"
            "    #0 0x1 in sat::solver::go(int) /x/src/sat/sat_solver.cpp:7:3\n    #1 0x2 in main x.cpp:1",
            Crash("sat_solver.cpp", 7, "sat::solver::go", "heap-use-after-free on address 0x60"),
        ),
        ("Segmentation fault (core dumped)", Crash(message="Segmentation fault")),
        ("sat", None),
    ],
)
def test_crash_places(output: str, crash: Crash | None) -> None:
    assert crash_of(output) == crash


def test_affected_last_good_and_fixed_in_are_distinguished() -> None:
    body = f"z3 4.8.7 returns unsat, 4.8.5 works.\n```\n{SCRIPT}\n```"
    issue = issue_of("Soundness bug", body, "Fixed in 4.8.9.")
    found = classify(issue, extract_issue(issue))
    versions = [one and one.value for one in (found.version, found.last_good, found.fixed_in)]
    assert versions == ["4.8.7", "4.8.5", "4.8.9"]


def test_what_an_issue_says_is_stored_in_columns(tmp_path: Path) -> None:
    crash = "ASSERTION VIOLATION\nFile: ../src/smt/smt_context.cpp\nLine: 352\nm_scope_lvl > 0\n"
    shown = f"```\n$ z3 a.smt2\n{crash}$ cat a.smt2\n{SCRIPT}\n```\n```py\n{Z3PY}\n```"
    body = f"Found by yinyang, worked in 4.8.5.\n{shown}"
    with Corpus.open(tmp_path / "c.duckdb", write=True) as corpus:
        store_issues(corpus, issue_of("Crash", body, "Duplicate of #5, fixed by 0a1b2c3d4e"))
        columns = "last_good, fixed_by, duplicate_of, tools, crash_file, crash_line, crash_message"
        said = (
            "4.8.5",
            "0a1b2c3d4e",
            "Z3Prover/z3#5",
            ["yinyang"],
            "smt_context.cpp",
            352,
            "m_scope_lvl > 0",
        )
        assert corpus.rows(f"select {columns} from issue") == [said]
        assert corpus.rows("select crash_file, crash_line from formula_run") == [("smt_context.cpp", 352)]
        languages = corpus.rows("select language, bug_class from code order by block_id")
        assert languages == [("smt-lib", "crash"), ("python", "crash")]
        assert corpus.rows("select target from issue_link where duplicate") == [("Z3Prover/z3#5",)]
        assert corpus.rows("select incomplete, check_sat_added from current_formula") == [(False, False)]
        assert corpus.verify() == []
