"""The actions that only cvc5 has: each is made from a trace, and what is wrong about an answer is found."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from apifuzz import calls
from apifuzz.driving import new_run, replay
from apifuzz.engines.cvc5.actions import ACTIONS, Cvc5Asking
from apifuzz.engines.cvc5.engine import Cvc5Engine
from apifuzz.interface import Answer, Misbehaviour
from apifuzz.run import Ending, Settings
from apifuzz.trace import read_trace

# Two integers, x > 0 (t5), y < x (t6), x < 0 (t7), p (t8).
PREFIX = """
make-sort Bool
return s1
make-sort Int
return s2
make-constant s2 x
return t1
make-constant s2 y
return t2
make-value s2 0
return t3
make-term s1 > t1 t3
return t5
make-term s1 < t2 t1
return t6
make-term s1 < t1 t3
return t7
make-constant s1 p
return t8
"""


def trace(options: str, body: str, prefix: str = PREFIX, logic: str = "", seed: int = 7) -> str:
    """A trace; each option is NAME=VALUE, and lines have no seeds yet."""
    lines = ["new"]
    lines += [f"set-option {o.replace('=', ' ')}" for o in options.split()]
    lines += [f"set-logic {logic}"] if logic else []
    lines += [*prefix.strip().splitlines(), *body.strip().splitlines(), "delete"]
    numbered = [line if line.startswith("return") else f"{seed} {line}" for line in lines]
    return "\n".join(["exhume-trace 1 cvc5 1", *numbered]) + "\n"


def run(text: str) -> Ending:
    ending = replay(Cvc5Engine(), read_trace(text))
    assert (ending.kind, ending.detail, ending.refused) == ("done", "", ())
    return ending


UNSAT = "assert t5\nassert t7\ncheck-sat\n"
SAT = "assert t5\nassert t6\ncheck-sat\n"
MODELS = "produce-models=true"
CORES = "produce-unsat-cores=true"

CASES = {
    "get-assertions": ("", SAT + "cvc5:get-assertions"),
    "get-options": (f"{MODELS} sat-random-seed=3", "cvc5:get-options"),
    "get-statistics": ("", SAT + "cvc5:get-statistics"),
    "get-info": ("", "push 2\n" + SAT + "cvc5:get-info"),
    "get-learned-literals": (
        "produce-learned-literals=true",
        SAT + "cvc5:get-learned-literals input\ncvc5:get-learned-literals preprocess",
    ),
    "get-proof": (
        "produce-proofs=true",
        UNSAT + "cvc5:get-proof full cpc\ncvc5:get-proof full dot\ncvc5:get-proof sat none",
    ),
    "timeout-core": (CORES, "assert t5\nassert t7\ncvc5:timeout-core\ncvc5:timeout-core t8"),
    "inspect-model": (MODELS, SAT + "cvc5:inspect-model t1 t2"),
    "block-model": (
        MODELS,
        SAT + "cvc5:block-model terms t1 t2\ncheck-sat\ncvc5:block-model literals\n"
        "check-sat\ncvc5:block-model values",
    ),
    "get-interpolant": ("produce-interpolants=true", "assert t5\ncvc5:get-interpolant t5\nreturn t20"),
    "get-abduct": ("produce-abducts=true", "assert t6\ncvc5:get-abduct t5\nreturn t20"),
    "simplify": ("", "assert t6\ncvc5:simplify t1\ncvc5:simplify t5"),
    "synthesize": ("", "make-term s1 >= t1 t2\nreturn t20\ncvc5:synthesize t20 t1 t2"),
    "find-terms": ("", "cvc5:find-terms s2"),
    "add-plugin": ("", UNSAT),
    "inspect-sorts": ("", "cvc5:inspect-sorts"),
    "inspect-skolem": ("", "cvc5:inspect-skolem div-by-zero"),
    "make-record": ("", "cvc5:make-record 2 t1 t8 t2\nreturn t20\nassert t20\ncheck-sat"),
    "make-cardinality": (
        "finite-model-find=true",
        "declare-sort U 0\nreturn s5\ncvc5:make-cardinality s5 2\nreturn t20\nassert t20\ncheck-sat",
    ),
    "make-match": (
        "",
        "declare-datatypes (D () (a) (b (f s2) (g D)))\nreturn s5\nmake-constant s5 d\nreturn t20\n"
        "cvc5:make-match t20 t1\nreturn t21\nmake-term s1 > t21 t3\nreturn t22\nassert t22\ncheck-sat",
    ),
    "declare-pool": ("", "cvc5:declare-pool pool s2 t1 t3"),
}


@pytest.mark.parametrize("name", CASES)
def test_an_action_is_made(name: str) -> None:
    options, body = CASES[name]
    text = trace(options, body)
    if name == "add-plugin":
        text = text.replace("7 new\n", "7 new\n7 cvc5:add-plugin\n")
    assert f"cvc5:{name}" in text
    for seed in range(3):
        run(text.replace("\n7 ", f"\n{seed} "))


def test_quantifiers_are_eliminated() -> None:
    body = (
        "make-variable s2 v\nreturn t20\nmake-term s1 > t20 t1\nreturn t21\nmake-binder s1 exists (t20) t21\n"
        "return t22\ncvc5:eliminate-quantifiers t22"
    )
    for seed in range(4):
        run(trace("", body, logic="LIA", seed=seed))


def test_quantifiers_over_other_sorts_are_not_eliminated() -> None:
    body = (
        "declare-sort U 0\nreturn s5\nmake-function g (s5) s1\nreturn t20\nmake-variable s5 u\nreturn t21\n"
        "make-term s1 apply t20 t21\nreturn t22\nmake-binder s1 forall (t21) t22\nreturn t23\n"
        "cvc5:eliminate-quantifiers t23"
    )
    ending = replay(Cvc5Engine(), read_trace(trace("", body)))
    assert ending.kind == "done"
    assert [reason for _, reason in ending.refused] == [
        "cvc5:eliminate-quantifiers: variables of other sorts than numbers and Bool"
    ]


def test_what_a_selector_leaves_open_is_not_synthesized() -> None:
    body = (
        "declare-datatypes (D () (a (f s1)) (b (g s1)))\nreturn s5\n"
        "make-term s5 (constructor a) t8\nreturn t21\nmake-term s1 (selector g) t21\nreturn t22\n"
        "cvc5:synthesize t22 t8"
    )
    ending = replay(Cvc5Engine(), read_trace(trace("", body)))
    assert (ending.kind, [reason for _, reason in ending.refused]) == (
        "done",
        ["cvc5:synthesize: a synthesis with selectors"],
    )


def test_nullable_terms_are_lifted_and_tuples_projected() -> None:
    body = (
        "make-sort Nullable s2\nreturn s5\nmake-constant s5 n\nreturn t20\n"
        "cvc5:make-lifted t20 t20\nreturn t21\n"
        "make-sort Tuple s2 s1\nreturn s6\nmake-sort Set s6\nreturn s7\n"
        "make-constant s7 r\nreturn t22\nmake-constant s6 u\nreturn t23\n"
        "cvc5:make-projection t22 t22\nreturn t24\ncvc5:make-projection t23 t23\nreturn t25\n"
        "assert t24\nassert t25\ncheck-sat"
    )
    for seed in range(4):
        assert run(trace("", body, logic="HO_ALL", seed=seed)).answers[0] != "unsat"


def test_the_heap_is_declared_once_and_has_values() -> None:
    body = "cvc5:declare-heap s2 s2\nmake-term s1 pto t1 t2\nreturn t20\nassert t20\ncheck-sat\ncvc5:get-heap"
    text = trace(f"incremental=false {MODELS}", body, logic="ALL")
    assert run(text).answers == ("sat",)
    twice = text.replace("cvc5:declare-heap s2 s2\n", "cvc5:declare-heap s2 s2\n7 cvc5:declare-heap s2 s2\n")
    assert "declared already" in replay(Cvc5Engine(), read_trace(twice)).refused[0][1]


def test_what_an_action_needs_is_requested() -> None:
    text = trace("", UNSAT + "cvc5:get-proof full none")
    ((_, reason),) = replay(Cvc5Engine(), read_trace(text)).refused
    assert "without produce-proofs=true" in reason
    text = trace("produce-proofs=true", SAT + "cvc5:get-proof full none")
    ((_, reason),) = replay(Cvc5Engine(), read_trace(text)).refused
    assert "unsat" in reason


def test_definitions_are_not_made_twice_in_the_second_solver() -> None:
    defined = """
make-function f (s2) s2
return t9
make-variable s2 v
return t10
define-recursive t9 (t10) s2 t3
make-term s2 apply t9 t1
return t11
make-term s1 = t11 t1
return t12
assert t12
"""
    options = f"{CORES} produce-learned-literals=true arith-rewrite-equalities=true"
    ask = "assert t5\ncheck-sat\ncvc5:get-learned-literals preprocess\ncvc5:timeout-core"
    run(trace(options, defined + ask))
    run(trace(options, defined + "check-sat\ncvc5:get-learned-literals preprocess"))


def test_a_timeout_core_counts_as_a_check() -> None:
    once = f"{CORES} incremental=false"
    for second in ("check-sat", "cvc5:timeout-core"):
        ending = replay(Cvc5Engine(), read_trace(trace(once, f"assert t5\ncvc5:timeout-core\n{second}")))
        assert (ending.kind, len(ending.refused)) == ("done", 1)
        assert ending.refused[0][1].endswith("a second check, without incremental solving")
    # cvc5 has no cores of what it synthesises.
    ending = replay(Cvc5Engine(), read_trace(trace(f"{CORES} produce-abducts=true", "cvc5:timeout-core")))
    assert [reason for _, reason in ending.refused] == ["cvc5:timeout-core: cores are not with synthesis"]


def test_a_limit_inside_the_solver_ends_the_run() -> None:
    # Too large a power is seen when it comes to solving.
    power = """
make-value s2 9223372036854775808
return t9
make-term s2 int.pow2 t9
return t10
make-term s1 > t10 t1
return t11
assert t11
"""
    ending = replay(Cvc5Engine(), read_trace(trace("", power + "check-sat\ncheck-sat\npush 1")))
    assert ending.kind == "done"
    assert "exponent" in ending.detail
    assert [reason.split(":")[0] for _, reason in ending.refused] == ["check-sat"]
    assert ending.statistics.tried["check-sat"] == 1
    assert ending.statistics.tried["push"] == 0


def test_a_wrong_answer_is_found() -> None:
    engine = Cvc5Engine()
    engine.perform(calls.New())
    truth = engine.session.manager.mkTrue()
    second = Cvc5Asking(new_run(engine, Settings(), 1), engine)
    second.must_not_be(Answer.UNSAT, "answer", [truth], "true")
    second.must_agree(Answer.SAT, [truth], "a check")
    second.must_follow([], truth, "a check")
    with pytest.raises(Misbehaviour, match="answers sat to true") as caught:
        second.must_not_be(Answer.SAT, "answer", [truth], "true")
    assert caught.value.kind == "answer"
    with pytest.raises(Misbehaviour, match="a check ends in unsat, a plain solver in sat"):
        second.must_agree(Answer.UNSAT, [truth], "a check")
    with pytest.raises(Misbehaviour, match="a check gives what does not follow"):
        second.must_follow([truth], truth.notTerm(), "a check")


def test_an_abduct_of_contradictory_assertions_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Cvc5Engine()
    state = new_run(engine, Settings(), 1)
    for line in read_trace(trace("", "assert t5\nassert t7")).lines[:-1]:
        state.repeat(line)
    assert Cvc5Asking(state, engine).answer([t.handle for t in state.stack.terms]) is Answer.UNSAT
    abduct = next(action for action in ACTIONS if action.name == "cvc5:get-abduct")(state.store.term("t6"))
    true, false = engine.session.manager.mkTrue(), engine.session.manager.mkFalse()
    monkeypatch.setattr(Cvc5Asking, "enumerated", lambda self, call, asked, check: check(true))
    abduct.act(state, engine)
    state.stack.levels[0].pop()
    monkeypatch.setattr(Cvc5Asking, "enumerated", lambda self, call, asked, check: check(false))
    with pytest.raises(Misbehaviour, match="answers unsat to the assertions and the abduct"):
        abduct.act(state, engine)


def test_the_package_does_not_hide_the_module_of_its_name() -> None:
    import cvc5

    from apifuzz.engines.cvc5 import session

    assert session.cvc5 is cvc5 and hasattr(cvc5, "TermManager")


_RUNS = """
import sys
from apifuzz.driving import generate, replay
from apifuzz.run import Settings
from apifuzz.trace import read_trace
from apifuzz.engines.cvc5.engine import Cvc5Engine
for seed in range(30, 36):
    traces = []
    for _ in range(2):
        text = []
        ending = generate(Cvc5Engine(), Settings(calls=80), seed, text.append)
        traces.append("".join(text))
    assert traces[0] == traces[1], seed
    again = []
    first = read_trace(traces[0])
    replay(Cvc5Engine(), first, again.append)
    print(seed, ending.kind, read_trace("".join(again)) == first, flush=True)
"""


def test_runs_repeat_themselves() -> None:
    """In a process of its own: a crash of the solver is no failure of this test."""
    done = subprocess.run(
        [sys.executable, "-c", _RUNS],
        cwd=Path(__file__).resolve().parents[2],
        capture_output=True,
        text=True,
        timeout=300,
    )
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines, done.stderr[-2000:]
    assert all(line[2] == "True" for line in lines), lines
    assert "AssertionError" not in done.stderr and "Error:" not in done.stderr, done.stderr[-2000:]
