"""z3's engine in runs: its own actions, what they notice, what they refuse, and what runs reach of z3."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import z3

from apifuzz.chance import Chance
from apifuzz.driving import replay
from apifuzz.engines.around import Witness
from apifuzz.engines.profile import profile
from apifuzz.engines.z3.actions import ACTIONS, draw_tactic
from apifuzz.engines.z3.engine import Z3Engine
from apifuzz.engines.z3.session import message_of, misread
from apifuzz.interface import Answer, LimitReached, Misbehaviour, Rejected, Unsupported
from apifuzz.model import default_model
from apifuzz.run import Ending, Settings
from apifuzz.running.faults import reported
from apifuzz.trace import Trace, TraceError, read_trace
from tests.apifuzz.counting import api_functions, calls_counted
from tests.apifuzz.kits import drawn
from tests.sizes import size

pytestmark = pytest.mark.usefixtures("own_context_only")

HEADER = """exhume-trace 1 z3 1
1 new
3 set-option produce-unsat-cores true
4 make-sort Bool
return s1
5 make-sort Int
return s2
6 make-sort (_ BitVec 8)
return s3
7 make-constant s1 p
return t1
8 make-constant s1 q
return t2
9 make-constant s2 a
return t3
10 make-constant s3 b
return t4
11 make-value s2 5
return t5
12 make-value s3 #b00000101
return t6
13 make-term s1 < t3 t5
return t7
14 make-term s1 => t1 t7
return t8
15 make-term s1 bvult t4 t6
return t9
16 make-term s1 not t7
return t10
17 make-term s1 or t1 t2
return t11
"""

CALLS = {
    "z3:tactic": "(then simplify (or-else (when is-qflia lia2pb) split-clause)) t8 t11 t1",
    "z3:probe": "t8 t9",
    "z3:cube": "t8 t11",
    "z3:consequences": "t8 t11 t8 t1",
    "z3:equalities": "t1 t7 t3 t5",
    "z3:print": "t8 t9",
    "z3:initial-value": "t8 t9",
    "z3:optimise": "lex (t7 t8) () (t3)",
    "z3:fixed-point": "",
    "z3:translate": "t8 t9",
    "z3:containers": "t3 t8 t5 t3",
    "z3:script": "t8 t9",
    "z3:model": "t8 t3",
    "z3:eliminate": "t8 t11",
    "z3:simplifiers": "t8 t9 t11",
    "z3:propagator": "t8 t9 t11 t10",
    "z3:clauses": "t8 t10 t1",
}
"""A call of each action, on the terms of the header."""

AFTER = {
    "z3:state": ("assert t8", "check-sat", "z3:state"),
    "z3:proof": ("assert t7", "assert t10", "check-sat", "z3:proof"),
    "z3:congruence": ("assert t8", "check-sat", "z3:congruence t3 t5"),
}
"""Actions that ask about an answer."""


def trace(*calls: str, seed: int = 0) -> Trace:
    lines = "\n".join(f"{1000 * seed + i} {call}" for i, call in enumerate(calls))
    header = HEADER
    if "z3:proof" in calls:
        header = HEADER.replace("1 new\n", "1 new\n2 set-option proof true\n")
    return read_trace(header + lines + "\n")


def repeat(*calls: str, seed: int = 0) -> Ending:
    return replay(Z3Engine(), trace(*calls, seed=seed))


def run(seed: int) -> tuple[str, Ending]:
    return drawn(Witness(Z3Engine()), seed, Settings(calls=80))


# Every action


def test_every_action_is_tried_below() -> None:
    assert {a.name for a in ACTIONS} == {*CALLS, *AFTER}


@pytest.mark.parametrize("name", sorted(CALLS))
@pytest.mark.parametrize("seed", range(size(2, 5)))
@pytest.mark.few(17)
def test_actions_find_nothing_wrong_with_z3(name: str, seed: int) -> None:
    ending = repeat(f"{name} {CALLS[name]}", f"{name} {CALLS[name]}", seed=seed)
    assert (ending.kind, ending.detail, ending.refused) == ("done", "", ())


@pytest.mark.parametrize("name", sorted(AFTER))
def test_questions_about_an_answer(name: str) -> None:
    engine = Z3Engine()
    for seed in range(8):
        ending = replay(engine, trace(*AFTER[name], "delete", seed=seed))
        assert ending.kind == "done", ending.detail
        if not ending.refused:
            return
    assert all("kind of solver" in why or "solver" in why for _, why in ending.refused)


# What they notice


def always(value: Any) -> Callable[..., Any]:
    return lambda *args, **keywords: value


def noticed(kind: str, call: str, seeds: int = 6) -> str:
    """The message of the misbehaviour of this kind that the call ends in, for one of some seeds."""
    endings = [repeat(call, seed=seed) for seed in range(seeds)]
    found = [e for e in endings if e.kind == "misbehaviour" and e.error == kind]
    assert found, [e.detail for e in endings]
    return found[0].detail


def test_a_tactic_that_loses_models_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = z3.Goal.get
    monkeypatch.setattr(z3.Goal, "get", lambda self, i: z3.And(right(self, i), z3.BoolVal(False, self.ctx)))
    assert "every subgoal is unsat" in noticed("answer", "z3:tactic simplify t8 t11")


def test_a_tactic_that_gains_models_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(z3.Goal, "get", lambda self, i: z3.BoolVal(True, self.ctx))
    assert "its goal is unsat" in noticed("answer", "z3:tactic split-clause t7 t10 t11")


def test_a_wrong_converted_model_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def convert(self: Any, model: Any) -> Any:
        wrong = z3.ModelRef(z3.z3core.Z3_mk_model(self.ctx.ref()), self.ctx)
        for name, value in (("p", True), ("q", False), ("a", 9)):
            constant = z3.Int(name, self.ctx) if name == "a" else z3.Bool(name, self.ctx)
            value = constant.sort().cast(value)
            z3.z3core.Z3_add_const_interp(self.ctx.ref(), wrong.model, constant.decl().ast, value.ast)
        return wrong

    monkeypatch.setattr(z3.Goal, "convert_model", convert)
    assert "converted" in noticed("model", "z3:tactic simplify t8 t11")


def test_cubes_that_leave_models_out_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def one_cube(self: Any, variables: Any = None) -> Any:
        self.cube_vs = None
        yield [z3.Bool("p", self.ctx), z3.Bool("q", self.ctx)]

    monkeypatch.setattr(z3.Solver, "cube", one_cube)
    assert "1 cubes leave a model out" in noticed("answer", "z3:cube t8 t11")


def test_wrong_consequences_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(z3.Solver, "consequences", lambda self, a, v: (z3.sat, [z3.Bool("q", self.ctx)]))
    assert "does not follow" in noticed("answer", "z3:consequences t8 t11 t1")


UNTRACKED = HEADER.replace("3 set-option produce-unsat-cores true\n", "")


@pytest.mark.parametrize(
    ("kind", "name", "end"),
    [
        ("simple", "q", "misbehaviour"),
        ("simple", "sk", "done"),
        ("simple", "div0", "done"),
        # What tactics chose need not follow.
        ("default", "q", "done"),
    ],
)
def test_units_that_do_not_follow_are_noticed(
    kind: str, name: str, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apifuzz.engines.z3.engine.KINDS", (kind,))
    monkeypatch.setattr(z3.Solver, "units", lambda self: [z3.Bool(name, self.ctx)])
    text = UNTRACKED + "60 assert t8\n61 check-sat\n62 z3:state\n"
    ending = replay(Z3Engine(), read_trace(text))
    assert ending.kind == end
    assert (ending.detail == "a unit gives what does not follow\nq") == (ending.kind == "misbehaviour")


def test_bits_of_characters_are_no_units_to_look_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apifuzz.engines.z3.engine.KINDS", ("simple",))
    text = """60 make-sort String
return s60
61 make-special-value s60 "\\u{2ffff}"
return t60
62 make-variable s60 x
return t61
63 make-term s1 str.< t60 t61
return t62
64 make-binder s1 exists (t61) t62
return t63
65 check-sat-assuming t63
66 check-sat
67 z3:state
"""
    ending = replay(Z3Engine(), read_trace(UNTRACKED + text))
    assert (ending.kind, ending.refused) == ("done", ()), ending.detail


def test_classes_of_equal_terms_are_looked_at_where_there_are_some(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(z3.z3core, "Z3_get_implied_equalities", always(z3.Z3_L_TRUE))
    assert "an implied equality gives" in noticed("answer", "z3:equalities t3 t5")
    monkeypatch.setattr(z3.z3core, "Z3_get_implied_equalities", always(z3.Z3_L_FALSE))
    assert "implied equalities ends in unsat" in noticed("answer", "z3:equalities t3 t5")
    contradiction = ("assert t7", "assert t10", "z3:equalities t3 t5")
    assert repeat(*contradiction).kind == "done"


def test_a_wrong_optimum_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(z3.OptimizeObjective, "value", lambda self: z3.IntVal(3, self._opt.ctx))
    assert "an optimum" in noticed("answer", "z3:optimise lex (t7 t8) () (t3)")


def test_a_wrong_fixed_point_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(z3.Fixedpoint, "query", always(z3.sat))
    assert "derivation says unsat" in noticed("answer", "z3:fixed-point")


def test_a_term_changed_by_translation_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = z3.AstRef.translate
    monkeypatch.setattr(z3.BoolRef, "translate", lambda self, c: right(z3.Not(self), c), raising=False)
    assert "comes back from another context" in noticed("term", "z3:translate t8")


def test_forgetful_containers_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(z3.AstVector, "push", always(None))
    monkeypatch.setattr(z3.AstVector, "__contains__", always(False))
    monkeypatch.setattr(z3.AstVector, "__getitem__", lambda self, i: z3.IntVal(17, self.ctx))
    monkeypatch.setattr(z3.AstVector, "__setitem__", always(None))
    assert "a vector does not hold" in noticed("term", "z3:containers t3 t5")


def test_another_answer_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Sure:
        r = z3.Z3_L_FALSE

    monkeypatch.setattr(z3.z3core, "Z3_eval_smtlib2_string", always("unsat"))
    assert "a script ends in unsat" in noticed("answer", "z3:script t8 t9")
    monkeypatch.setattr(z3.Optimize, "check", always(Sure()))
    assert "optimisation ends in unsat" in noticed("answer", "z3:optimise box (t8) (t11) ()")


def test_a_model_that_evaluates_wrongly_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(z3.ModelRef, "eval", lambda self, term, **keywords: z3.IntVal(77, self.ctx))
    assert "not what the model was given" in noticed("value", "z3:model t3")


# What they refuse


@pytest.mark.parametrize(
    "call",
    (
        "z3:tactic no-such t8",
        "z3:tactic (then simplify) t8",
        "z3:tactic (if size simplify skip) t8",
        "z3:tactic (with timeout 5 simplify) t8",
        "z3:tactic () t8",
        "z3:tactic simplify t3",
        "z3:tactic simplify",
        "z3:cube t3",
        "z3:fixed-point t1",
        "z3:optimise lex t8 () ()",
        "z3:optimise best (t8) () ()",
    ),
)
def test_arguments_that_are_none_are_errors_of_the_trace(call: str) -> None:
    with pytest.raises(TraceError):
        repeat(call)


def test_what_cannot_be_asked_is_refused() -> None:
    (refused,) = repeat("z3:optimise lex (t8) () (t1)").refused
    assert "no such objective" in refused[1]


def test_tactics_are_drawn_as_they_are_read() -> None:
    chance = Chance(7)
    count = size(30, 60)
    drawn = [draw_tactic(chance) for _ in range(count)]
    assert len(set(drawn)) > count // 2
    for text in drawn:
        assert repeat(f"z3:tactic {text} t8 t9").kind == "done", text


@pytest.mark.parametrize("name", ["z3:print", "z3:script"])
def test_recursive_functions_are_not_read_again(name: str) -> None:
    defined = "60 make-variable s2 x\nreturn t60\n61 define-function f (t60) s2 t60\nreturn t61\n"
    made = "62 make-term s2 apply t61 t3\nreturn t62\n63 make-term s1 < t62 t5\nreturn t63\n"
    for seed in range(8):
        # The definition is a recursive function or a lambda term.
        text = HEADER + defined.replace("61 define", f"{seed} define") + made
        ending = replay(Z3Engine(), read_trace(f"{text}{seed} {name} t63\n"))
        assert ending.kind == "done", ending.detail


def test_sorts_of_declared_constructors_are_not_read_again() -> None:
    declared = "60 declare-sort U 1\nreturn s60\n61 make-sort U s1\nreturn s61\n"
    constants = "62 make-constant s61 u\nreturn t62\n63 make-constant s61 v\nreturn t63\n"
    made = f"{constants}64 make-term s1 = t62 t63\nreturn t64\n"
    for seed in range(6):
        ending = replay(Z3Engine(), read_trace(f"{HEADER}{declared}{made}{seed} z3:print t64\n"))
        assert (ending.kind, len(ending.refused)) == ("done", 1), ending.detail


@pytest.mark.parametrize("name", ["z3:print", "z3:script"])
def test_printed_text_that_z3_does_not_take_is_no_wrong_call(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(z3.Solver, "to_smt2", lambda self: "(assert x y)")
    monkeypatch.setattr(z3.Solver, "sexpr", lambda self: "(assert x y)")
    for seed in range(4):
        ending = replay(Z3Engine(), read_trace(f"{HEADER}{seed} {name} t8\n"))
        assert (ending.kind, ending.error) == ("misbehaviour", "print")
        assert re.match(r"does not read back: (?!line|\(error)[^\n]+\n\(assert x y\)$", ending.detail)


def test_sorts_that_are_printed_without_arguments_are_not_read_back() -> None:
    declared = "60 declare-sort U 1\nreturn s60\n61 make-sort U s1\nreturn s61\n"
    bound = "62 make-variable s61 x\nreturn t62\n63 make-variable s61 y\nreturn t63\n"
    body = (
        "64 make-term s1 distinct t62 t63\nreturn t64\n65 make-binder s1 exists (t62 t63) t64\nreturn t65\n"
    )
    ending = replay(Z3Engine(), read_trace(f"{HEADER}{declared}{bound}{body}66 read-back t65\n"))
    assert (ending.kind, len(ending.refused)) == ("done", 1), ending.detail
    assert "without arguments" in ending.refused[0][1]


def test_no_model_after_sat_is_reported() -> None:
    # Two relations over reals.
    text = """exhume-trace 1 z3 1
    3406528918 new
    0 make-sort Bool
    return s1
    0 make-sort Real
    return s3
    0 make-constant s3 c4
    return t1
    0 make-term s1 (_ piecewise-linear-order 7) t1 t1
    return t2
    0 make-term s3 - t1
    return t3
    0 make-term s1 (_ piecewise-linear-order 5) t3 t1
    return t5
    0 check-sat-assuming t2 t5
    0 check-sat
    0 get-value t1
    """
    ending = replay(Z3Engine(), read_trace(text))
    assert (ending.kind, ending.error) == ("misbehaviour", "model")
    assert ending.detail.startswith("sat, but no model\nSort mismatch")


@pytest.mark.parametrize("name", ["z3:simplifiers", "z3:eliminate", "z3:tactic", "z3:optimise"])
@pytest.mark.few(2)
def test_no_model_after_sat_is_reported_by_actions(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(context: Any, solver: Any) -> None:
        raise z3.Z3Exception(b"Sort mismatch at argument #1")

    monkeypatch.setattr(z3.z3, "Z3_solver_get_model", refuse)
    monkeypatch.setattr(z3.z3, "Z3_optimize_get_model", refuse)
    assert noticed("model", f"{name} {CALLS[name]}").startswith("sat, but no model\nSort mismatch")


def test_projections_and_divisions_by_zero_do_not_meet() -> None:
    text = HEADER + "60 make-term s2 mod t3 t3\nreturn t60\n61 make-term s1 >= t3 t60\nreturn t61\n"
    refused = []
    for seed in range(8):
        ending = replay(Z3Engine(), read_trace(f"{text}{seed} z3:eliminate t61\n"))
        assert ending.kind == "done", ending.detail
        refused += ending.refused
    assert refused


def test_a_recursive_function_without_end_ends_a_call() -> None:
    # f(x) = f(x + 5) + 5
    defined = (
        "60 make-function f (s2) s2\nreturn t60\n61 make-variable s2 x\nreturn t61\n"
        "62 make-term s2 + t61 t5\nreturn t62\n63 make-term s2 apply t60 t62\nreturn t63\n"
        "64 make-term s2 + t63 t5\nreturn t64\n65 define-recursive t60 (t61) s2 t64\n"
        "66 make-term s2 apply t60 t5\nreturn t66\n"
    )
    ending = replay(
        Z3Engine(), read_trace(f"{HEADER}{defined}67 assert t8\n68 check-sat\n69 get-value t66\n")
    )
    assert ending.kind == "done", ending.detail
    assert [reason.partition(":")[0] for _, reason in ending.refused] == ["get-value"]


@pytest.mark.parametrize("name", ["push", "pop"])
def test_a_level_that_is_opened_or_closed_by_half_ends_the_run(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def give_up(*_: Any) -> None:
        raise z3.Z3Exception("max. steps exceeded")

    monkeypatch.setattr(z3.Solver, name, give_up)
    ending = repeat(f"{name} 1") if name == "push" else repeat("push 1", "pop 1")
    assert (ending.kind, len(ending.refused)) == ("done", 1)
    assert ending.detail == "the limit of rewriting steps ended a call: max. steps exceeded"


def test_an_error_with_a_long_formula_has_a_short_key(monkeypatch: pytest.MonkeyPatch) -> None:
    formula = "60 make-term s1 and t8 t9\nreturn t60\n"
    for ident in range(60, 90):
        formula += f"61 make-term s1 xor t{ident} t8\nreturn t{ident + 1}\n"
    monkeypatch.setattr(z3.ModelRef, "eval", lambda self, term, **keywords: z3.BoolVal(False, self.ctx))
    monkeypatch.setattr("apifuzz.engines.z3.actions.Z3Asking.answer", always(Answer.UNSAT))
    monkeypatch.setattr("apifuzz.engines.z3.actions.Z3Asking.must_agree", always(None))
    ending = replay(Z3Engine(), read_trace(f"{HEADER}{formula}62 z3:simplifiers t90\n"))
    shape = reported(ending.error, "z3:simplifiers", ending.detail).shape
    assert shape == "the model of a solver with simplifiers makes a formula false"


# Exceptions


def test_exceptions_of_z3_become_the_interfaces() -> None:
    translate = profile("z3").translate
    for text, changing, kind, shown in (
        (b"strange\n  things", False, Rejected, "strange things"),
        ("canceled", False, Unsupported, "resource limit"),
        (b"not implemented yet", False, LimitReached, "option"),
        ("canceled", True, LimitReached, "resource limit"),
    ):
        made = translate(message_of(z3.Z3Exception(text)), changing)
        assert type(made) is kind and shown in str(made)
    for message in ("canceled", "not implemented yet", "unreachable"):
        with pytest.raises(z3.Z3Exception, match=message):
            misread(z3.Z3Exception(message), "(assert p)")
    assert message_of(z3.Z3Exception(b"caf\xc3\xa9")) == "café"
    made = translate("unreachable")
    assert isinstance(made, Misbehaviour) and made.kind == "crash" and "unreachable" in str(made)


# Runs


@pytest.mark.parametrize("seed", range(20, 20 + size(6, 12)))
@pytest.mark.few(3)
def test_runs_end_well_and_are_the_same_each_time(seed: int) -> None:
    text, ending = run(seed)
    assert ending.kind == "done", ending.detail
    repeated = replay(Witness(Z3Engine()), read_trace(text))
    assert (repeated.kind, repeated.answers) == ("done", ending.answers)
    assert run(seed)[0] == text


def test_a_dozen_runs_reach_a_third_of_what_z3_offers() -> None:
    functions = api_functions("z3")
    assert len(functions) > 600
    with calls_counted("z3") as called:
        for seed in range(20, 32):
            run(seed)
        for name, arguments in CALLS.items():
            repeat(f"{name} {arguments}")
    assert called <= set(functions)
    assert len(called) >= 0.35 * len(functions), sorted(set(functions) - called)


def test_counting_leaves_no_trace() -> None:
    before = z3.z3core.Z3_mk_int_sort
    with calls_counted("z3") as called:
        z3.IntSort(z3.Context())
        assert z3.z3core.Z3_mk_int_sort is not before
    assert z3.z3core.Z3_mk_int_sort is before
    assert "Z3_mk_int_sort" in called


def test_special_relations_stay_with_one_sort() -> None:
    make = ("make-term s1 (_ linear-order 1) t3 t5", "make-term s1 (_ linear-order 2) t4 t6")
    text = HEADER + f"50 {make[0]}\nreturn t20\n51 {make[1]}\nreturn t21\n"
    ending = replay(Z3Engine(), read_trace(text))
    (refused,) = ending.refused
    assert "over two sorts" in refused[1]


def test_a_term_that_the_interface_does_not_print_is_no_wrong_call(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(term: Any) -> None:
        raise z3.Z3Exception("index out of bounds")

    monkeypatch.setattr(z3, "obj_to_string", fail)
    assert noticed("print", "inspect-term t8", 12) == "z3's own printer fails: index out of bounds"


def test_no_function_takes_a_rounding_mode_to_a_float() -> None:
    sorts = "60 make-sort RoundingMode\nreturn s60\n61 make-sort (_ FloatingPoint 5 11)\nreturn s61\n"
    for args, result, count in (("s1 s60", "s61", 1), ("s60", "s1", 0), ("s61", "s61", 0)):
        made = f"62 make-function f ({args}) {result}\nreturn t60\n"
        ending = replay(Z3Engine(), read_trace(HEADER + sorts + made))
        assert (ending.kind, len(ending.refused)) == ("done", count)


def test_a_wrong_run_is_shown_by_the_witness(monkeypatch: pytest.MonkeyPatch) -> None:
    text = HEADER + "50 assert t7\n51 check-sat\n52 get-value t3\n"
    engine = Z3Engine()
    monkeypatch.setattr(z3.ModelRef, "eval", lambda self, term, **keywords: z3.IntVal(99, self.ctx))
    ending = replay(Witness(engine), read_trace(text))
    assert (ending.kind, ending.error) == ("misbehaviour", "model")


def test_the_model_knows_every_action() -> None:
    model = default_model(Z3Engine())
    drawn = {t.action for s in model.states.values() for t in s.transitions if t.weight > 0}
    assert {a.name for a in ACTIONS} <= drawn
