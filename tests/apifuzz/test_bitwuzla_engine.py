"""bitwuzla's engine: every operator, every way to say it, and what is asked of sorts, terms and options."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import pytest

pytest.importorskip("bitwuzla", reason="bitwuzla is an extra of exhume and not installed")

from apifuzz import calls
from apifuzz.engines.bitwuzla import inspection
from apifuzz.engines.bitwuzla.engine import BitwuzlaEngine
from apifuzz.engines.bitwuzla.session import TERMINATOR_CALLS
from apifuzz.engines.profile import profile
from apifuzz.interface import (
    Answer,
    ApiSort,
    Feature,
    Misbehaviour,
    OptionKind,
    Rejected,
    Unsupported,
)
from smtlib import BOOL, Signature, Sort, default_theories, make_sort
from smtlib.sorts import ROUNDING_MODE, array, bit_vector, floating_point
from tests.apifuzz.kits import EngineKit
from tests.sizes import size

B1, B4, B8 = bit_vector(1), bit_vector(4), bit_vector(8)
HALF, SINGLE = floating_point(5, 11), floating_point(8, 24)
SAMPLES = (
    BOOL,
    B1,
    B4,
    B8,
    bit_vector(5),
    bit_vector(10),
    bit_vector(16),
    ROUNDING_MODE,
    HALF,
    array(B4, B8),
)


class Kit(EngineKit):
    makes = BitwuzlaEngine


def signatures() -> list[Signature]:
    theories = BitwuzlaEngine().capabilities().theories
    return [
        s
        for s in default_theories().signatures()
        if s.theory in theories and not s.only and s.name not in profile("bitwuzla").capabilities.without
    ]


def applications(signature: Signature) -> Iterator[tuple[tuple[int, ...], tuple[Sort, ...], Sort]]:
    """Ways to apply an operator to the samples: indices, argument sorts, result sort."""
    few = {0: [()], 1: [(i,) for i in (1, 2, 3)], 2: [(5, 11), (3, 1), (3, 3), (0, 0)]}
    qualifier = array(B4, B8) if signature.needs_as else None
    for count in [len(signature.params)] + ([3] if signature.associativity else []):
        for sorts in itertools.product(SAMPLES, repeat=count):
            for indices in few[len(signature.indices)]:
                found = signature.apply(indices, sorts, qualifier)
                if found is not None:
                    yield indices, sorts, found


def test_every_operator_is_made_with_the_sort_of_the_theory_files() -> None:
    kit = Kit()
    engine = kit.engine
    constants = {sort: [kit.constant(sort, f"{n} {sort}") for n in range(5)] for sort in SAMPLES}
    made = set()
    for signature in signatures():
        ways = applications(signature)
        taken = (way for way in ways if engine.takes(signature, way[1], way[2]))
        for indices, sorts, result in itertools.islice(taken, 12):
            args = [constants[sort][n] for n, sort in enumerate(sorts)]
            for _ in range(3):
                term = kit.term(signature.name, result, *args, indices=indices)
                assert engine.perform(calls.HasSort(term, term.sort)), f"{signature} {indices} {sorts}"
                engine.perform(calls.InspectTerm(term))
                engine.perform(calls.ReadBack(term))
            made.add(signature.name)
    everything = {s.name for s in signatures()}
    assert made == everything
    assert len(made) > 90
    assert {"bvsdivo", "fp.fma", "to_fp", "const", "repeat", "distinct", "+oo"} <= made


@pytest.mark.parametrize(
    "name", sorted({s.name for s in signatures()} - {"const", "fp.fma", "fp.div", "fp.sqrt"})
)
def test_all_ways_to_make_an_operator_are_equal(name: str) -> None:
    kit = Kit()
    signature = next(s for s in signatures() if s.name == name)
    ways = [
        w for w in applications(signature) if kit.engine.takes(signature, w[1], w[2]) and w[2] is not SINGLE
    ]
    for indices, sorts, result in (ways[0], ways[-1]):
        args = [kit.constant(sort, f"{n} {sort}") for n, sort in enumerate(sorts)]
        if args and args[-1].sort.sort is B4:
            args[-1] = kit.value(B4, "#b0001")  # what bvinc and bvdec are for
        terms = {}
        for seed in range(12):
            kit.engine.random.seed(seed)
            term = kit.term(name, result, *args, indices=indices)
            terms[term.handle.id()] = term
        first, *others = terms.values()
        for other in others:
            assert (
                kit.perform(calls.CheckSatAssuming([kit.term("distinct", BOOL, first, other)]))
                is Answer.UNSAT
            )


@pytest.mark.parametrize(
    ("sort", "text"),
    [
        (BOOL, "true"),
        (B1, "#b1"),
        (B1, "#b0"),
        (B4, "#b1000"),
        (B4, "#b0111"),
        (B8, "#x1f"),
        (B8, "(_ bv255 8)"),
        (ROUNDING_MODE, "RTZ"),
        (HALF, "(_ NaN 5 11)"),
        (HALF, "(fp #b1 #b00000 #b0000000001)"),
        (HALF, "(fp #b0 #b00000 #b0000000000)"),
        (SINGLE, "(fp #b1 #x7f #b10000000000000000000000)"),
        (floating_point(15, 113), f"(fp #b1 #b{'0' * 14}1 #b{'1' * 112})"),
    ],
)
def test_a_value_is_the_same_in_every_way_to_write_it(sort: Sort, text: str) -> None:
    kit = Kit()
    first = kit.value(sort, text)
    kit.perform(calls.InspectTerm(first))
    for seed in range(40):
        kit.engine.random.seed(seed)
        assert kit.value(sort, text).handle == first.handle


@pytest.mark.parametrize("text", ["#b111", "#xfff", "(_ bv16 4)", "4", "#b"])
def test_text_that_writes_no_value_is_rejected(text: str) -> None:
    with pytest.raises(Rejected):
        Kit().value(B4, text)


def test_what_bitwuzla_lacks_is_unsupported() -> None:
    kit = Kit()
    for refused in (floating_point(3, 5), make_sort("Int"), make_sort("Seq", (), (BOOL,))):
        with pytest.raises(Unsupported):
            kit.sort(refused)
    with pytest.raises(Unsupported):
        kit.term("to_fp", floating_point(3, 5), kit.constant(B8, "x"), indices=(3, 5))
    with pytest.raises(Unsupported):
        kit.perform(calls.SetOption("finite-model-find", "true"))


def test_takes_refuses_other_floats_numbers_and_comparisons_of_functions() -> None:
    engine = Kit().engine
    equality = next(s for s in signatures() if s.name == "=")
    conjunction = next(s for s in signatures() if s.name == "and")
    small = floating_point(3, 5)
    function = make_sort("->", (), (B4, B4))
    assert engine.takes(equality, (B4, B4), BOOL)
    assert not engine.takes(equality, (small, small), BOOL)
    assert not engine.takes(equality, (array(B4, small),) * 2, BOOL)
    assert not engine.takes(equality, (function, function), BOOL)
    assert not engine.takes(conjunction, (BOOL,), BOOL)


def test_sorts_are_what_they_were_made_of() -> None:
    kit = Kit()
    uninterpreted = make_sort("U 1")
    kit.perform(calls.DeclareSort("U 1", 0))
    for sort in (
        *SAMPLES,
        uninterpreted,
        array(B4, array(BOOL, uninterpreted)),
        make_sort("->", (), (B4, BOOL, HALF)),
    ):
        own = kit.sort(sort)
        kit.perform(calls.InspectSort(own))
        assert own.sort.is_function or kit.perform(
            calls.HasSort(kit.constant(own.sort, f"of {own.sort}"), own)
        )
    with pytest.raises(Misbehaviour, match="bv_size"):
        kit.perform(calls.InspectSort(ApiSort(1, B4, kit.sort(B8).handle)))
    with pytest.raises(Misbehaviour, match="is_bool"):
        kit.perform(calls.InspectSort(ApiSort(1, BOOL, kit.sort(B8).handle)))
    assert not kit.perform(calls.HasSort(kit.constant(B8, "wide"), kit.sort(B4)))


def test_a_term_that_is_not_what_it_was_made_of_is_noticed() -> None:
    kit = Kit()
    x = kit.constant(B8, "x")
    term = kit.term("bvudiv", B8, x, x)
    kit.perform(calls.InspectTerm(term))
    kind, children, indices = kit.engine.session.made[term.handle.id()]
    kit.engine.session.made[term.handle.id()] = (kind, children[:1], indices)
    with pytest.raises(Misbehaviour, match="children"):
        kit.perform(calls.InspectTerm(term))
    kit.engine.session.names[x.handle.id()] = "y"
    with pytest.raises(Misbehaviour, match="symbol"):
        kit.perform(calls.InspectTerm(x))


def test_a_term_that_reads_back_as_another_is_noticed() -> None:
    kit = Kit()
    x, y = kit.constant(B8, "x"), kit.constant(B8, "y")
    one, other = kit.term("bvshl", B8, x, y), kit.term("bvshl", B8, y, x)
    with pytest.raises(Misbehaviour, match="another term is read back\ny as x"):
        inspection.compare(one.handle, other.handle, "")
    with pytest.raises(Misbehaviour, match="another term is read back"):
        inspection.compare(one.handle, kit.term("bvudiv", B8, x, y).handle, "")


def test_quantifiers_and_names_that_need_bars_read_back() -> None:
    kit = Kit()
    odd, x, y = kit.constant(B4, "a b"), kit.variable(B4, "x"), kit.variable(B4, "y 1")
    body = kit.term("bvult", BOOL, x, kit.term("bvadd", B4, y, odd))
    body.free = x.free | y.free
    kit.perform(calls.ReadBack(body))
    for seed in range(6):
        kit.engine.random.seed(seed)
        closed = kit.binder("forall", BOOL, [x, y], body)
        kit.perform(calls.ReadBack(closed))
        kit.perform(calls.InspectTerm(closed))


def test_every_option_can_be_set_in_every_way() -> None:
    options = BitwuzlaEngine().options()
    names = {o.name for o in options}
    assert {"produce-models", "bv-solver", "seed", "check-model"} <= names
    assert names.isdisjoint({"time-limit-per", "memory-limit", "write-cnf", "verbosity"})
    for option in options:
        values: Sequence[str] = option.choices
        if option.kind is OptionKind.BOOL:
            values = ("true", "false")
        elif option.kind is OptionKind.INT:
            assert option.low is not None and option.high is not None
            values = (str(int(option.low)), str(int(option.high)), option.default)
        for value, seed in itertools.product(values, range(size(2, 6))):
            kit = Kit()
            kit.engine.random.seed(seed)
            kit.perform(calls.SetOption(option.name, value))
            kit.engine.settings.inspect()
    with pytest.raises(Rejected):
        Kit().engine.perform(calls.SetOption("seed", "-1"))
    with pytest.raises(Rejected):
        Kit().engine.perform(calls.SetOption("produce-models", "perhaps"))
    with pytest.raises(Rejected):
        Kit().engine.perform(calls.SetOption("rewrite-level", "7"))


def test_features_follow_options() -> None:
    kit = Kit()
    assert Feature.MODELS not in kit.engine.capabilities().features
    kit.perform(calls.SetOption("produce-models", "true"))
    assert Feature.MODELS in kit.engine.capabilities().features
    assert Feature.DATATYPES not in kit.engine.capabilities().features


def test_cores_assumptions_and_values() -> None:
    kit = Kit("produce-models", "produce-unsat-cores", "produce-unsat-assumptions")
    engine = kit.engine
    p, q, r = (kit.constant(BOOL, name) for name in "pqr")
    x = kit.constant(B8, "x")
    below = kit.term("bvult", BOOL, x, kit.value(B8, "#x02"))
    engine.perform(calls.Assert(q))
    engine.perform(calls.Assert(below))
    engine.perform(calls.Push(2))
    engine.perform(calls.Assert(p))
    engine.perform(calls.Pop(1))
    assert engine.stack.terms == [q, below]
    not_q = kit.no(q)
    assert engine.perform(calls.CheckSatAssuming([r, not_q])) is Answer.UNSAT
    assert engine.perform(calls.UnsatAssumptions()) == [not_q]
    assert engine.perform(calls.UnsatCore()) == [q]
    assert engine.perform(calls.CheckSat()) is Answer.SAT
    engine.perform(calls.Simplify(below))
    (value,) = engine.perform(calls.GetValue([x]))
    assert int(value.value(10)) < 2
    equation = kit.keep(BOOL, engine.perform(calls.Equate(x, value)))
    assert engine.perform(calls.CheckSatAssuming([equation])) is Answer.SAT
    assert engine.perform(calls.CheckSat()) is Answer.SAT
    assert "(define-fun x () (_ BitVec 8) #b0000000" in engine.perform(calls.PrintModel())
    with pytest.raises(Rejected):
        engine.perform(calls.Pop(2))


def test_the_value_of_an_array_is_said_element_by_element() -> None:
    kit = Kit("produce-models")
    engine = kit.engine
    a = kit.constant(array(B4, B8), "a")
    one = kit.value(B4, "#b0001")
    element = kit.term("select", B8, a, one)
    engine.perform(calls.Assert(kit.equal(element, kit.value(B8, "#x07"))))
    assert engine.perform(calls.CheckSat()) is Answer.SAT
    (value,) = engine.perform(calls.GetValue([a]))
    said = kit.keep(BOOL, engine.perform(calls.Equate(a, value)))
    second = engine.sibling()
    second.perform(calls.Assert(said))
    assert second.perform(calls.CheckSat()) is Answer.SAT
    second.perform(calls.Assert(kit.equal(element, kit.value(B8, "#x08"))))
    assert second.perform(calls.CheckSat()) is Answer.UNSAT


def test_a_second_instance_draws_from_the_seed_of_the_call() -> None:
    states = []
    for _ in range(2):
        engine = Kit().engine
        engine.random.seed(7)
        states.append(engine.sibling().random.getstate())
    assert states[0] == states[1]


def test_reset_keeps_terms_and_options() -> None:
    kit = Kit("produce-models")
    p = kit.constant(BOOL, "p")
    for clear in (calls.Reset(), calls.ResetAssertions()):
        kit.perform(calls.Assert(kit.no(p)))
        kit.perform(calls.Push(1))
        assert kit.perform(calls.CheckSatAssuming([p])) is Answer.UNSAT
        kit.perform(clear)
        assert kit.engine.stack.terms == []
        assert kit.perform(calls.CheckSatAssuming([p])) is Answer.SAT
        assert kit.perform(calls.GetValue([p]))[0].is_true()
        kit.perform(clear)


def test_checks_end_after_a_number_of_questions_that_is_the_same_each_time() -> None:
    left = []
    for _ in range(2):
        kit = Kit()
        x, y = kit.constant(bit_vector(24), "x"), kit.constant(bit_vector(24), "y")
        wide = [kit.term("zero_extend", bit_vector(48), t, indices=(24,)) for t in (x, y)]
        product = kit.term("bvmul", bit_vector(48), *wide)
        prime = kit.value(bit_vector(48), f"(_ bv{16777183 * 16777213} 48)")
        kit.perform(calls.Assert(kit.equal(product, prime)))
        kit.perform(calls.Assert(kit.term("bvult", BOOL, kit.value(bit_vector(24), "(_ bv1 24)"), x)))
        kit.perform(calls.Assert(kit.term("bvult", BOOL, x, y)))
        kit.engine.terminator.next_calls = 3
        assert kit.perform(calls.CheckSat()) is Answer.UNKNOWN
        assert kit.engine.terminator.left < 0
        kit.engine.terminator.next_calls = 10
        assert kit.perform(calls.CheckSat()) is Answer.UNKNOWN
        kit.perform(calls.CheckSat())
        left.append(kit.engine.terminator.left)
    assert left[0] == left[1] < TERMINATOR_CALLS
