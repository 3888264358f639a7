"""oxiz's engine: its rows, every way to make something, its solver, and its own actions."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("oxiz", reason="oxiz is an extra of exhume and not installed")

from apifuzz import calls
from apifuzz.driving import replay
from apifuzz.engine import Engine
from apifuzz.engines.around import Witness
from apifuzz.engines.crosscheck import CrossCheck
from apifuzz.engines.oxiz import actions, engine, session
from apifuzz.engines.oxiz.engine import OxizEngine
from apifuzz.engines.oxiz.session import OPERATORS
from apifuzz.engines.text import TextEngine
from apifuzz.interface import (
    Answer,
    ApiTerm,
    Misbehaviour,
    Rejected,
    Unsupported,
)
from apifuzz.run import Ending, Settings
from apifuzz.trace import read_trace
from smtlib import BOOL, INT, REAL, Signature, Sort, default_theories, make_sort
from smtlib.sorts import ROUNDING_MODE, STRING, array, bit_vector, floating_point
from solvers.oxiz import driver
from solvers.running.crash_places import crash_place
from tests.apifuzz.counting import api_functions, calls_counted
from tests.apifuzz.kits import EngineKit, drawn

B4, B8, HALF = bit_vector(4), bit_vector(8), floating_point(5, 11)
SAMPLES = (BOOL, INT, REAL, B4, B8, STRING, ROUNDING_MODE, HALF, array(INT, B4))


class Kit(EngineKit):
    """Of seed 1 it has a context, of seed 2 none."""

    makes = OxizEngine

    def sample(self, sort: Sort, name: str) -> ApiTerm:
        return self.value(sort, "RTZ") if sort is ROUNDING_MODE else self.constant(sort, name)


def signatures() -> list[Signature]:
    known = OxizEngine().capabilities()
    return [
        s
        for s in default_theories().signatures()
        if s.theory in known.theories and not s.only and not s.is_synonym and s.name not in known.without
    ]


def applications(signature: Signature) -> Iterator[tuple[tuple[int, ...], tuple[Sort, ...], Sort]]:
    """Ways to apply an operator to the samples: indices, argument sorts, result sort."""
    made, indices = OxizEngine(), {0: [()], 1: [(3,)], 2: [(3, 1), (5, 11)]}[len(signature.indices)]
    for count in (len(signature.params), 3) if signature.associativity else (len(signature.params),):
        for sorts in itertools.product(SAMPLES, repeat=count):
            if not made.takes(signature, sorts, BOOL):
                continue
            for chosen in indices:
                found = signature.apply(chosen, sorts, None)
                if found is not None:
                    yield chosen, sorts, found


def test_every_row_makes_its_operator_and_all_its_ways_make_one_term() -> None:
    kits = [Kit(seed=seed) for seed in (1, 2)]
    assert [kit.engine.session.ctx is None for kit in kits] == [False, True]
    made = set()
    for signature in signatures():
        for indices, sorts, result in itertools.islice(applications(signature), 3):
            for kit in kits:
                found = {}
                for seed in range(6):
                    kit.engine.random.seed(seed)
                    args = [kit.sample(sort, f"{n} {sort}") for n, sort in enumerate(sorts)]
                    term = kit.term(signature.name, result, *args, indices=indices)
                    kit.perform(calls.InspectTerm(term))
                    kit.perform(calls.ReadBack(term))
                    found[term.handle if isinstance(term.handle, str) else term.handle.id] = term
                assert len(found) == 1, f"{signature} {indices} {sorts}"
            made.add(signature.name)
    rows = {name.partition(" ")[0] for name, _ in OPERATORS}
    assert made == rows == {s.name for s in signatures()}


def test_a_minus_of_one_argument_negates_in_all_its_ways() -> None:
    for seed, sort in itertools.product(range(8), (INT, REAL)):
        kit = Kit(seed=seed)
        x = kit.constant(sort, "x")
        less = kit.term("<", BOOL, kit.value(sort, "0"), x)
        assert (
            kit.check(less, kit.term("<", BOOL, kit.value(sort, "0"), kit.term("-", sort, x))) is Answer.UNSAT
        )


NOT_CALLED = {"FPRoundingMode", "OptimizationResult"}
"""Classes that the engine has no use for: no call takes the first, and a call gives the second."""


def test_which_names_of_the_library_nothing_calls() -> None:
    tables = (*session._ROWS.values(),)
    named = {word for table in tables for word in table.words}
    files = [Path(module.__file__ or "").read_text("utf-8") for module in (actions, engine, session)]
    files += [
        Path(session.__file__).with_name(name).read_text("utf-8")
        for name in ("actions.toml", "calls.toml", "questions.toml")
    ]
    named |= set(re.findall(r"\w+", " ".join(files)))
    offered = {name for name in vars(session.oxiz) if name[0] != "_" and name != "oxiz"}
    methods = {name.rpartition(".")[2] for name in api_functions("oxiz")}
    assert (offered | methods) - named == NOT_CALLED


LACKING = """
    abs ^ bvashr bvcomp bvlshr bvnand bvnego bvnor bvredand bvredor bvsaddo bvsdivo bvshl bvsmod bvsmulo
    bvssubo bvuaddo bvumulo bvusubo bvxnor bvxor char const fp int_to_bv repeat rotate_left rotate_right
    sbv_to_int sign_extend str.< str.<= str.from_code str.in_re str.is_digit str.replace_re
    str.replace_re_all str.to_code str.to_re to_fp_unsigned ubv_to_int zero_extend
"""
"""Operators of its theories that no call of oxiz makes, apart from regular expressions."""


def test_which_operators_oxiz_lacks() -> None:
    theories = OxizEngine().capabilities().theories
    standard = {s.name for s in default_theories().signatures() if not s.only and s.theory in theories}
    lacking = {name for name in engine.lacking() & standard if not name.startswith("re.")}
    assert lacking == set(LACKING.split())


@pytest.mark.parametrize(
    ("sort", "text"),
    [
        (BOOL, "true"),
        (INT, "(- 3)"),
        (INT, "18446744073709551616"),
        (REAL, "(/ 1 3)"),
        (REAL, "(- 2.5)"),
        (B4, "#b1000"),
        (bit_vector(70), f"#b1{'0' * 69}"),
        (STRING, '"a\\u{3b1}""c"'),
        (HALF, "(fp #b1 #b00000 #b0000000001)"),
        (HALF, "(_ NaN 5 11)"),
        (ROUNDING_MODE, "RTZ"),
    ],
)
def test_a_value_is_the_same_in_every_way_to_write_it(sort: Sort, text: str) -> None:
    for kit in (Kit(seed=1), Kit(seed=2)):
        first = kit.value(sort, text)
        for seed in range(8):
            kit.engine.random.seed(seed)
            assert kit.value(sort, text).handle == first.handle


def test_what_oxiz_lacks_is_unsupported_and_what_is_no_value_is_rejected() -> None:
    kit = Kit()
    with pytest.raises(Rejected):
        kit.value(B4, "#b111")
    for sort, text in ((REAL, "36893488147419103232.5"), (STRING, '"\\u{d800}"')):
        with pytest.raises(Unsupported):
            kit.value(sort, text)
    for refused in (make_sort("RegLan"), make_sort("Seq", (), (BOOL,))):
        with pytest.raises(Unsupported):
            kit.sort(refused)
    with pytest.raises(Unsupported):
        kit.constant(ROUNDING_MODE, "rounding")
    with pytest.raises(Unsupported):
        kit.perform(calls.InspectSort(kit.sort(REAL)))
    equality = next(s for s in signatures() if s.name == "=")
    assert not kit.engine.takes(equality, (ROUNDING_MODE,) * 2, BOOL)


def test_sorts_say_what_they_were_made_of() -> None:
    for seed in range(4):
        kit = Kit(seed=seed)
        for sort in (BOOL, INT, STRING, HALF, array(INT, array(BOOL, HALF))):
            kit.perform(calls.InspectSort(kit.sort(sort)))
    with pytest.raises(Misbehaviour, match=r"sort\.eb"):
        kit.engine.session.object_of = lambda sort, chance: session.oxiz.FPSort(  # type: ignore[method-assign]
            kit.engine.session.manager, 8, 24
        )
        kit.perform(calls.InspectSort(kit.sort(HALF)))


def test_levels_resets_and_labels() -> None:
    for seed in range(6):
        kit = Kit("produce-unsat-cores", seed=seed)
        kit.perform(calls.SetLogic("QF_LIA"))
        x, zero = kit.constant(INT, "x"), kit.value(INT, "0")
        positive, negative = kit.term(">", BOOL, x, zero), kit.term("<", BOOL, x, zero)
        assert kit.check(positive) is Answer.SAT
        assert kit.perform(calls.GetValue((x,)))[0] is not None
        assert "x" in kit.perform(calls.PrintModel())
        kit.perform(calls.Push(2))
        assert kit.check(negative) is Answer.UNSAT
        assert {t.handle for t in kit.perform(calls.UnsatCore())} == {positive.handle, negative.handle}
        kit.perform(calls.Pop(2))
        assert kit.check() is Answer.SAT
        kit.perform(calls.ResetAssertions())
        assert kit.check(negative) is Answer.SAT
        kit.perform(calls.Reset())
        assert kit.check(positive, negative) is Answer.UNSAT
        assert len(kit.perform(calls.UnsatCore())) == 2
        with pytest.raises(Unsupported):
            kit.perform(calls.SetOption("timeout", "1"))
        kit.perform(calls.Delete())


def test_quantifiers_bind_by_name() -> None:
    for seed in range(4):
        kit = Kit(seed=seed)
        x, y = kit.variable(BOOL, "x"), kit.variable(BOOL, "y")
        every = kit.binder("forall", BOOL, (x, y), kit.term("and", BOOL, x, y))
        assert kit.check(every) is Answer.UNSAT


def test_boolean_assertions_are_given_as_text_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    given = set()
    tell = OxizEngine.say

    def noting(self: OxizEngine, row: str, *args: Any, **words: str) -> Any:
        given.add(row)
        return tell(self, row, *args, **words)

    monkeypatch.setattr(OxizEngine, "say", noting)
    for seed in range(30):
        kit = Kit(seed=seed)
        p = kit.constant(BOOL, "a b")
        less = kit.term("bvult", BOOL, kit.value(B4, "#b0001"), kit.value(B4, "#b0010"))
        formula = kit.term("and", BOOL, p, less)
        assert kit.check(formula, kit.no(p)) is Answer.UNSAT
    assert given >= {"assert", "read", "check"}
    assert kit.engine.session.text(less.handle) == "(bvult #b0001 #b0010)"
    # Of other constants oxiz would take the names for Boolean ones.
    assert not kit.engine.session.text(kit.term("<", BOOL, *(kit.constant(INT, n) for n in "ij")).handle)


@pytest.mark.parametrize(
    ("sort", "value", "text"),
    [
        (BOOL, True, "true"),
        (INT, -7, "(- 7)"),
        (INT, "18446744073709551616", "18446744073709551616"),
        (REAL, "-1/3", "(- (/ 1 3))"),
        (REAL, 4, "(/ 4 1)"),
        (B4, 8, "#b1000"),
        (B4, "#x8", "#b1000"),
        (STRING, 'a"α', '"a""\\u{3b1}"'),
        (HALF, "anything", None),
    ],
)
def test_values_of_models_in_smtlib(sort: Sort, value: Any, text: str | None) -> None:
    assert engine.in_smtlib(sort, value) == text


@pytest.mark.parametrize(
    ("sort", "value"), [(BOOL, 1), (INT, "1/2"), (INT, "x"), (REAL, "1/0"), (B4, 16), (STRING, 3)]
)
def test_what_is_no_value_of_its_sort_is_noticed(sort: Sort, value: Any) -> None:
    with pytest.raises(Misbehaviour, match="no value of sort"):
        engine.in_smtlib(sort, value)


HEADER = """exhume-trace 1 oxiz 1
1 new
2 make-sort Bool
return s1
3 make-sort Int
return s2
4 make-constant s2 x
return t1
5 make-value s2 3
return t2
6 make-term s1 >= t1 t2
return t3
7 assert t3
8 check-sat
"""


def repeat(solver: Engine, *lines: str) -> Ending:
    return replay(solver, read_trace(HEADER + "\n".join(lines) + "\n"))


@pytest.mark.parametrize("other", [None, TextEngine])
def test_oxiz_s_own_actions_alone_and_in_lockstep(other: type[Engine] | None) -> None:
    made = OxizEngine()
    ending = repeat(
        Witness(CrossCheck(made, other()) if other else made),
        "1 oxiz:model",
        "2 oxiz:counts",
        "3 oxiz:optimise minimize t1",
        "4 oxiz:optimise maximize t1",
    )
    assert (ending.kind, ending.detail, ending.refused) == ("done", "", ())
    assert ending.answers == ("sat",)


class _Wrong(OxizEngine):
    """It answers unsat to everything."""

    def perform(self, call: calls.Call[Any]) -> Any:
        found = super().perform(call)
        return Answer.UNSAT if call.method == "check_sat" else found

    def sibling(self) -> Engine:
        other = _Wrong(self.session)
        other.new()
        return other


def test_a_model_or_optimum_that_another_solver_refutes_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    made = OxizEngine()
    made.sibling = lambda: _Wrong(made.session).sibling()  # type: ignore[method-assign]
    for line, kind, said in (
        ("1 oxiz:model", "model", "oxiz answers unsat to the model of oxiz"),
        ("1 oxiz:optimise minimize t1", "optimum", "oxiz answers unsat to the optimum 3"),
        ("1 oxiz:optimise maximize t1", "optimum", "oxiz answers unsat to a far value"),
    ):
        ending = repeat(made, line)
        assert (ending.kind, ending.error) == ("misbehaviour", kind)
        assert ending.detail.startswith(said)


def test_a_closed_level_of_an_optimizer_leaves_its_assertions() -> None:
    ending = repeat(OxizEngine(), "1 oxiz:optimiser-levels")
    assert (ending.kind, ending.error) == ("misbehaviour", "optimum")
    assert ending.detail == "oxiz answers sat to what is unsat after a level was closed"


def test_runs_reach_most_of_the_interface_and_replay_to_the_same() -> None:
    with calls_counted("oxiz") as called:
        runs = [drawn(Witness(OxizEngine()), seed, Settings(calls=100)) for seed in range(12)]
    assert len(called) >= 100
    for text, ending in runs[:3]:
        again = replay(Witness(OxizEngine()), read_trace(text))
        assert (again.kind, again.detail, again.answers) == (ending.kind, ending.detail, ending.answers)


def test_a_panic_is_a_crash_at_its_place_unless_that_is_a_crate_of_another_project() -> None:
    panic = "thread '<unnamed>' (7) panicked at {}:12:5:\nattempt to divide with overflow\n"
    assert crash_place(panic.format("oxiz-theories/src/string/solver.rs")) == "solver.rs:12"
    assert (
        crash_place(panic.format("/build/.cargo/registry/src/index-1/num-integer-0.1.47/src/lib.rs")) is None
    )


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--version"], 0, "oxiz 0."),
        (["--options"], 0, "[]"),
        (["a.smt2"], 1, '(error "oxiz reads no SMT-LIB'),
    ],
)
def test_the_driver_prints_its_release_and_reads_nothing(
    arguments: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert driver.main(arguments) == code
    assert capsys.readouterr().out.startswith(said)
