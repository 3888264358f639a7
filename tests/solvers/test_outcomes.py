"""What a run means, on outputs as the solvers really print them and on nasty ones."""

from __future__ import annotations

import signal
import time

import pytest

from solvers.running.outcomes import Outcome, Verdict, judge, message_shape, tells_of_a_crash
from solvers.running.process import Ended, Run
from solvers.running.script import Script

TWO = "(assert a)\n(check-sat)\n(get-model)\n(assert b)\n(check-sat)\n"
ONE = "(assert a)\n(check-sat)\n"


def verdict(
    text: str,
    stdout: str = "",
    stderr: str = "",
    code: int | None = 0,
    number: int | None = None,
    ended: Ended = "exit",
    family: str = "z3",
) -> Verdict:
    run = Run(ended, None if number else code, number, stdout, stderr, 0.1)
    return judge(Script(text.encode()), run, family)


def test_answers_come_in_the_order_of_the_questions() -> None:
    got = verdict(TWO, "sat\n(\n  (define-fun a () Bool true)\n)\nunsat\n")
    assert (got.outcome, got.answers, got.is_decided) == (Outcome.OK, ("sat", "unsat"), True)


def test_warnings_between_answers_shift_nothing() -> None:
    got = verdict(TWO, "WARNING: odd\nsat\nsomething else\nWARNING: sat or unsat?\nunsat\n", family="other")
    assert got.answers == ("sat", "unsat")


def test_words_that_only_contain_an_answer_are_none() -> None:
    got = verdict(ONE, "  sat\nunsatisfiable\nsat.\nunsat\n")
    assert got.answers == ("unsat",)


def test_an_echoed_answer_is_not_an_answer() -> None:
    text = '(echo "sat")(echo " sat")(check-sat)(assert a)(echo "sat ")(check-sat)(echo "unsat")'
    for q in ("", '"'):
        got = verdict(text, f"{q}sat{q}\n{q} sat{q}\nsat\n{q}sat {q}\nunsat\n{q}unsat{q}\n")
        assert (got.outcome, got.answers) == (Outcome.OK, ("sat", "unsat"))
    # Some other text that is printed like an echo.
    assert verdict(f'{ONE}(simplify "sat")(check-sat)', 'sat\n"sat"\nunsat\n').answers == ("sat", "unsat")


@pytest.mark.parametrize("end", ["\n", "\x0b", "\x0c", "\x1c", "\x85", "\u2028"])
def test_a_line_of_a_name_or_an_echo_is_not_an_answer(end: str) -> None:
    name = f"|a{end}sat{end}b\u00e9|"
    text = f"(declare-const {name} Int)(check-sat)(get-model)(assert false)(check-sat)"
    got = verdict(text, f"sat\n(\n  (define-fun {name} () Int\n    0)\n)\nunsat\n")
    assert (got.outcome, got.answers) == (Outcome.OK, ("sat", "unsat"))
    said = f"the\\1 status:{end}unsat"
    for quote in ("", '"'):
        assert verdict(f'(echo "{said}"){ONE}', f"{quote}{said}{quote}\nsat\n").answers == ("sat",)
    # What solvers print besides has such ends, too.
    assert verdict(f'(echo "{end}")(echo "t{end}"){TWO}', "sat\n(\n)\nunsat\n").answers == ("sat", "unsat")


def test_names_and_echoes_of_any_number_of_lines_stand_beside_answers() -> None:
    texts = [f"t{number}" + "\nsat" * (number % 4 + 1) for number in range(20)]
    given = "".join(f'(echo "{text}")(declare-const |{text}| Int)' for text in texts)
    shown = "".join(f'{text}\n"{text}"\n((|{text}| (- 1)))\n' for text in texts)
    got = verdict(f"{given}{TWO}", f"unsat\n{shown}sat\n{shown}unsat\n")
    assert got.answers == ("unsat", "sat")
    # z3 prints an echo without its quotes, and quotes inside as they are meant.
    assert verdict(f'(echo "a""b\nsat"){ONE}', 'a"b\nsat\nunsat\n').answers == ("unsat",)
    # A name inside an echo.
    echo = '"x |a\nsat| y\nsat"'
    assert verdict(f"(declare-const |a\nsat| Int)(echo {echo}){ONE}", f"{echo}\nunsat\n").answers == (
        "unsat",
    )
    # The first lines of an echo, and an echo behind something else, are not the echo.
    for printed in (f"{texts[2]}\n", f"x {texts[1]}\n"):
        assert verdict(f'(echo "{texts[2]}\nend"){ONE}', printed).answers == ("sat",)


def test_many_names_of_several_lines_take_linear_time() -> None:
    echoes = [f"line {number}\nsat" for number in range(10_000)]
    text = "".join(f'(echo "{echo}")\n' for echo in echoes) + ONE
    began = time.process_time()
    assert verdict(text, "\n".join([*echoes, "unsat", ""])).answers == ("unsat",)
    # One of very many lines, beside a long output.
    long = "\n".join(echoes[:2_000])
    model = "".join(f"(define-fun x{number} () Int 1)\n" for number in range(20_000))
    assert verdict(f'(echo "{long}"){ONE}', f"{long}\nsat\n{model}").answers == ("sat",)
    assert time.process_time() - began < 3


@pytest.mark.parametrize(
    ("text", "printed", "outcome"),
    [
        (
            "(declare-const |std::runtime_error::code| Int)(check-sat)(get-model)",
            "sat\n(\n  (define-fun |std::runtime_error::code| () Int\n    0)\n)\n",
            Outcome.OK,
        ),
        (
            '(echo "after this, no double free\nis possible")(check-sat)',
            "after this, no double free\nis possible\nsat\n",
            Outcome.OK,
        ),
        (
            '(echo "after this, ""double free""")(check-sat)',
            'after this, "double free"\nsat\n',
            Outcome.OK,
        ),
        (
            "(assert |std::logic_error::x|)(check-sat)",
            '(error "line 1 column 9: unknown constant std::logic_error::x")\n',
            Outcome.REFUSED,
        ),
        (
            "(assert memout)(check-sat)",
            '(error "line 1 column 9: unknown constant memout")\n',
            Outcome.REFUSED,
        ),
    ],
)
def test_a_message_that_repeats_the_script_is_none_of_the_solver(
    text: str, printed: str, outcome: Outcome
) -> None:
    assert verdict(text, printed, code=1).outcome is outcome
    assert verdict(text, printed, number=signal.SIGABRT).outcome is Outcome.CRASH


def test_many_messages_on_a_large_script_take_linear_time() -> None:
    text = "".join(f"(declare-const x{number} Int)" for number in range(20_000)) + ONE
    said = "/a/b.cpp:7:3: runtime error: shift\n" * 2000
    began = time.process_time()
    assert verdict(text, "sat\n", said).outcome is Outcome.CRASH
    assert time.process_time() - began < 1.5


def test_an_echo_that_is_not_printed_takes_no_answer() -> None:
    assert verdict('(echo "sat")(check-sat)', "unsat\n").answers == ("unsat",)


def test_more_answers_than_questions_are_left_over() -> None:
    assert verdict(ONE, "sat\nunsat\nunsat\n").answers == ("sat",)


def test_queries_about_rules_have_answers() -> None:
    text = "(rule p)\n(query p :print-certificate true)\n(query q)\n(query p)\n"
    printed = 'sat\n(mp a\n  false)\n(error "line 3 column 6: unknown function q")\nunsat\n'
    got = verdict(text, printed, code=1)
    assert got.answers == ("sat", None, "unsat")
    failed = verdict("(rule p)(query p)", '(error "query failed: ")\nunknown\n', code=1)
    assert (failed.outcome, failed.answers) == (Outcome.REFUSED, (None,))


def test_an_error_in_a_query_leaves_answers_in_place() -> None:
    got = verdict(TWO, 'unsat\n(error "line 3 column 10: model is not available")\nunsat\n', code=1)
    assert (got.outcome, got.answers) == (Outcome.OK, ("unsat", "unsat"))


def test_an_error_in_an_assertion_keeps_what_came_before_and_drops_what_comes_after() -> None:
    got = verdict(TWO, 'sat\n(error "line 4 column 8: unknown constant b")\nsat\n', code=1)
    assert (got.outcome, got.answers) == (Outcome.REFUSED, ("sat", None))
    assert "unknown constant b" in got.detail


def test_an_error_for_an_answer_does_not_shift_the_next_one() -> None:
    got = verdict(TWO, '(error "line 2 column 10: overflow")\nunsat\n', code=1)
    assert (got.outcome, got.answers) == (Outcome.REFUSED, (None, "unsat"))


def test_an_error_over_several_lines_is_one_error() -> None:
    text = "(set-option :x 1)\n" + ONE
    got = verdict(
        text, "(error \"line 1 column 16: unknown parameter 'x'\nLegal parameters are:\n  y\")\nsat\n"
    )
    assert (got.outcome, got.answers) == (Outcome.OK, ("sat",))


def test_an_error_that_is_never_closed_does_not_swallow_the_answers() -> None:
    assert verdict(ONE, '(error "line 1 column 1: "odd\nsat\n').answers == (None,)
    # More digits than int() takes.
    assert verdict(ONE, f'(error "line 1 column {"9" * 5000}: odd")\nsat\n').answers == (None,)
    assert verdict(TWO, 'sat\n(error "line 3 column 3: model is not available\nunsat\n').answers[1] == "unsat"


def test_an_unplaced_error_stops_trust() -> None:
    got = verdict(TWO, 'sat\n(error "Parse Error: no")\nsat\n', family="other")
    assert (got.outcome, got.answers) == (Outcome.REFUSED, ("sat", None))


def test_what_z3_calls_unsupported_counts_only_where_it_matters() -> None:
    harmless = verdict(ONE, "unsupported\nsat\n", "; get-foo line: 1 position: 2\n")
    assert (harmless.outcome, harmless.answers) == (Outcome.OK, ("sat",))
    harmful = verdict(ONE, "unsupported\nsat\n", "; declare-foo line: 1 position: 2\n")
    assert (harmful.outcome, harmful.answers) == (Outcome.REFUSED, (None,))


def test_unknown_is_its_own_outcome_and_undecided() -> None:
    got = verdict(TWO, "sat\nunknown\n")
    assert (got.outcome, got.answers, got.is_decided) == (Outcome.UNKNOWN, ("sat", "unknown"), False)


def test_cvc5s_reason_for_not_knowing_is_read_past() -> None:
    got = verdict(TWO, "unknown (INCOMPLETE)\nsat\n", family="cvc5")
    assert (got.outcome, got.answers) == (Outcome.UNKNOWN, ("unknown", "sat"))


def test_no_question_is_ok_but_decides_nothing() -> None:
    got = verdict("(assert a)", "")
    assert (got.outcome, got.is_decided) == (Outcome.OK, False)


def test_cvc5s_error_about_another_status_is_the_answer() -> None:
    error = '(error "Expected result unsat but got sat")\n'
    got = verdict("(set-info :status unsat)" + ONE, error, code=1, family="cvc5")
    assert (got.outcome, got.answers) == (Outcome.OK, ("sat",))
    assert verdict(TWO, "unsat\n" + error, code=1, family="cvc5").answers == ("unsat", "sat")


def test_silence_is_a_refusal_that_says_so() -> None:
    got = verdict(ONE, "", "usage: solver FILE\n", code=2, family="other")
    assert (got.outcome, got.detail) == (Outcome.REFUSED, "usage: solver FILE")


def test_a_timeout_keeps_the_answers_before_it() -> None:
    got = verdict(TWO, "sat\n", code=None, number=signal.SIGKILL, ended="timeout")
    assert (got.outcome, got.answers) == (Outcome.TIMEOUT, ("sat", None))


@pytest.mark.parametrize("ended", ["memory", "output"])
def test_our_limits_are_memouts(ended: Ended) -> None:
    got = verdict(TWO, "sat\n", number=signal.SIGKILL, ended=ended)
    assert (got.outcome, got.answers) == (Outcome.MEMOUT, ("sat", None))


@pytest.mark.parametrize(
    "run",
    [
        {"stdout": '(error "out of memory")\n', "code": 101},
        {"stderr": "terminate called after throwing an instance of 'std::bad_alloc'\n", "number": 6},
        {"number": signal.SIGKILL},
        {"code": 101},
    ],
)
def test_running_out_of_memory_is_no_crash(run: dict[str, object]) -> None:
    assert verdict(ONE, **run).outcome is Outcome.MEMOUT  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGFPE, signal.SIGILL, signal.SIGBUS]
)
def test_death_by_a_signal_is_a_crash_even_after_all_answers(number: signal.Signals) -> None:
    got = verdict(ONE, "sat\n", number=number)
    assert (got.outcome, got.answers, got.detail) == (Outcome.CRASH, ("sat",), f"signal {number.name}")


def test_a_shell_in_between_does_not_hide_a_crash() -> None:
    assert verdict(ONE, code=139, family="other").outcome is Outcome.CRASH


def test_an_interrupt_from_outside_is_no_crash() -> None:
    assert verdict(ONE, number=signal.SIGTERM).outcome is not Outcome.CRASH


@pytest.mark.parametrize(
    ("stdout", "stderr", "place"),
    [
        ("ASSERTION VIOLATION\nFile: ../src/smt/theory_x.cpp\nLine: 123\nfoo\n", "", "theory_x.cpp:123"),
        (
            "",
            "Fatal failure within void cvc5::internal::X::f() at /a/b/src/theory/x.cpp:77\nCheck failure\n",
            "x.cpp:77",
        ),
        ("", "Failed to verify: m_util.is_numeral(rhs, _k)\n", None),
        ('(error "line 2 column 3: UNEXPECTED CODE WAS REACHED.")\n', "", None),
        ("", "../src/a.cpp:10:5: runtime error: signed integer overflow\n", "a.cpp:10"),
        (
            "",
            "==9==ERROR: AddressSanitizer: heap-use-after-free on 0x61\n"
            "    #0 0x55 in f(int) /s/t/y.cpp:5:3\n",
            "y.cpp:5",
        ),
        ("", "solver: ./src/q.cpp:9: void f(): Assertion `p' failed.\n", "q.cpp:9"),
    ],
)
def test_crash_messages_are_known_with_their_place(stdout: str, stderr: str, place: str | None) -> None:
    got = verdict(ONE, stdout, stderr, code=1)
    assert (got.outcome, got.location) == (Outcome.CRASH, place)
    assert got.shape


def test_a_crash_in_a_container_has_no_place_but_says_which_container() -> None:
    said = "ASSERTION VIOLATION\nFile: ../src/util/{}\nLine: {}\nidx < size()\n"
    got, moved, other = (
        verdict(ONE, "", said.format(*place), code=114)
        for place in (("vector.h", 369), ("vector.h", 912), ("obj_hashtable.h", 40))
    )
    assert (got.location, got.detail) == (None, "ASSERTION VIOLATION at vector.h:369")
    assert (moved.location, moved.shape) == (None, got.shape)
    assert other.shape != got.shape
    # A finding is read from its folder, which holds the detail only.
    assert message_shape(got.detail) == got.shape


def test_runtime_errors_do_not_fold_by_their_header_nor_hide_what_ended_the_run() -> None:
    error = "/s/src/util/vector.h:{}: runtime error: {}\n"
    null, moved, index = (
        verdict(ONE, "sat\n", error.format(place, text))
        for place, text in (
            ("477:5", "member access within null pointer of type 'expr'"),
            ("480:9", "member access within null pointer of type 'expr'"),
            ("477:5", "index 7 out of bounds for type 'unsigned int [4]'"),
        )
    )
    assert (null.outcome, null.location, null.shape) == (Outcome.CRASH, None, moved.shape)
    assert null.shape != index.shape
    deadly = "==9==ERROR: AddressSanitizer: SEGV on unknown address 0x08\n    #0 0x1 in f a/q.cpp:8:1\n"
    ended = verdict(ONE, "", "b.cpp:3:1: runtime error: signed integer overflow\n" + deadly, code=1)
    assert (ended.location, ended.detail) == ("q.cpp:8", deadly.partition("\n")[0])


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ('Exception in thread "main" java.lang.NullPointerException\n\tat a.B.c(B.java:3)\n', Outcome.CRASH),
        ('Exception in thread "main" java.lang.OutOfMemoryError: Java heap space\n', Outcome.MEMOUT),
        ('Fatal error: exception Not_found\nCalled from M.f in file "m.ml", line 3, x\n', Outcome.CRASH),
        ("Fatal error: exception Out_of_memory\n", Outcome.MEMOUT),
    ],
)
def test_java_and_ocaml_crash_by_exceptions(said: str, outcome: Outcome) -> None:
    got = verdict(ONE, "", said, code=2, family="other")
    assert (got.outcome, bool(got.location)) == (outcome, outcome is Outcome.CRASH)


def test_an_assertion_violation_after_the_answer_keeps_the_answer() -> None:
    got = verdict(ONE, "unsat\nASSERTION VIOLATION\nFile: a.cpp\nLine: 3\n", code=114)
    assert (got.outcome, got.answers) == (Outcome.CRASH, ("unsat",))


def test_z3s_own_exit_codes_for_faults_are_crashes_for_z3_only() -> None:
    assert verdict(ONE, "sat\n", code=110).outcome is Outcome.CRASH
    assert verdict(ONE, "sat\n", code=110, family="other").outcome is Outcome.OK


def test_z3s_invalid_model_is_distinguished_from_an_error_and_keeps_the_answer() -> None:
    got = verdict(ONE, 'sat\n(error "line 2 column 10: an invalid model was generated")\n', code=1)
    assert (got.outcome, got.answers) == (Outcome.INVALID_MODEL, ("sat",))


def test_cvc5s_invalid_model_is_distinguished_from_a_crash() -> None:
    said = (
        "Fatal failure within void f() at x.cpp:1\nInternal error detected\n"
        "SolverEngine::checkModel(): ERRORS SATISFYING ASSERTIONS WITH MODEL:\n"
    )
    assert verdict(ONE, "", said, number=signal.SIGABRT, family="cvc5").outcome is Outcome.INVALID_MODEL


def test_a_part_that_was_left_out_of_the_build_is_no_crash() -> None:
    said = "Fatal failure within void CVC4::f() const at ./src/util/floatingpoint.cpp:463\n"
    said += "Unimplemented code encounteredFloating-point literals not yet implemented.\n"
    got = verdict(ONE, "", said, number=signal.SIGABRT)
    assert (got.outcome, "not yet implemented" in got.detail) == (Outcome.REFUSED, True)


@pytest.mark.parametrize("said", ["model check failed\n", "[bzla] model check failed\n"])
def test_bitwuzlas_invalid_model_is_distinguished_from_its_abort(said: str) -> None:
    seen = verdict(ONE, "sat\n", said, number=signal.SIGABRT, family="bitwuzla")
    assert (seen.outcome, seen.answers) == (Outcome.INVALID_MODEL, ("sat",))


@pytest.mark.parametrize(
    "said",
    [
        "FATAL ERROR: the exists/forall solver failed: unexpected status: model error\n",
        "BUG: unexpected context status\n",
        "BUG detected\n",
    ],
)
def test_yices_last_words_are_a_crash(said: str) -> None:
    seen = verdict(ONE, "", said, code=16, family="yices")
    assert (seen.outcome, seen.detail) == (Outcome.CRASH, said.strip())


def test_an_invalid_model_is_seen_on_the_right_question_of_two() -> None:
    got = verdict(
        TWO, 'sat\n(error "line 2 column 10: an invalid model was generated")\n(\n)\nunsat\n', code=1
    )
    assert (got.outcome, got.answers) == (Outcome.INVALID_MODEL, ("sat", "unsat"))


def test_the_shape_of_a_message_forgets_what_differs_between_runs() -> None:
    one = message_shape("==12==ERROR: bad at 0x7fff12 in /home/a/x.cpp:12 after 3 steps")
    two = message_shape("==7==ERROR: bad at 0x55 in /b/x.cpp:99 after  41 steps")
    assert one == two
    assert message_shape("other") != one


def test_a_message_from_inside_is_distinguished_from_a_complaint() -> None:
    assert tells_of_a_crash("Fatal failure within void cvc5::f() at theory_engine.cpp:90")
    assert not tells_of_a_crash("Sort mismatch at argument #1 for function (declare-fun f (Int) Int)")
