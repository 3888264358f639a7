"""z3's engine: sorts, terms, solving, options, and what keeps runs apart."""

from __future__ import annotations

import gc
import os

import pytest
import z3

from apifuzz import calls
from apifuzz.engines import EngineMissing, make_engine
from apifuzz.engines.z3.engine import Z3Engine
from apifuzz.engines.z3.session import HeldTerm, Session, _spares, keep_spare
from apifuzz.engines.z3.solving import KINDS
from apifuzz.interface import (
    Answer,
    ApiSort,
    ApiTerm,
    DatatypeSpec,
    Field,
    Head,
    HeadKind,
    Misbehaviour,
    OptionKind,
    Rejected,
    TermKind,
    Unsupported,
)
from smtlib import BOOL, INT, REAL, default_theories, make_sort
from smtlib.sorts import array, bit_vector, floating_point
from tests.apifuzz.kits import EngineKit

pytestmark = pytest.mark.usefixtures("own_context_only")

SEEDS = range(12)


class Kit(EngineKit):
    makes = Z3Engine

    def answer(self, *formulas: ApiTerm) -> Answer:
        """The answer to these formulas as assumptions of a second instance."""
        return self.engine.sibling().perform(calls.CheckSatAssuming(formulas))

    def is_valid(self, formula: ApiTerm) -> bool:
        return self.answer(self.no(formula)) is Answer.UNSAT


# The registry


def test_engines_are_made_by_spec() -> None:
    assert make_engine("z3").name == "z3"
    assert make_engine("smtlib").answers is False
    for spec in ("yices", "=x", "x=", ""):
        with pytest.raises(EngineMissing, match=r"there are z3, cvc5|name=command"):
            make_engine(spec)


def test_a_missing_wheel_is_reported_with_its_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    def without(name: str) -> None:
        raise ModuleNotFoundError("No module named 'bitwuzla'", name="bitwuzla")

    monkeypatch.setattr("apifuzz.engines.importlib.import_module", without)
    with pytest.raises(EngineMissing, match=r"pip install 'exhume\[bitwuzla\]'"):
        make_engine("bitwuzla")


def test_our_own_fault_is_not_taken_for_a_missing_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> None:
        raise ImportError("cannot import name", name="apifuzz.trace")

    monkeypatch.setattr("apifuzz.engines.importlib.import_module", broken)
    with pytest.raises(ImportError):
        make_engine("bitwuzla")


# Sorts


@pytest.mark.parametrize("seed", SEEDS)
def test_sorts_are_what_they_were_made_of(seed: int) -> None:
    kit = Kit(seed=seed)
    names = ("Bool", "Int", "Real", "String", "RegLan", "Unicode", "RoundingMode")
    plain = [make_sort(name) for name in names]
    more = [bit_vector(8), floating_point(5, 11), floating_point(3, 5), make_sort("FiniteField", (7,))]
    nested = [make_sort(n, (), (INT,)) for n in ("Seq", "Set", "List", "FiniteSet")]
    functions = [array(INT, REAL), make_sort("->", (), (INT, REAL, BOOL))]
    for sort in (*plain, *more, *nested, *functions):
        kit.perform(calls.InspectSort(kit.sort(sort)))


def test_a_sort_that_is_another_is_noticed() -> None:
    kit = Kit()
    with pytest.raises(Misbehaviour, match="size"):
        kit.perform(calls.InspectSort(ApiSort(0, bit_vector(9), kit.sort(bit_vector(8)).handle)))
    with pytest.raises(Misbehaviour, match="range"):
        kit.perform(calls.InspectSort(ApiSort(0, array(INT, BOOL), kit.sort(array(INT, REAL)).handle)))


def test_z3_takes_no_significand_of_two_bits() -> None:
    kit = Kit()
    with pytest.raises(Unsupported, match="significands"):
        kit.sort(floating_point(3, 2))
    negate = default_theories().functions["fp.neg"][0]
    assert kit.engine.takes(negate, (floating_point(3, 5),), floating_point(3, 5))
    assert not kit.engine.takes(negate, (floating_point(3, 2),), floating_point(3, 2))


@pytest.mark.parametrize("seed", SEEDS)
def test_declared_sorts_and_constructors(seed: int) -> None:
    kit = Kit(seed=seed)
    plain = make_sort("U 1")
    own = ApiSort(1, plain, kit.perform(calls.DeclareSort("U 1", 0)))
    kit.perform(calls.InspectSort(own))
    kit.perform(calls.DeclareSort("P", 2))
    applied = [
        kit.perform(calls.MakeSort(make_sort("P", (), (plain, INT)), [own, kit.sort(INT)])) for _ in range(2)
    ]
    assert applied[0].eq(applied[1])
    other = kit.perform(calls.MakeSort(make_sort("P", (), (INT, INT)), [kit.sort(INT)] * 2))
    assert not applied[0].eq(other)


LIST = DatatypeSpec("L", (("nil1", ()), ("cons1", (Field("hd", "A"), Field("tl", "L")))), ("A",))


@pytest.mark.parametrize("seed", SEEDS)
def test_datatypes_and_their_members(seed: int) -> None:
    kit = Kit(seed=seed)
    tree = DatatypeSpec("Tree", (("leaf", ()), ("node", (Field("left", "Tree"), Field("kids", "Kids")))))
    kids = DatatypeSpec("Kids", (("none", ()), ("some", (Field("first", "Tree"), Field("n", kit.sort(INT))))))
    sorts = [make_sort("Tree"), make_sort("Kids")]
    for sort, handle in zip(sorts, kit.perform(calls.DeclareDatatypes([tree, kids])), strict=True):
        kit.perform(calls.InspectSort(ApiSort(1, sort, handle)))
    leaf = kit.make(Head(HeadKind.CONSTRUCTOR, "leaf", (), sorts[0]), sorts[0])
    some = kit.constant(sorts[1], "k")
    node = kit.make(Head(HeadKind.CONSTRUCTOR, "node", (), sorts[0]), sorts[0], leaf, some)
    left = kit.make(Head(HeadKind.SELECTOR, "left", (), sorts[0]), sorts[0], node)
    updated = kit.make(Head(HeadKind.UPDATER, "left", (), sorts[0]), sorts[0], node, node)
    assert kit.is_valid(kit.make(Head(HeadKind.TESTER, "node", (), sorts[0]), BOOL, node))
    assert kit.is_valid(kit.equal(left, leaf))
    assert kit.is_valid(kit.no(kit.equal(updated, node)))


@pytest.mark.parametrize("seed", SEEDS)
def test_parametric_datatypes_are_instantiated(seed: int) -> None:
    kit = Kit(seed=seed)
    (handle,) = kit.perform(calls.DeclareDatatypes([LIST]))
    over = make_sort("L", (), (INT,))
    own = ApiSort(1, over, kit.perform(calls.MakeSort(over, [kit.sort(INT)])))
    kit.perform(calls.InspectSort(own))
    assert not own.handle.eq(handle)
    three, rest = kit.value(INT, "3"), kit.constant(over, "l")
    made = kit.make(Head(HeadKind.CONSTRUCTOR, "cons1", (), over), over, three, rest)
    first = kit.make(Head(HeadKind.SELECTOR, "hd", (), over), INT, made)
    assert kit.is_valid(kit.equal(first, three))
    with pytest.raises(Unsupported, match="one at a time"):
        kit.perform(calls.DeclareDatatypes([LIST, LIST]))


# Terms


def test_a_constructor_is_applied_to_a_datatype_twice() -> None:
    kit = Kit()
    datatype = DatatypeSpec("D", (("one", ()), ("two", ())), ())
    handle = kit.perform(calls.DeclareDatatypes([datatype]))[0]
    argument = ApiSort(0, make_sort("D", (), ()), handle)
    kit.perform(calls.DeclareSort("U", 2))
    made = kit.perform(calls.MakeSort(make_sort("U", (), (argument.sort,) * 2), [argument, argument]))
    assert made.name() == "U"


def test_connectives_of_too_few_arguments_are_not_made() -> None:
    engine = Kit().engine
    for name in ("xor", "distinct"):
        ranks = [s for s in default_theories().signatures() if s.name == name]
        taken = [len(s.params) for s in ranks if engine.takes(s, (BOOL,) * len(s.params), BOOL)]
        assert (len(ranks), taken) == (3, [2])


@pytest.mark.parametrize("seed", SEEDS)
def test_no_pattern_has_a_connective_in_it(seed: int) -> None:
    kit = Kit(seed=seed)
    f = kit.function("f", INT, INT)
    x, p = kit.variable(INT, "x"), kit.variable(BOOL, "p")
    chosen = kit.term("ite", INT, p, x, kit.value(INT, "1"))
    body = kit.equal(kit.apply(f, chosen), x)
    g = kit.function("g", BOOL, INT, INT)
    empty = kit.equal(kit.apply(g, kit.term("or", BOOL), x), x)
    for _ in range(4):
        kit.binder("forall", BOOL, [x, p], body)
        kit.binder("forall", BOOL, [x], empty)


@pytest.mark.parametrize("seed", SEEDS)
def test_quantifiers_say_the_same_whichever_way_they_are_made(seed: int) -> None:
    kit = Kit(seed=seed)
    f = kit.function("f", INT, INT, BOOL)
    x, y = kit.variable(INT, "x"), kit.variable(INT, "y")
    body = kit.apply(f, x, y)
    every = kit.binder("forall", BOOL, [x, y], body)
    some = kit.binder("exists", BOOL, [x, y], kit.no(body))
    assert kit.answer(every, some) is Answer.UNSAT
    one = kit.apply(f, kit.value(INT, "1"), kit.value(INT, "2"))
    assert kit.answer(every, kit.no(one)) is Answer.UNSAT
    kit.perform(calls.InspectTerm(every))
    kit.perform(calls.ReadBack(every))


@pytest.mark.parametrize("seed", SEEDS)
def test_lambda_terms_are_functions(seed: int) -> None:
    kit = Kit(seed=seed)
    x, y = kit.variable(INT, "x"), kit.variable(INT, "y")
    sort = make_sort("->", (), (INT, INT, INT))
    minus = kit.binder("lambda", sort, [x, y], kit.term("-", INT, x, y))
    three = kit.apply(minus, kit.value(INT, "5"), kit.value(INT, "2"))
    assert kit.is_valid(kit.equal(three, kit.value(INT, "3")))


@pytest.mark.parametrize("seed", SEEDS)
def test_defined_functions_keep_the_order_of_their_arguments(seed: int) -> None:
    kit = Kit(seed=seed)
    x, y = kit.variable(INT, "x"), kit.variable(INT, "y")
    body = kit.term("-", INT, x, y)
    handle = kit.perform(calls.DefineFunction("minus", [x, y], kit.sort(INT), body))
    minus = kit.keep(make_sort("->", (), (INT, INT, INT)), handle, TermKind.FUNCTION)
    three = kit.apply(minus, kit.value(INT, "5"), kit.value(INT, "2"))
    assert kit.is_valid(kit.equal(three, kit.value(INT, "3")))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_recursive_definition_reaches_terms_made_before_it(seed: int) -> None:
    kit = Kit(seed=seed)
    f = kit.function("f", INT, INT, INT)
    before = kit.apply(f, kit.value(INT, "3"), kit.value(INT, "10"))
    x, y = kit.variable(INT, "x"), kit.variable(INT, "y")
    one = kit.value(INT, "1")
    again = kit.apply(f, kit.term("-", INT, x, one), kit.term("-", INT, y, one))
    body = kit.term("ite", INT, kit.term("<=", BOOL, x, kit.value(INT, "0")), y, again)
    kit.perform(calls.DefineRecursive(f, [x, y], kit.sort(INT), body))
    assert kit.is_valid(kit.equal(before, kit.value(INT, "7")))
    after = kit.apply(f, kit.value(INT, "3"), kit.value(INT, "10"))
    assert kit.is_valid(kit.equal(after, before))


@pytest.mark.parametrize("logic", ["ALL", "UFNIA"])
def test_recursive_functions_are_defined_where_z3_unfolds_them(logic: str) -> None:
    kit = Kit()
    kit.perform(calls.SetLogic(logic))
    f, x = kit.function("f", INT, BOOL), kit.variable(INT, "x")
    never = kit.value(BOOL, "false")
    if logic != "ALL":
        with pytest.raises(Unsupported, match="UFNIA"):
            kit.perform(calls.DefineRecursive(f, [x], kit.sort(BOOL), never))
        return
    kit.perform(calls.DefineRecursive(f, [x], kit.sort(BOOL), never))
    kit.perform(calls.Assert(kit.apply(f, kit.constant(INT, "c"))))
    assert kit.perform(calls.CheckSat()) is Answer.UNSAT


def test_a_function_that_is_an_argument_already_is_not_defined() -> None:
    kit = Kit()
    f = kit.function("f", INT, INT)
    sequences = make_sort("Seq", (), (INT,))
    kit.term("seq.map", sequences, f, kit.constant(sequences, "s"))
    x = kit.variable(INT, "x")
    with pytest.raises(Unsupported, match="argument of some term"):
        kit.perform(calls.DefineRecursive(f, [x], kit.sort(INT), x))


@pytest.mark.parametrize("seed", SEEDS)
def test_simplified_and_substituted_terms_mean_what_they_did(seed: int) -> None:
    kit = Kit(seed=seed)
    a, b = kit.constant(INT, "a"), kit.constant(INT, "b")
    term = kit.term("+", INT, kit.term("*", INT, a, kit.value(INT, "2")), b, b)
    simple = kit.keep(INT, kit.perform(calls.Simplify(term)))
    assert kit.is_valid(kit.equal(simple, term))
    swapped = kit.keep(INT, kit.perform(calls.Substitute(term, [a, b], [b, a])))
    expected = kit.term("+", INT, kit.term("*", INT, b, kit.value(INT, "2")), a, a)
    assert kit.is_valid(kit.equal(swapped, expected))


def test_terms_are_held_in_both_ways_and_let_go_of() -> None:
    kit = Kit()
    handles = [kit.constant(INT, f"c{i}").handle for i in range(40)]
    assert {type(h) is HeldTerm for h in handles} == {True, False}
    reference = kit.engine.session.context
    kit.perform(calls.Delete())
    del handles, kit
    gc.collect()
    assert len(gc.get_referrers(reference)) <= 1


def test_misbehaving_terms_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    kit = Kit()
    term = kit.term("+", INT, kit.constant(INT, "a"), kit.value(INT, "2"))
    kit.perform(calls.InspectTerm(term))
    kit.perform(calls.ReadBack(term))
    monkeypatch.setattr(z3.ExprRef, "sexpr", lambda self: "(+ a 3)")
    with pytest.raises(Misbehaviour, match="reads back as"):
        kit.perform(calls.ReadBack(term))
    monkeypatch.setattr(z3.ExprRef, "sexpr", lambda self: "(+ a no!such)")
    with pytest.raises(Misbehaviour, match="does not read back"):
        kit.perform(calls.ReadBack(term))


def test_numerals_strings_and_floats_are_inspected() -> None:
    kit = Kit()
    cases = (
        *((text, INT) for text in ("(- 7)", str(2**64))),
        *((text, floating_point(3, 5)) for text in ("(_ NaN 3 5)", "(_ -oo 3 5)", "(fp #b0 #b000 #b0001)")),
        *(("(/ 2 6)", REAL), ("#xff", bit_vector(8)), ("true", BOOL)),
        (r'"a\u{2ffff}"', make_sort("String")),
        ("(fp #b1 #b011 #b0001)", floating_point(3, 5)),
    )
    for text, sort in cases:
        term = kit.value(sort, text)
        kit.perform(calls.InspectTerm(kit.keep(sort, z3.simplify(kit.engine.terms.of(term)))))


# Solving


@pytest.mark.parametrize("kind", sorted(set(KINDS)))
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.few(14)
def test_every_kind_of_solver_gives_cores_and_failed_assumptions(kind: str, seed: int) -> None:
    kit = Kit("produce-unsat-cores", seed=seed)
    kit.engine.solving.kind = kind
    a = kit.constant(INT, "a")
    five, other = kit.equal(a, kit.value(INT, "5")), kit.equal(kit.constant(INT, "b"), a)
    small, none = kit.term("<", BOOL, a, kit.value(INT, "3")), kit.constant(BOOL, "p")
    kit.perform(calls.Assert(five))
    kit.perform(calls.Assert(other))
    assert kit.perform(calls.CheckSatAssuming([none])) is Answer.SAT
    assert kit.perform(calls.CheckSatAssuming([none, small])) is Answer.UNSAT
    assert kit.perform(calls.UnsatAssumptions()) == [small]
    assert kit.perform(calls.UnsatCore()) == [five]
    kit.perform(calls.Push(2))
    kit.perform(calls.Assert(small))
    assert kit.perform(calls.CheckSat()) is Answer.UNSAT
    assert set(map(id, kit.perform(calls.UnsatCore()))) == {id(five), id(small)}
    kit.perform(calls.Pop(1))
    kit.perform(calls.Pop(1))
    assert kit.perform(calls.CheckSat()) is Answer.SAT


@pytest.mark.parametrize("kind", sorted(set(KINDS)))
def test_failed_assumptions_are_reported_without_tracking(kind: str) -> None:
    kit = Kit()
    kit.engine.solving.kind = kind
    p, q = kit.constant(BOOL, "p"), kit.constant(BOOL, "q")
    kit.perform(calls.Assert(kit.no(p)))
    assert kit.perform(calls.CheckSatAssuming([q, p])) is Answer.UNSAT
    assert kit.perform(calls.UnsatAssumptions()) == [p]


@pytest.mark.parametrize("seed", range(4))
def test_a_core_that_is_minimised_is_reported_again(seed: int) -> None:
    kit = Kit("produce-unsat-cores", seed=seed)
    kit.perform(calls.SetOption("core.minimize", "true"))
    p = kit.constant(BOOL, "p")
    kit.perform(calls.Assert(p))
    kit.perform(calls.Assert(kit.no(p)))
    for _ in range(2):
        assert kit.perform(calls.CheckSat()) is Answer.UNSAT
        cores = [kit.perform(calls.UnsatCore()) for _ in range(2)]
        assert [len(core) for core in cores] == [2, 2]


def test_an_empty_core_of_tactics_is_none() -> None:
    kit = Kit()
    kit.engine.solving.kind = "default"
    p, x = kit.constant(BOOL, "p"), kit.variable(BOOL, "x")
    twice = kit.term("xor", BOOL, kit.term("xor", BOOL, p, x), x)
    nothing = kit.binder("exists", BOOL, [x], kit.term("xor", BOOL, twice, p))
    assert kit.perform(calls.CheckSatAssuming([nothing])) is Answer.UNSAT
    with pytest.raises(Unsupported, match="may make no cores"):
        kit.perform(calls.UnsatAssumptions())


def test_without_tracking_there_is_no_core() -> None:
    kit = Kit()
    kit.perform(calls.Assert(kit.value(BOOL, "false")))
    assert kit.perform(calls.CheckSat()) is Answer.UNSAT
    with pytest.raises(Unsupported, match="not tracked"):
        kit.perform(calls.UnsatCore())


@pytest.mark.parametrize("seed", SEEDS)
def test_values_make_their_equations_true(seed: int) -> None:
    kit = Kit(seed=seed)
    a, s = kit.constant(bit_vector(8), "a"), kit.constant(make_sort("String"), "s")
    formula = kit.term("bvugt", BOOL, a, kit.value(bit_vector(8), "#xf0"))
    kit.perform(calls.Assert(formula))
    assert kit.perform(calls.CheckSat()) is Answer.SAT
    values = kit.perform(calls.GetValue([a, s]))
    equations = [kit.keep(BOOL, kit.perform(calls.Equate(t, v))) for t, v in zip([a, s], values, strict=True)]
    assert kit.answer(formula, *equations) is Answer.SAT
    assert kit.perform(calls.PrintModel())


def test_a_value_that_only_the_model_knows_is_no_equation() -> None:
    kit = Kit()
    f = kit.function("f", INT, INT)
    with pytest.raises(Unsupported, match="functions of the model"):
        kit.perform(calls.Equate(kit.constant(array(INT, INT), "a"), z3.AsArray(f.handle)))


def test_resets_forget_assertions_and_keep_terms() -> None:
    kit = Kit("produce-unsat-cores")
    false = kit.value(BOOL, "false")
    for forget in (calls.ResetAssertions(), calls.Reset()):
        kit.perform(calls.Push(1))
        kit.perform(calls.Assert(false))
        assert kit.perform(calls.CheckSat()) is Answer.UNSAT
        kit.perform(forget)
        assert kit.perform(calls.CheckSat()) is Answer.SAT


def test_losing_a_level_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    kit = Kit()
    monkeypatch.setattr(z3.Solver, "num_scopes", lambda self: 0)
    with pytest.raises(Misbehaviour, match="levels of the solver: 0 instead of 1"):
        kit.perform(calls.Push(1))


def test_a_core_of_strange_literals_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    kit = Kit("produce-unsat-cores")
    kit.perform(calls.Assert(kit.value(BOOL, "false")))
    assert kit.perform(calls.CheckSat()) is Answer.UNSAT
    strange = kit.engine.terms.of(kit.constant(BOOL, "strange"))
    monkeypatch.setattr(z3.Solver, "unsat_core", lambda self: [strange])
    with pytest.raises(Misbehaviour, match="neither asserted nor assumed"):
        kit.perform(calls.UnsatCore())


def test_rejections_carry_z3s_message() -> None:
    kit = Kit()
    wrong = ApiTerm(9, kit.sort(INT), kit.engine.terms.of(kit.constant(INT, "a")), TermKind.TERM)
    with pytest.raises(Rejected, match="Boolean value"):
        kit.perform(calls.Assert(wrong))


# Options and logics


def test_options_are_asked_of_z3_and_the_dangerous_ones_left_out() -> None:
    options = {o.name: o for o in Z3Engine().options()}
    assert len(options) > 150
    for name in (
        "timeout",
        "rlimit",
        "threads",
        "smtlib2_log",
        "max_memory",
        "sls.enable",
        "arith.ignore_int",
        "arith.nl",
        "arith.nl.transcendental_tolerance",
        "candidate_models",
        "hi_div0",
        "logic",
        "slice",
    ):
        assert name not in options
    assert options["relevancy"].kind is OptionKind.INT
    assert (options["relevancy"].low, options["relevancy"].high, options["relevancy"].default) == (0, 2, "2")
    assert options["seq.regex_orientation"].choices == ("forward", "reversed", "retry")
    assert options["mbqi"].kind is OptionKind.BOOL and options["mbqi"].default == "true"
    assert options["arith.solver"].choices == ("2", "6")


def test_options_reach_the_solver_and_the_context() -> None:
    kit = Kit()
    kit.perform(calls.SetOption("proof", "true"))
    kit.perform(calls.SetOption("relevancy", "0"))
    kit.perform(calls.SetOption("seq.regex_orientation", "forward"))
    kit.engine.solving.kind = "simple"
    kit.perform(calls.Assert(kit.value(BOOL, "false")))
    assert kit.perform(calls.CheckSat()) is Answer.UNSAT
    assert kit.engine.solving.solver.proof() is not None
    for name, value in (("no_such", "1"), ("relevancy", "x"), ("mbqi", "maybe"), ("timeout", "5")):
        with pytest.raises(Unsupported):
            kit.perform(calls.SetOption(name, value))


def test_logics() -> None:
    kit = Kit()
    kit.perform(calls.SetLogic("QF_BV"))
    a = kit.constant(bit_vector(8), "a")
    kit.perform(calls.Assert(kit.no(kit.equal(a, a))))
    assert kit.perform(calls.CheckSat()) is Answer.UNSAT
    with pytest.raises(Unsupported, match="no logic"):
        Kit().engine.perform(calls.SetLogic("QF_NOTHING"))


def test_two_engines_share_nothing_and_a_sibling_shares_its_terms() -> None:
    first, second = Kit(), Kit()
    a = first.constant(BOOL, "a")
    first.engine.perform(calls.Assert(first.value(BOOL, "false")))
    assert second.engine.perform(calls.CheckSat()) is Answer.SAT
    sibling = first.engine.sibling()
    sibling.perform(calls.Assert(a))
    assert sibling.perform(calls.CheckSatAssuming([first.no(a)])) is Answer.UNSAT
    assert sibling.perform(calls.UnsatCore()) == [a]
    sibling.perform(calls.Delete())
    assert first.engine.perform(calls.CheckSat()) is Answer.UNSAT


def test_a_context_made_before_a_fork_is_used_in_the_fork_alone() -> None:
    keep_spare()
    made_here = Session(Z3Engine(), {}).context
    reader, writer = os.pipe()
    if not (pid := os.fork()):
        spare = _spares[0][1]
        first, second = Session(Z3Engine(), {}).context, Session(Z3Engine(), {}).context
        reported = first is spare and second is not spare and z3.Solver(ctx=first).check() == z3.sat
        os.write(writer, b"as it should" if reported else b"another way")
        os._exit(0)
    os.waitpid(pid, 0)
    assert os.read(reader, 100) == b"as it should"
    assert made_here is not _spares[0][1]
    assert Session(Z3Engine(), {"proof": "true"}).context is not _spares[0][1]
