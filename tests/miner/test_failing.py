"""Which run shows the bug, what the whole script is, and what of both is stored."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus.store import Corpus
from tests.miner.labelled_set import load_threads, score_threads
from tests.miner.mining_help import expected_of, extract_text, issue_of, only_formula, store_issues

SCRIPT = "(declare-fun a () Int)\n(assert (< a a))\n(check-sat)"


def _runs(title: str, session: str, tracker: str = "Z3Prover/z3") -> list[tuple[str, str, bool]]:
    body = f"```\n{session}\n$ cat small.smt2\n{SCRIPT}\n```\n"
    formula = only_formula(title, body, tracker=tracker)
    return [(run.invocation.text, run.symptom, run.failing) for run in formula.runs if run.invocation]


def test_all_runs_are_kept_in_order_and_the_wrong_answer_fails() -> None:
    session = "$ z3 small.smt2\nunsat\n$ cvc5 small.smt2\nunsat\n$ z3 smt.ematching=false small.smt2\nsat"
    assert _runs("Soundness bug", session) == [
        ("z3 small.smt2", "", False),
        ("cvc5 small.smt2", "", False),
        ("z3 smt.ematching=false small.smt2", "wrong-answer", True),
    ]


@pytest.mark.parametrize(
    ("output", "symptom"),
    [
        ("Segmentation fault (core dumped)", "crash"),
        ('sat\n(error "line 3 column 10: an invalid model was generated")', "invalid-model"),
        ("ast_manager LEAKED: 6", "leak"),
        ('(error "line 2 column 9: unknown sort")', "error"),
        ("timeout", "timeout"),
        ("unknown", "unknown"),
    ],
)
def test_symptoms_are_recognised_by_the_output(output: str, symptom: str) -> None:
    session = f"$ z3 small.smt2\nunsat\n$ z3 -q small.smt2\n{output}"
    assert _runs("Bug", session)[1] == ("z3 -q small.smt2", symptom, True)


def test_a_run_of_another_solver_does_not_fail() -> None:
    session = '$ cvc5 small.smt2\n(error "no such logic")\n$ z3 small.smt2\nsat'
    assert [failing for *_, failing in _runs("should be unsat", session)] == [False, True]


def test_a_tracker_with_a_number_in_its_name_knows_its_own_runs() -> None:
    session = "$ dreal small.smt2\nsat\n$ z3 small.smt2\nunsat"
    for tracker in ("dreal/dreal", "dreal/dreal4"):
        assert _runs("Wrong answer", session, tracker) == [
            ("dreal small.smt2", "wrong-answer", True),
            ("z3 small.smt2", "", False),
        ]


def test_the_title_gives_the_direction_only_if_the_output_agrees() -> None:
    formula = only_formula("Incorrect sat", f"```\n$ z3 a.smt2\nunsat\n$ cat a.smt2\n{SCRIPT}\n```")
    assert expected_of(formula) == "unsat"
    assert formula.runs[0].symptom == ""


@pytest.mark.parametrize(
    ("title", "asks", "expected"),
    [
        ("Soundness issue with nested stores", "(check-sat)", "unsat"),
        ("Wrong optimum, unsound bounds", "(check-sat)", None),
        ("Soundness issue with nested stores", "(check-sat)\n(get-value (a))", None),
        ("Soundness issue with nested stores", "(check-sat)\n(check-sat)", None),
        ("Nested stores", "(check-sat)", None),
    ],
)
def test_an_only_answer_that_the_report_calls_wrong_has_the_opposite(
    title: str, asks: str, expected: str | None
) -> None:
    script = SCRIPT.replace("(check-sat)", asks)
    text = f"```\n$ z3 small.smt2\nsat\n$ cat small.smt2\n{script}\n```\n"
    formula = only_formula(title, text)
    assert expected_of(formula) == expected
    assert [run.symptom for run in formula.runs] == ["wrong-answer" if expected else ""]


def test_what_the_crashing_command_answers_in_a_reply_is_expected() -> None:
    report = f"```\n$ z3 -q a.smt2\nSegmentation fault\n$ cat a.smt2\n{SCRIPT}\n```\n"
    for reply, expected in (("z3 -q", "unsat"), ("z3 -v", None)):
        comment = f"Fixed now:\n```\n$ {reply} a.smt2\nunsat\n```\n"
        assert expected_of(only_formula("Crash", report, comment)) == expected


def test_a_command_line_is_shown_before_a_bare_output_of_its_symptom() -> None:
    body = (
        f"```\n{SCRIPT}\n```\nprints\n```\nSegmentation fault\n```\nand in debug mode\n"
        "```\n$ ./z3 ~/a.smt2\nASSERTION VIOLATION\nFile: ../src/a.cpp\nLine: 5\n```\n"
    )
    formula = only_formula("Crash", body)
    assert formula.failing is not None and formula.failing.invocation is not None
    assert formula.failing.invocation.program == "./z3"


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("The options are `--incremental --mcsat`.", ("--incremental", "--mcsat")),
        ("With `z3 sat.smt=true scopes.smt2` it crashes.", ("sat.smt=true",)),
        ("`z3 --lang smt2.6 a.smt2` crashes.", ("--lang", "smt2.6")),
    ],
)
def test_options_in_sentences_are_of_the_failing_run(text: str, command: tuple[str, ...]) -> None:
    body = f"Trouble with `sat.smt` here:\n```\n{SCRIPT}\n```\n{text}\n"
    formula = only_formula("Crash", body)
    assert formula.file == ""
    assert [run.invocation.options for run in formula.runs if run.invocation] == [command]


@pytest.mark.parametrize(
    ("title", "session", "failing", "expected"),
    [
        # Two releases: the newer one is wrong, wherever it stands.
        ("Odd", "$ z3-4.9.1/z3 a.smt2\nsat\n$ z3-4.9.0/z3 a.smt2\nunsat", "z3-4.9.1/z3 a.smt2", "unsat"),
        # The title names an option's value, or begins with the answer it complains about.
        (
            "Wrong in spacer",
            "$ z3 fp.engine=spacer a.smt2\nsat\n$ z3 fp.engine=datalog a.smt2\nunsat",
            "z3 fp.engine=spacer a.smt2",
            "unsat",
        ),
        (
            "[qe] sat for a box",
            "$ z3 qi.max=1 a.smt2\nunsat\n$ z3 sk.max=1 a.smt2\nsat",
            "z3 sk.max=1 a.smt2",
            "unsat",
        ),
        # A limited run that printed only its time has no answer; the predecessor's counts.
        ("Slow", "$ time timeout 60 z3 -q a.smt2\nreal\t1m0.0s\n$ z3 a.smt2\nunsat", "z3 -q a.smt2", "unsat"),
        # Of equal answers the one that took much longer.
        (
            "Slower",
            "$ time z3 -a a.smt2\nunsat\nreal\t1m1.5s\n$ time z3 -b a.smt2\nunsat\nreal\t0m2.0s",
            "z3 -a a.smt2",
            None,
        ),
        (
            "As slow",
            "$ time z3 -a a.smt2\nunsat\nreal\t0m3s\n$ time z3 -b a.smt2\nunsat\nreal\t0m2s",
            None,
            None,
        ),
    ],
)
def test_one_of_two_runs_fails(title: str, session: str, failing: str | None, expected: str | None) -> None:
    body = f"```\n{session}\n$ cat a.smt2\n{SCRIPT}\n```\n"
    formula = only_formula(title, body)
    run = formula.failing
    text = run.invocation.text if run and run.invocation else None
    assert (text.split("timeout 60 ")[-1].removeprefix("time ") if text else None) == failing
    assert expected_of(formula) == expected


def test_of_two_runs_that_differ_in_one_answer_the_expected_one_counts() -> None:
    script = f"{SCRIPT}\n(check-sat)"
    session = "$ z3 qi.max=1 a.smt2\nsat\nsat\n$ z3 sk.max=1 a.smt2\nsat\nunsat"
    body = f"```\n{session}\n$ cat a.smt2\n{script}\n```\n"
    formula = only_formula("Wrong sat", body)
    assert expected_of(formula) == "sat unsat"
    body = (
        f"```\nunsat\nSegmentation fault\n```\nfor\n```\n{script}\n```\nI expect `sat` as the second answer."
    )
    formula = only_formula("Crash", body)
    assert expected_of(formula) == "unsat sat"


def test_a_run_with_fewer_answers_does_not_decide_which_of_two_others_is_right() -> None:
    session = "$ z3 sk.max=1 a.smt2\nsat\n$ z3 qi.max=1 a.smt2\nsat\nsat\n$ z3 a.smt2\nsat\nunsat"
    body = f"```\n{session}\n$ cat a.smt2\n{SCRIPT}\n(check-sat)\n```\n"
    formula = only_formula("Odd with sk.max", body)
    assert formula.expected is None


def test_a_banner_is_not_the_failing_run() -> None:
    body = f"```\n{SCRIPT}\n```\nI get\n```\nsat\n((a 1))\n```\nwith\n```\nYices 2.6.9\nCopyright SRI\n```\n"
    formula = only_formula("Value of a", body, tracker="SRI-CSL/yices2")
    assert formula.failing is not None and formula.failing.answers == ("sat",)


def test_the_wrong_answer_is_never_the_expected_one() -> None:
    session = "$ z3 a.smt2\nsat\n$ cvc5 a.smt2\nunsat\n$ cat a.smt2"
    body = f"z3 says it is clearly sat.\n```\n{session}\n{SCRIPT}\n```"
    formula = only_formula("Bug", body)
    assert expected_of(formula) == "unsat"


def test_expected_answers_are_one_per_check() -> None:
    text = (
        f"```\n(push)\n{SCRIPT}\n(pop)\n(check-sat)\n```\nExpected output:\n```\nunsat\nsat\n```\n"
        "Actual output:\n```\nunsat\nunsat\n```\n"
    )
    (formula,) = extract_text(text).formulas
    assert expected_of(formula) == "unsat sat"
    assert formula.failing is not None
    assert formula.failing.answers == ("unsat", "unsat")


@pytest.mark.parametrize(
    "commands",
    [
        "(declare-const a Int)\n(assert (> a 0))\n(check-sat-using (then simplify smt))\n(get-model)",
        "(declare-const a Int)\n(assert (> a 0))\n(minimize a)\n(assert-soft (< a 9) :weight 2)\n(check-sat)",
        "(declare-rel p (Int))\n(declare-var x Int)\n(rule (p 1))\n(query p)",
        "(declare-const a Int)\n(assert (! (> a 0) :named n))\n(check-sat)\n(get-interpolant n (> a 1))",
        "(declare-const a Int)\n(assert (> a 0))\n(get-abduct A (> a 1))",
        "(declare-const a Int)\n(assert (> a 0))\n(apply simplify)",
    ],
)
def test_the_whole_script_keeps_every_command(commands: str) -> None:
    (formula,) = extract_text(f"```\n{commands}\n```").formulas
    assert formula.script == commands + "\n"


def test_a_script_without_a_question_gets_one() -> None:
    (formula,) = extract_text("```\n(declare-const a Int)\n(assert (> a 0))\n```").formulas
    assert formula.script.endswith("(check-sat)\n")
    assert "check-sat-added" in formula.flags


def test_runs_script_and_flags_are_stored_and_follow_edits(tmp_path: Path) -> None:
    def store(corpus: Corpus, body: str) -> None:
        store_issues(corpus, issue_of("Soundness bug", body, tracker="a/z3"))

    good, bad = "$ z3 a.smt2\nunsat\n", "$ z3 -q a.smt2\nsat\n"
    text = "(declare-const a Int)\n(assert (< a a))\n(check-sat-using smt)"
    body = f"should be unsat\n```\n{good}{bad}$ cat a.smt2\n{text}\n```\n"
    with Corpus.open(tmp_path / "c", write=True) as corpus:
        store(corpus, body)
        assert corpus.rows("select command_line, expected, actual, flags from formula") == [
            ("z3 -q a.smt2", "unsat", "sat", None)
        ]
        assert corpus.scalar("select body from formula join text on text.id = script_text_id") == text + "\n"
        runs = "select command_line, options, answers, symptom, failing from formula_run order by position"
        assert corpus.rows(runs) == [
            ("z3 a.smt2", [], ["unsat"], None, False),
            ("z3 -q a.smt2", ["-q"], ["sat"], "wrong-answer", True),
        ]
        store(corpus, body.replace(good, ""))
        assert corpus.rows(runs) == [("z3 -q a.smt2", ["-q"], ["sat"], "wrong-answer", True)]
        assert corpus.verify() == []


@pytest.mark.parametrize("name", ["threads", "threads-apart", "threads-later", "threads-more"])
def test_threads_are_read_as_labelled(name: str) -> None:
    for kind, score in score_threads(load_threads(name)).items():
        assert min(score.precision, score.recall) >= 0.95, (kind, score.mistakes)


def test_the_answer_of_a_run_beside_one_that_breaks_is_expected() -> None:
    for where, expected in (("report", "sat"), ("comment", None)):
        good = "```\n$ cvc5 -q a.smt2\nsat\n```\n"
        broken = f"```\n$ cvc5 -q --check-models a.smt2\nAborted (core dumped)\n$ cat a.smt2\n{SCRIPT}\n```\n"
        texts = [good + broken] if where == "report" else [broken, good]
        assert expected_of(only_formula("A bug", *texts, tracker="cvc5/cvc5")) == expected


def test_the_name_of_an_option_is_no_answer() -> None:
    body = f"A wrong witness with `sat.smt=true`:\n```\n{SCRIPT}\n```\n"
    formula = only_formula("A bug", body)
    assert formula.expected is None
