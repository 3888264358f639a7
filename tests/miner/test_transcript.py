"""Segments of a block, and command lines."""

from __future__ import annotations

import pytest

from miner.commandline import command_of, invocations_of, is_empty_prompt, shown_files, solver_family
from miner.sexpr import COMMANDS, STANDARD, balanced_end, command_word, names_of
from miner.transcript import ANSWER, cut
from smtlib.scanner import lexemes


def _kinds(text: str, *, loose: bool = False) -> list[tuple[str, str]]:
    return [(segment.kind, segment.text) for segment in cut(text, loose=loose)]


def test_a_session_is_cut_into_its_parts() -> None:
    assert _kinds("[1] % cat a.smt2\n(assert true) ; fine\n[2] % z3 a.smt2\nsat\n(model\n)\n[3] %\n") == [
        ("shell", "cat a.smt2"),
        ("open", ""),
        ("command", "(assert true)"),
        ("comment", "; fine"),
        ("close", ""),
        ("shell", "z3 a.smt2"),
        ("output", "sat"),
        ("output", "(model\n)"),
        ("prompt", "[3] %"),
    ]


def test_definitions_after_an_answer_are_a_model_unless_a_formula_follows() -> None:
    assert _kinds("sat\n(define-fun x () Int 0)\n") == [
        ("output", "sat"),
        ("output", "(define-fun x () Int 0)"),
    ]
    kinds = [kind for kind, _ in _kinds("sat\n(define-fun x () Int 0)\n(assert (> x 0))\n")]
    assert kinds == ["output", "command", "command"]


def test_loose_text_gives_commands_only_where_nothing_else_is_on_the_line() -> None:
    assert _kinds("(assert true) is what I wrote", loose=True)[0][0] == "prose"
    assert _kinds("(assert true)\n(reset)\n", loose=True) == [
        ("command", "(assert true)"),
        ("command", "(reset)"),
    ]
    assert _kinds("(reset) it", loose=True) == [("prose", "(reset) it")]


def test_an_unclosed_command_ends_where_the_next_one_starts_a_line() -> None:
    first, second = cut("(assert (and a b)\n(check-sat)\n")
    assert (first.whole, second.whole) == (False, True)
    assert second.text == "(check-sat)"


def test_an_unclosed_string_ends_where_the_next_command_starts_a_line() -> None:
    words = [
        segment.word
        for segment in cut('(assert (= s "abc))\n' + "; " + "x" * 80 + '\n(assert (= s "d"))\n(check-sat)')
    ]
    assert words[-1] == "check-sat"


@pytest.mark.parametrize(
    "text", ["...", "; ...", "[...]", "…", "(...)", "--- snip ---", "<snip>", "... 200 more lines"]
)
def test_elisions(text: str) -> None:
    assert [segment.kind for segment in cut(f"(push)\n{text}\n(pop)")] == ["command", "elision", "command"]


@pytest.mark.parametrize(
    "text", ["sat", "unsat", "unknown", "  sat  ", "unsat ; wrong", "sat (expected unsat)", "timeout"]
)
def test_answers(text: str) -> None:
    assert ANSWER.match(text)


@pytest.mark.parametrize("text", ["satisfiable", "sat solver", "unsat core of it", "(sat)"])
def test_no_answers(text: str) -> None:
    assert not ANSWER.match(text)


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("$ z3 a.smt2", "z3 a.smt2"),
        ("$z3 a.smt2", "z3 a.smt2"),
        ("% cvc5 -q a.smt2", "cvc5 -q a.smt2"),
        ("[12] % cat a", "cat a"),
        ("> z3 a.smt2", "z3 a.smt2"),
        (">>> z3 a.smt2", "z3 a.smt2"),
        ("me@host:~/x$ ./z3 a", "./z3 a"),
        ("(env) me@host:~/x$ ./z3 a", "./z3 a"),
        ("[me@host x]$ ./z3 a", "./z3 a"),
        ("~/x$ ls", "ls"),
        ("/build/bin$ ./cvc5 a", "./cvc5 a"),
        ("PS C:\\a b> z3 a.smt2", "z3 a.smt2"),
        ("C:\\tmp>z3 a.smt2", "z3 a.smt2"),
        ("bash-5.0$ z3 a", "z3 a"),
        ("➜  x git:(main) ✗ z3 a.smt2", "z3 a.smt2"),
        ("❯ z3 a.smt2", "z3 a.smt2"),
        ("z3 smt.arith.solver=6 a.smt2", "z3 smt.arith.solver=6 a.smt2"),
        ("time z3 a.smt2", "time z3 a.smt2"),
        ("X=1 ./z3 a.smt2", "X=1 ./z3 a.smt2"),
        ("cat a.smt2", "cat a.smt2"),
        ("z3 returns sat on a.smt2", None),
        ("z3 is wrong", None),
        ("CVC4 1.8 (`cvc4 --check-models bug.smt2`) says", None),
        ("cvc4 --lang smt2 `ls *.smt2`", "cvc4 --lang smt2 `ls *.smt2`"),
        ("z3: sat", None),
        ("cat videos", None),
        ("# a heading", None),
        ("> a quotation of text", None),
        ("$x + 1", None),
        ("time flies", None),
        ("", None),
        ("(assert true)", None),
    ],
)
def test_command_of_a_line(line: str, command: str | None) -> None:
    assert command_of(line) == command


@pytest.mark.parametrize("line", ["$", "%", "[4] %", "me@host:~$", "PS C:\\>", "[me@host x]$ "])
def test_empty_prompts(line: str) -> None:
    assert is_empty_prompt(line)


@pytest.mark.parametrize(
    ("word", "family"),
    [
        ("z3", "z3"),
        ("./z3-4.8.7/bin/z3", "z3"),
        ("z3release", "z3"),
        ("z3.exe", "z3"),
        ("..\\z3.exe", "z3"),
        ("cvc5-Linux", "cvc5"),
        ("yices-smt2", "yices"),
        ("yices_smt2", "yices"),
        ("z3.smt2", ""),
        ("z3py", ""),
        ("zsh", ""),
    ],
)
def test_solver_family(word: str, family: str) -> None:
    assert solver_family(word) == family


def test_all_of_a_command_line_is_read() -> None:
    (run,) = invocations_of(
        "ulimit -v 1000; A=1 B='x y' timeout -s 9 30 ./z3-4.8.7 -T:5 a.b=c '/tmp/my file.smt2' > out 2>&1"
    )
    assert (run.solver, run.program, run.version) == ("z3", "./z3-4.8.7", "4.8.7")
    assert run.options == ("-T:5", "a.b=c")
    assert run.files == ("my file.smt2",)


def test_each_solver_of_a_line_is_a_run() -> None:
    runs = invocations_of("z3 a.smt2 && cvc5 -q --tlimit 10 a.smt2 | tail -1")
    assert [(run.solver, run.options) for run in runs] == [("z3", ()), ("cvc5", ("-q", "--tlimit", "10"))]
    assert invocations_of("git clone https://github.com/Z3Prover/z3") == []


def test_files_that_are_shown() -> None:
    assert shown_files("cat a.smt2 ../b.smt2") == ("a.smt2", "b.smt2")
    assert shown_files("head -n 5 a.smt2 | tail") == ("a.smt2",)
    assert shown_files("z3 a.smt2") is None


def test_command_words_are_of_the_standard_or_known() -> None:
    assert STANDARD <= COMMANDS
    assert command_word("( check-sat )", 0) == "check-sat"
    assert command_word("(assertx)", 0) == ""
    assert command_word("(let ((x 1)) x)", 0) == ""


def test_balance_minds_strings_symbols_and_comments() -> None:
    text = '(assert (= "(""(" |)(|)) ; )'
    assert balanced_end(text, 0) == (text.index(" ;"), True)
    assert balanced_end("(a (b", 0) == (5, False)
    for text in ("(a) (b)", "(a)  (b)", "(a)\t(b c)", "(a) x (b)", "(a)(b)", "(a)"):
        assert balanced_end(text, 0) == (3, True)
    assert balanced_end("((a) (b))", 0) == (9, True)


@pytest.mark.parametrize(
    ("text", "free"),
    [
        ("(assert (> x 0))", {"x"}),
        ("(assert (forall ((x Int)) (> x y)))", {"y"}),
        ("(assert (let ((x 1) (z w)) (> x z)))", {"w"}),
        ("(assert (! (p |a b|) :named n :pattern ((f t))))", {"a b", "t"}),
        ('(assert (= ((_ extract 7 0) v) (_ bv3 8) #b1 #xff 1.5 "s" bv1[8]))', {"v"}),
        ("(assert (fp.eq (fp.add RNE f f) ((as const (Array Int Int)) 0)))", {"f"}),
        ("(assert (match l ((nil a) ((cons h t) h))))", set()),
    ],
)
def test_free_names(text: str, free: set[str]) -> None:
    assert names_of("assert", lexemes(text)).free == free


@pytest.mark.parametrize(
    ("text", "declared"),
    [
        ("(declare-const |a b| Int)", {"a b"}),
        ("(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))", {"L", "nil", "cons", "hd", "tl"}),
        ("(define-funs-rec ((f ((x Int)) Int)) (x))", {"f", "x"}),
        ("(declare-fun)", set()),
        ("(push 1)", set()),
    ],
)
def test_declared_names(text: str, declared: set[str]) -> None:
    tokens = lexemes(text)
    assert names_of(tokens[1], tokens).declared == declared
