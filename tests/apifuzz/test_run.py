"""Runs: the same seed gives the same bytes, a replay makes the same calls, bad traces say where and why."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from apifuzz.chance import Chance
from apifuzz.driving import replay
from apifuzz.engines.text import TextEngine
from apifuzz.interface import (
    Answer,
    ApiSort,
    ApiTerm,
    Capabilities,
    Feature,
    Head,
    Misbehaviour,
    Option,
    OptionKind,
    Rejected,
    Unsupported,
)
from apifuzz.operators import operators_for
from apifuzz.run import Ending, Settings, Statistics
from apifuzz.trace import Line, Trace, TraceError, print_trace, read_trace
from smtlib import Sort
from tests.apifuzz import kits

ROOT = Path(__file__).resolve().parents[2]


class Answering(TextEngine):
    """Prints the script, and gives drawn answers, as no solver would."""

    name = "answering"
    answers = True

    def options(self) -> tuple[Option, ...]:
        return (
            Option("produce-models", OptionKind.BOOL, "false"),
            Option("produce-unsat-cores", OptionKind.BOOL, "false"),
            Option("produce-unsat-assumptions", OptionKind.BOOL, "false"),
            Option("verbose", OptionKind.INT, "0", 0, 3),
            Option("mode", OptionKind.MODE, "a", choices=("a", "b")),
            Option("share", OptionKind.FLOAT, "0.5", 0, 1),
        )

    def check_sat(self, assumptions: Sequence[ApiTerm] | None = None) -> Answer:
        super().check_sat(assumptions)
        return self.random.choice((Answer.SAT, Answer.UNSAT, Answer.UNKNOWN))


def drawn(
    seed: int, engine: TextEngine | None = None, settings: Settings | None = None
) -> tuple[str, Ending]:
    return kits.drawn(engine or Answering(), seed, settings or Settings())


@pytest.mark.parametrize("seed", range(12))
def test_same_seed_same_bytes_and_same_replay(seed: int) -> None:
    first = Answering()
    text, ending = drawn(seed, first)
    assert drawn(seed)[0] == text
    assert ending.kind == "done"

    trace = read_trace(text)
    second = Answering()
    pieces: list[str] = []
    again = replay(second, trace, pieces.append)
    assert again.kind == "done" and again.answers == ending.answers
    assert second.script() == first.script()
    # Lines that were taken back are in the first text only.
    assert read_trace("".join(pieces)) == trace
    assert print_trace(trace) == "".join(pieces)


PROGRAM = """
import hashlib
from apifuzz.driving import generate
from apifuzz.run import Settings
from apifuzz.engines.text import TextEngine
digest = hashlib.sha256()
for seed in range(12):
    generate(TextEngine(("cvc5",)), Settings(), seed, lambda text: digest.update(text.encode()))
print(digest.hexdigest())
"""


def test_the_bytes_do_not_depend_on_the_process() -> None:
    """Sets of strings have another order in each process; objects another address."""
    digests = set()
    for hash_seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        )
        digests.add(done.stdout)
    assert len(digests) == 1


def test_other_seeds_other_runs() -> None:
    texts = {drawn(seed)[0].split("\n", 1)[1] for seed in range(20)}
    assert len(texts) == 20


def test_a_part_of_a_trace_keeps_its_ids() -> None:
    trace = read_trace(
        """exhume-trace 1 smtlib 1
        1 new
        2 make-sort Int
        return s4
        3 make-constant s4 a
        return t9
        4 make-term s4 + t9 t9
        return t12
        """
    )
    pieces: list[str] = []
    replay(TextEngine(), trace, pieces.append)
    assert "".join(pieces) == print_trace(trace)


@pytest.mark.slow
def test_every_action_is_drawn() -> None:
    total = Statistics()
    for seed in range(100):
        total.add(drawn(seed, Answering(("cvc5",)))[1].statistics)
    never_written = {"set-required-option", "feed-term"}
    from apifuzz.calls import ACTIONS

    assert set(total.tried) == set(ACTIONS) - never_written
    assert set(total.states) >= {"sat", "unsat", "unknown", "levels", "delete"}
    assert {"verbose", "mode", "share", "produce-models"} <= set(total.options)


def test_what_the_engine_lacks_is_not_drawn() -> None:
    class Poor(Answering):
        def capabilities(self) -> Capabilities:
            return Capabilities(
                frozenset(("Core", "Ints")), frozenset((Feature.QUANTIFIERS,)), frozenset(("abs",))
            )

    total = Statistics()
    for seed in range(15):
        text, ending = drawn(seed, Poor())
        assert text.count(" check-sat\n") <= text.count(" new\n")
        total.add(ending.statistics)
    assert not set(total.tried) & {
        *("push", "pop", "make-function", "declare-sort", "declare-datatypes", "check-sat-assuming"),
        *("get-value", "unsat-core", "simplify", "substitute", "reset", "define-function"),
    }
    assert set(total.sorts) == {"Bool", "Int"}
    assert "Ints abs" not in total.operators and total.operators["Ints +"]


def test_what_the_engine_does_not_take_is_not_drawn() -> None:
    class Picky(Answering):
        def takes(self, signature: Any, sorts: tuple[Sort, ...], result: Sort) -> bool:
            return signature.name != "and" or len(sorts) == 2

    drawn_lines: list[Line] = []
    for seed in range(10):
        trace = read_trace(drawn(seed, Picky())[0])
        drawn_lines += [line for line in trace.lines if line.args[1:2] == ("and",)]
    assert drawn_lines
    assert all(len(line.args) == 4 for line in drawn_lines)


def test_settings_are_kept() -> None:
    fixed = (("verbose", "2"), ("mode", "b"))
    for seed in range(6):
        settings = Settings(("Ints",), False, True, fixed, ("share",), 60)
        text, ending = drawn(seed, None, settings)
        assert text.splitlines()[1] == "set theories (Core Ints)"
        assert "set-option verbose 2\n" in text and "set-option mode b\n" in text
        assert "make-binder" not in text and "BitVec" not in text
        assert ending.calls <= 62
        assert {o for o in ending.statistics.options if "produce" not in o} <= {"verbose", "mode", "share"}
    text, _ = drawn(1, None, Settings(options=False))
    assert "set-option produce-models true" in text and "share" not in text


def test_a_feature_waits_for_its_option() -> None:
    """Without its option a question is not asked; SMT-LIB's names of options are known for that."""
    asked = {"print-model": "produce-models", "unsat-core": "produce-unsat-cores"}
    seen = set()
    for seed in range(40):
        text, _ = drawn(seed)
        for instance in text.split(" new\n")[1:]:
            for action, option in asked.items():
                if f" {action}\n" in instance:
                    seen.add(action)
                    assert f"set-option {option} true\n" in instance
    assert seen == set(asked)


# Endings


class Faulty(Answering):
    """Goes wrong at the n-th term, in some way."""

    def __init__(self, error: Exception, at: int = 5) -> None:
        super().__init__()
        self.error = error
        self.left = at

    def make_term(self, sort: ApiSort, head: Head, args: Sequence[ApiTerm]) -> Any:
        self.left -= 1
        if self.left == 0:
            raise self.error
        return super().make_term(sort, head, args)


def test_a_rejection_ends_the_run() -> None:
    text, ending = drawn(3, Faulty(Rejected("no such kind")))
    assert (ending.kind, ending.detail) == ("rejected", "no such kind")
    last = read_trace(text).lines[-1]
    assert last.action == "make-term" and last.returns == ()
    assert replay(Faulty(Rejected("no such kind")), read_trace(text)).detail == "no such kind"


def test_a_misbehaviour_ends_the_run_and_has_a_kind() -> None:
    _, ending = drawn(3, Faulty(Misbehaviour("sort", "another")))
    assert (ending.kind, ending.error, ending.detail) == ("misbehaviour", "sort", "another")


def test_a_refused_call_is_taken_back_and_the_run_continues() -> None:
    text, ending = drawn(3, Faulty(Unsupported("not with me")))
    assert ending.kind == "done"
    assert "make-term: not with me" in [reason for _, reason in ending.refused]
    assert text.count("\nrefused ; not with me\n") == 1
    written = text.count(" make-term ")
    assert sum(line.action == "make-term" for line in read_trace(text).lines) == written - len(ending.refused)


def test_a_replay_on_a_solver_that_makes_no_instance_lists_all_calls() -> None:
    class Absent(Answering):
        def new(self) -> None:
            raise Unsupported("not today")

    trace = read_trace("exhume-trace 1 answering 1\n1 new\n2 make-sort Bool\nreturn s1\n3 check-sat\n")
    ending = replay(Absent(), trace)
    assert (ending.kind, [number for number, _ in ending.refused]) == ("done", [2, 3, 5])
    assert ending.refused[0][1] == "new: not today"
    assert ending.refused[2][1] == "check-sat: the instance could not be made"


def test_a_term_of_another_sort_is_noticed() -> None:
    class Wrong(Answering):
        def has_sort(self, term: ApiTerm, sort: ApiSort) -> bool:
            return sort.sort.name != "Bool"

    _, ending = drawn(1, Wrong())
    assert ending.error == "sort" and ending.detail.endswith("has not the sort Bool")


def test_cores_and_assumptions_are_of_what_was_said() -> None:
    class Liar(Answering):
        def __init__(self) -> None:
            super().__init__()
            self.some: list[ApiTerm] = []

        def assert_formula(self, term: ApiTerm) -> None:
            super().assert_formula(term)
            self.some = [ApiTerm(999, term.sort, term.handle, term.kind)]

        def unsat_core(self) -> list[ApiTerm]:
            return self.some

        def unsat_assumptions(self) -> list[ApiTerm]:
            return self.some

    endings = [drawn(seed, Liar())[1] for seed in range(50)]
    assert {e.error for e in endings if e.kind == "misbehaviour"} == {"core", "assumptions"}
    assert any(e.detail == "t999 in it was not given" for e in endings)


# Replays


def test_what_another_solver_lacks_is_left_out_with_what_needs_it() -> None:
    trace = read_trace(
        """exhume-trace 1 z3 1
        1 new
        2 set-option z3-only true
        3 make-sort Int
        return s1
        4 make-sort (_ BitVec 4)
        return s2
        5 make-constant s1 a
        return t1
        6 make-constant s2 b
        return t2
        7 make-term s2 ext_rotate_left t2 t2
        return t3
        8 make-term s2 bvnot t3
        return t4
        9 z3:tactic simplify
        10 make-term s1 - t1
        return t5
        """
    )

    class Other(TextEngine):
        def set_option(self, name: str, value: str) -> None:
            raise Unsupported(f"no option {name}")

    ending = replay(Other(("cvc5",)), trace)
    assert ending.kind == "done"
    assert [number for number, _ in ending.refused] == [3, 12, 14, 16]
    assert ending.refused[1] == (12, "make-term: without ext_rotate_left")
    assert ending.refused[2][1] == "make-term: t3 could not be made"
    assert ending.refused[3][1] == "z3:tactic: only z3 has it"


START = "exhume-trace 1 smtlib 1\n1 new\n2 make-sort Int\nreturn s1\n3 make-sort Bool\nreturn s2\n"
MORE = (
    START
    + "4 make-constant s1 a\nreturn t1\n5 make-constant s2 p\nreturn t2\n6 make-variable s2 x\nreturn t3\n"
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("exhume-trace 1 a 1\n1 push 1\n", "line 2: push: there is no instance"),
        (START + "4 new\n", "line 7: new: there is already an instance"),
        (START + "4 make-tea\n", "line 7: make-tea: unknown action make-tea"),
        (START + "4 set-required-option\n", "line 7: set-required-option: written as other calls"),
        (START + "4 make-sort\n", "line 7: make-sort: 1 to 21 arguments expected, found 0"),
        (START + "4 make-sort Real s1\n", "line 7: make-sort: the sort Real takes 0 arguments, found 1"),
        (START + "4 make-sort Pear\n", "line 7: make-sort: unknown sort Pear"),
        (START + "4 make-sort (_ BitVec 0)\n", "line 7: make-sort: the sort BitVec has no indices 0"),
        (START + "4 make-sort (_ BitVec 1 2)\n", "line 7: make-sort: the sort BitVec has no indices 1 2"),
        (START + "4 make-sort (_ BitVec 9999999)\n", "line 7: make-sort: an index of (_ BitVec 9999999)"),
        (START + "4 make-sort (f x)\n", "line 7: make-sort: (f x) is not the head of a sort"),
        (START + "4 make-sort Array s1\n", "line 7: make-sort: the sort Array takes 2 arguments, found 1"),
        (START + "4 make-sort Array s1 s9\n", "line 7: make-sort: unknown sort s9"),
        (START + "4 make-constant s7 a\n", "line 7: make-constant: unknown sort s7"),
        (START + "4 make-constant Int a\n", "line 7: make-constant: Int is not a sort's id"),
        (START + "4 make-constant s1\n", "line 7: make-constant: 2 arguments expected, found 1"),
        (START + "4 make-constant s1 a b\n", "line 7: make-constant: at most 2 arguments expected"),
        (START + "4 make-constant s1 5\n", "line 7: make-constant: a symbol expected, found 5"),
        (START + "4 make-constant s1 bvadd\n", "line 7: make-constant: the name bvadd is already used"),
        (START + "4 make-value s1 1.5\n", "line 7: make-value: 1.5 is not a value of sort Int"),
        (START + "4 make-value s2 maybe\n", "line 7: make-value: maybe is not a value of sort Bool"),
        (START + "4 declare-sort U 99\n", "line 7: declare-sort: a numeral from 0 to 9 expected"),
        (START + "4 declare-sort Int 0\n", "line 7: declare-sort: Int is a sort of a theory"),
        (START + "4 declare-datatypes (D () (c (s D)))\n", "line 7: declare-datatypes: the datatype D is"),
        (START + "4 declare-datatypes (D ())\n", "line 7: declare-datatypes: (NAME (PARAMETER ...)"),
        (START + "4 declare-datatypes (D () (c (s E)))\n", "line 7: declare-datatypes: unknown sort E of"),
        (START + "4 push 0\n", "line 7: push: a numeral from 1 to 1000 expected, found 0"),
        (START + "4 pop 1\n", "line 7: pop: 1 levels to close, 0 are open"),
        (START + "4 set-logic ALL\n", "line 7: set-logic: the logic is set once, before anything is made"),
        (START + "4 set-option a b\n", "line 7: set-option: options are set before anything is made"),
        (MORE + "7 make-constant s1 a\n", "line 13: make-constant: the name a is already used"),
        (MORE + "7 make-term s1 bvadd t1 t1\n", "line 13: make-term: bvadd does not take Int Int to Int"),
        (MORE + "7 make-term s2 + t1 t1\n", "line 13: make-term: + does not take Int Int to Bool"),
        (MORE + "7 make-term s1 plus t1 t1\n", "line 13: make-term: unknown operator plus"),
        (MORE + "7 make-term s1 (_ plus x) t1\n", "line 13: make-term: x is not an index"),
        (MORE + "7 make-term s1 (a b c d) t1\n", "line 13: make-term: (a b c d) is not the head of a term"),
        (MORE + "7 make-term s1 apply t1\n", "line 13: make-term: apply takes a function"),
        (MORE + "7 make-term s1 (selector s) t1\n", "line 13: make-term: (selector s) does not take Int"),
        (MORE + "7 make-term s2 not t9\n", "line 13: make-term: unknown term t9"),
        (MORE + "7 assert t1\n", "line 13: assert: t1 has the sort Int, expected Bool"),
        (MORE + "7 assert t3\n", "line 13: assert: t3 has free variables"),
        (MORE + "7 make-binder s2 forall (t2) t3\n", "line 13: make-binder: t2 is not a variable"),
        (MORE + "7 make-binder s2 forall t3 t3\n", "line 13: make-binder: a list in parentheses expected"),
        (MORE + "7 make-binder s1 forall (t3) t3\n", "line 13: make-binder: forall over a body of sort Bool"),
        (MORE + "7 make-binder s2 forall (t3) t1\n", "line 13: make-binder: the body of forall has the"),
        (
            MORE + "7 make-binder s2 exists (t3) t3\nreturn t4\n8 make-term s2 not t3\n",
            "line 15: make-term: a variable of t3 is bound already",
        ),
        (MORE + "7 make-function f () s1\n", "line 13: make-function: a function has 1 to 20 arguments"),
        (MORE + "7 substitute t1 (t1) (t2)\n", "line 13: substitute: t2 has the sort Bool, expected Int"),
        (MORE + "7 substitute t1 () ()\n", "line 13: substitute: as many terms as different constants"),
        (MORE + "7 make-sort Real\nreturn s1\n", "line 13: make-sort: s1 is returned twice"),
        (MORE + "7 make-sort Real\nreturn t8\n", "line 13: make-sort: the call returns a sort, not t8"),
    ],
)  # fmt: skip
def test_traces_that_no_run_wrote_have_line_and_reason(text: str, message: str) -> None:
    with pytest.raises(TraceError) as caught:
        replay(TextEngine(), read_trace(text))
    assert str(caught.value).startswith(message)


def test_mangled_traces_are_errors_or_runs() -> None:
    """Whatever arguments are exchanged, cut or doubled: a run, or a TraceError; nothing else."""
    chance = Chance(7)
    words = [a for seed in range(8) for line in read_trace(drawn(seed)[0]).lines for a in line.args]
    errors = 0
    for seed in range(60):
        trace = read_trace(drawn(seed % 8, None, Settings(calls=60))[0])
        lines = list(trace.lines)
        for _ in range(1 + seed % 3):
            at = chance.randrange(1, len(lines))
            old = lines[at]
            args = list(old.args) or ["x"]
            args[chance.randrange(len(args))] = chance.choice(words)
            if chance.random() < 0.3:
                args.append(chance.choice(words))
            lines[at] = Line(old.seed, old.action, tuple(args), old.returns, old.number)
        try:
            replay(Answering(), Trace("answering", 1, (), tuple(lines)))
        except TraceError:
            errors += 1
    assert 20 < errors < 60


def test_huge_arguments_are_refused_quickly() -> None:
    deep = "(" * 150 + ")" * 150
    for args in ("s1 " + deep, "s1 " + "9" * 100_000, "s1 |" + "x" * 100_000 + "|"):
        try:
            replay(TextEngine(), read_trace(START + f"4 make-value {args}\n"))
        except TraceError as error:
            assert len(str(error)) < 200


class Plain(TextEngine):
    """Has no datatypes with parameters, no sort constructors, and no options but one."""

    def capabilities(self) -> Capabilities:
        known = super().capabilities()
        lacking = {Feature.PARAMETRIC_DATATYPES, Feature.SORT_CONSTRUCTORS}
        return Capabilities(known.theories, known.features - lacking, sorts_without=known.sorts_without)

    def set_option(self, name: str, value: str) -> None:
        if name != "known":
            raise Rejected(f"unrecognized option {name}")
        super().set_option(name, value)


FOREIGN = """exhume-trace 1 {} 1
1 new
2 set-option odd 3
3 set-option known true
4 make-sort Bool
return s1
5 declare-datatypes (D (P0) (cons1 (sel1 P0) (sel2 s1)))
return s2
6 make-sort D s1
return s3
7 declare-datatypes (E () (cons2 (sel3 s3)))
return s4
8 make-constant s4 e
return t1
9 declare-sort U 1
return s5
10 make-sort U s1
return s6
11 make-constant s1 p
return t2
12 assert t2
13 check-sat
"""


def test_what_another_solver_lacks_is_left_out_with_all_that_needs_it() -> None:
    engine = Plain()
    ending = replay(engine, read_trace(FOREIGN.format("other")))
    assert ending.kind == "done"
    assert ending.refused == (
        (3, "set-option: another solver's option: unrecognized option odd"),
        (7, "declare-datatypes: without parametric-datatypes"),
        (9, "make-sort: D could not be declared"),
        (11, "declare-datatypes: s3 could not be made"),
        (13, "make-constant: s4 could not be made"),
        (15, "declare-sort: without sort-constructors"),
        (17, "make-sort: U could not be declared"),
    )
    assert engine.commands[1:] == [
        "(set-option :known true)",
        "(declare-const p Bool)",
        "(assert p)",
        "(check-sat)",
    ]


def test_options_of_a_solvers_own_are_not_left_out() -> None:
    ending = replay(Plain(), read_trace(FOREIGN.format("smtlib")))
    assert (ending.kind, ending.detail) == ("rejected", "unrecognized option odd")


def test_sorts_that_no_line_declares_are_reported_as_such() -> None:
    text = FOREIGN.format("other").replace("6 make-sort D", "6 make-sort F")
    with pytest.raises(TraceError, match="line 9: make-sort: unknown sort F"):
        replay(Plain(), read_trace(text))


# Operators


@pytest.mark.slow
@pytest.mark.parametrize("families", [("z3", "cvc5"), ("z3",), ("cvc5",)])
@pytest.mark.few(1)
def test_every_operator_of_the_theory_files_is_reached(families: tuple[str, ...]) -> None:
    """100 % of what the text engine takes: most in any runs, the rest when its theory is requested."""
    known = operators_for(families, TextEngine().capabilities(), TextEngine().capabilities().theories)
    missing = {f"{s.theory} {s.name}" for s in known.signatures}
    total = len(missing)
    assert total > 150
    for seed in range(200):
        missing -= set(drawn(seed, TextEngine(families))[1].statistics.operators)
        if len(missing) < 0.05 * total:
            break
    assert len(missing) < 0.05 * total
    for operator in sorted(missing):
        theory = operator.split()[0]
        # Tables are bags of tuples.
        beside = ("Bags",) if theory == "Tuples" else ("Ints", "Reals", "FixedSizeBitVectors")
        settings = Settings((theory, *beside))
        for seed in range(200):
            missing -= set(drawn(seed, TextEngine(families), settings)[1].statistics.operators)
            if operator not in missing:
                break
    assert missing == set()
