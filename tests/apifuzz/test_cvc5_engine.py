"""cvc5's engine: every operator, every way to say it, and what is asked of sorts, terms and solver."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import cvc5
import pytest

from apifuzz import calls
from apifuzz.chance import Chance
from apifuzz.engines.cvc5.engine import Cvc5Engine
from apifuzz.engines.cvc5.reading import Reader, reads_alike
from apifuzz.interface import (
    Answer,
    ApiSort,
    ApiTerm,
    DatatypeSpec,
    Field,
    Head,
    HeadKind,
    LimitReached,
    Misbehaviour,
    Rejected,
    TermKind,
    Unsupported,
)
from apifuzz.running.faults import reported
from apifuzz.running.known import shipped
from difftest.triage.ledger import Ledger
from smtlib import BOOL, INT, REAL, STRING, Signature, Sort, default_theories, make_sort
from smtlib.signature import Bindings
from smtlib.sorts import REGLAN, ROUNDING_MODE, array, bit_vector, floating_point
from tests.apifuzz.counting import api_functions, calls_counted
from tests.apifuzz.kits import EngineKit

ROOT = Path(__file__).resolve().parents[2]
PARAMETERS = {"A": INT, "B": BOOL, "C": bit_vector(3), "D": STRING, "E": REAL, "F": bit_vector(2)}
INDICES = {"m": 8, "n": 5, "i": 6, "j": 2, "e": 8, "s": 24, "p": 7, "c": 0x61}
EXPERT = ("arrays-exp", "fp-exp", "sets-exp")
SORTS = (
    BOOL,
    INT,
    REAL,
    STRING,
    REGLAN,
    ROUNDING_MODE,
    bit_vector(8),
    floating_point(8, 24),
    make_sort("FiniteField", (7,)),
    array(INT, BOOL),
    make_sort("Set", (), (INT,)),
    make_sort("Bag", (), (INT,)),
    make_sort("Seq", (), (BOOL,)),
    make_sort("Nullable", (), (INT,)),
    make_sort("Tuple", (), (INT, BOOL)),
    make_sort("UnitTuple"),
    make_sort("->", (), (INT, BOOL, BOOL)),
    make_sort("->", (), (INT, INT)),
)


class Kit(EngineKit):
    makes = Cvc5Engine

    def __init__(self, *options: str, logic: str = "HO_ALL", seed: int = 1) -> None:
        super().__init__(*options, seed=seed)
        self.perform(calls.SetLogic(logic))


@pytest.fixture
def kit() -> Kit:
    return Kit("produce-models", "produce-unsat-cores", "produce-unsat-assumptions")


# Operators


def signatures() -> list[Signature]:
    return [s for s in default_theories().signatures() if not s.only or "cvc5" in s.only]


def shapes(signature: Signature) -> Iterator[tuple[tuple[int, ...], tuple[Sort, ...], Sort]]:
    """Indices, argument sorts and result: as it is declared and, where it is associative, with one more."""
    bindings: Bindings = {**PARAMETERS, **INDICES}
    indices = tuple(int(i) if i.isdigit() else INDICES[i] for i in signature.indices)
    sorts = tuple(p.instantiate(bindings) for p in signature.params)
    counts = [len(sorts)]
    if signature.associativity:
        counts += [3] + [1] * (signature.minimum == 1)
    for count in counts:
        some = sorts if count == len(sorts) else (sorts[0],) * count
        qualifier = signature.result.instantiate(bindings) if signature.needs_as else None
        result = signature.apply(indices, some, qualifier)
        if result is not None:
            yield indices, some, result


def test_every_operator_is_made_and_has_the_sort_of_the_theory_files() -> None:
    kit = Kit(*EXPERT)
    made = 0
    for signature in signatures():
        found = list(shapes(signature))
        assert found, f"no sample for {signature}"
        for (indices, sorts, result), seed in itertools.product(found, range(3)):
            kit.engine.random.seed(seed)
            args = [kit.constant(sort) for sort in sorts]
            places = kit.engine.capabilities().value_arguments.get(signature.name, ())
            for place in places:
                args[place] = kit.value(sorts[place], {STRING: '"a"', BOOL: "true"}.get(sorts[place], "2"))
            term = kit.term(signature.name, result, *args, indices=indices)
            assert kit.perform(calls.HasSort(term, term.sort)), signature
            kit.perform(calls.InspectTerm(term))
            made += 1
    assert made > 1000


def test_without_higher_order_logic_no_functions_are_taken() -> None:
    engine = Kit(logic="ALL").engine
    (mapped,) = (s for s in default_theories().functions["set.map"] if "cvc5" in s.only)
    sorts = (make_sort("->", (), (INT, INT)), make_sort("Set", (), (INT,)))
    assert not engine.takes(mapped, sorts, sorts[1])
    assert Kit().engine.takes(mapped, sorts, sorts[1])
    with pytest.raises(Unsupported):
        Kit(logic="ALL").sort(sorts[0])


def test_formats_that_cvc5_does_not_solve_are_refused_unless_switched_on() -> None:
    with pytest.raises(Unsupported, match="fp-exp"):
        Kit().sort(floating_point(5, 11))
    assert Kit("fp-exp").sort(floating_point(5, 11)).handle.isFloatingPoint()


def test_regular_expressions_stay_by_themselves() -> None:
    kit = Kit()
    for sort in (make_sort("Set", (), (REGLAN,)), array(INT, REGLAN), make_sort("Tuple", (), (INT, REGLAN))):
        with pytest.raises(Unsupported):
            kit.perform(calls.MakeSort(sort, [kit.sort(arg) for arg in sort.args]))
    with pytest.raises(Unsupported):
        kit.perform(calls.MakeFunction("f", [kit.sort(REGLAN)], kit.sort(BOOL)))
    (unit,) = (s for s in default_theories().functions["seq.unit"] if not s.only)
    assert not kit.engine.takes(unit, (REGLAN,), make_sort("Seq", (), (REGLAN,)))
    assert kit.engine.takes(unit, (INT,), make_sort("Seq", (), (INT,)))


def test_operators_of_the_heap_want_a_heap() -> None:
    engine = Kit("incremental=false").engine
    (pto,) = default_theories().functions["pto"]
    assert not engine.takes(pto, (INT, INT), BOOL)
    location = ApiSort(1, INT, engine.perform(calls.MakeSort(INT, ())))
    engine.session.heap = (location, location)
    assert engine.takes(pto, (INT, INT), BOOL)
    assert not engine.takes(pto, (INT, BOOL), BOOL)


def test_exponents_and_repetitions_are_small() -> None:
    kit = Kit()
    x = kit.constant(INT)
    with pytest.raises(Unsupported):
        kit.term("^", INT, x, x)
    with pytest.raises(Unsupported):
        kit.term("^", INT, x, kit.value(INT, "1000000"))
    with pytest.raises(Unsupported):
        kit.term("re.^", REGLAN, kit.term("re.all", REGLAN), indices=(1000,))


# Values

VALUES = (
    (BOOL, ("true", "false")),
    (INT, ("0", "(- 3)", "2147483648", "123456789012345678901234567890")),
    (REAL, ("0.5", "(/ 1 3)", "(- (/ 7 2))", "(/ (- 7) 2)", "3", "12.50")),
    (STRING, ('""', '"a""b"', '"\\u{3}\\u{2FFFF}"', '"\\u00e9x"', '"\\u{0}"""')),
    (bit_vector(8), ("#b10000000", "#xff", "(_ bv5 8)", "#x00")),
    (bit_vector(1), ("#b0", "#b1")),
    (bit_vector(80), ("#xffffffffffffffffffff",)),
    (floating_point(8, 24), ("(_ +oo 8 24)", "(_ NaN 8 24)", "(_ -zero 8 24)")),
    (floating_point(8, 24), ("(fp #b1 #b00000001 #b00000000000000000000001)",)),
    (ROUNDING_MODE, ("RNE", "RNA", "RTP", "RTN", "RTZ")),
    (make_sort("FiniteField", (7,)), ("(as ff3 (_ FiniteField 7))", "#f3m7", "(as ff-2 (_ FiniteField 7))")),
)


@pytest.mark.parametrize(
    ("sort", "text"), [(sort, text) for sort, texts in VALUES for text in texts], ids=lambda v: str(v)
)
def test_all_ways_to_say_a_value_are_one_value(sort: Sort, text: str) -> None:
    kit = Kit()
    made = []
    for seed in range(24):
        kit.engine.random.seed(seed)
        made.append(kit.value(sort, text))
        kit.perform(calls.InspectTerm(made[-1]))
    assert len({term.handle for term in made}) == 1
    kit.perform(calls.ReadBack(made[0]))


@pytest.mark.parametrize(
    ("sort", "text"),
    [
        (INT, "1.5"),
        (INT, "x"),
        (BOOL, "1"),
        (bit_vector(4), "#q1"),
        (STRING, "a"),
        (REAL, "(/ 1 0)"),
        (floating_point(8, 24), "(fp #b0 #b0 #b0)"),
        (REGLAN, "re.all"),
        (INT, "1 2"),
    ],
)
def test_what_is_no_value_is_refused(sort: Sort, text: str) -> None:
    with pytest.raises((Unsupported, Rejected)):
        Kit().value(sort, text)


# Sorts and inspection


def test_sorts_say_what_they_were_made_of() -> None:
    for seed, sort in itertools.product(range(4), SORTS):
        kit = Kit(seed=seed)
        kit.perform(calls.InspectSort(kit.sort(sort)))


def test_a_sort_that_says_something_else_is_found() -> None:
    kit = Kit()
    wrong = ApiSort(1, array(INT, INT), kit.sort(array(INT, BOOL)).handle)
    with pytest.raises(Misbehaviour, match="getArrayElementSort") as caught:
        kit.perform(calls.InspectSort(wrong))
    assert caught.value.kind == "sort"


def test_a_term_that_says_something_else_is_found() -> None:
    kit = Kit()
    x, y = kit.constant(INT), kit.constant(INT)
    term = kit.term("-", INT, x, y)
    for head, args in (
        (Head(HeadKind.OPERATOR, "+"), (x, y)),
        (Head(HeadKind.OPERATOR, "-"), (y, x)),
    ):
        term.head, term.args = head, args
        with pytest.raises(Misbehaviour) as caught:
            kit.perform(calls.InspectTerm(term))
        assert caught.value.kind == "term"


LIST = DatatypeSpec("List", (("nil", ()), ("cons", (Field("head", "T"), Field("tail", "List")))), ("T",))


def tree(kit: Kit) -> list[DatatypeSpec]:
    leaf = ("leaf", (Field("value", kit.sort(INT)),))
    return [
        DatatypeSpec("Tree", (leaf, ("node", (Field("children 1", "Forest"),)))),
        DatatypeSpec("Forest", (("end", ()), ("more", (Field("first", "Tree"), Field("rest", "Forest"))))),
    ]


@pytest.mark.parametrize("seed", range(6))
def test_datatypes_and_their_members(seed: int) -> None:
    kit = Kit(seed=seed)
    handles = kit.perform(calls.DeclareDatatypes(tree(kit)))
    trees, forests = make_sort("Tree"), make_sort("Forest")
    for sort, handle in zip((trees, forests), handles, strict=True):
        kit.perform(calls.InspectSort(ApiSort(0, sort, handle)))
    leaf = kit.make(Head(HeadKind.CONSTRUCTOR, "leaf", (), trees), trees, kit.value(INT, "3"))
    end = kit.make(Head(HeadKind.CONSTRUCTOR, "end", (), forests), forests)
    more = kit.make(Head(HeadKind.CONSTRUCTOR, "more", (), forests), forests, leaf, end)
    first = kit.make(Head(HeadKind.SELECTOR, "first", (), forests), trees, more)
    tested = kit.make(Head(HeadKind.TESTER, "leaf", (), trees), BOOL, first)
    again = kit.make(Head(HeadKind.UPDATER, "first", (), forests), forests, more, leaf)
    for term in (leaf, end, more, first, tested, again):
        kit.perform(calls.InspectTerm(term))
        kit.perform(calls.ReadBack(term))
    equal = kit.term("=", BOOL, again, more)
    assert kit.check(kit.term("not", BOOL, kit.term("and", BOOL, tested, equal))) is Answer.UNSAT


@pytest.mark.parametrize("seed", range(4))
def test_parametric_datatypes_and_sort_constructors(seed: int) -> None:
    kit = Kit(seed=seed)
    kit.perform(calls.DeclareDatatypes([LIST]))
    kit.perform(calls.DeclareSort("P", 2))
    pair = make_sort("P", (), (INT, BOOL))
    lists = make_sort("List", (), (pair,))
    kit.perform(calls.InspectSort(kit.sort(pair)))
    kit.perform(calls.InspectSort(kit.sort(lists)))
    nil = kit.make(Head(HeadKind.CONSTRUCTOR, "nil", (), lists), lists)
    cons = kit.make(Head(HeadKind.CONSTRUCTOR, "cons", (), lists), lists, kit.constant(pair), nil)
    assert kit.perform(calls.HasSort(cons, kit.sort(lists)))
    kit.perform(calls.ReadBack(cons))
    assert kit.check(kit.term("=", BOOL, cons, nil)) is Answer.UNSAT


def test_a_sort_of_another_name_sake_is_another_sort() -> None:
    kit = Kit()
    kit.perform(calls.DeclareSort("U", 0))
    before = kit.sort(array(make_sort("U"), INT)).handle
    kit.engine.random.seed(0)
    kit.engine.sorts.session.random = Chance(3)
    kit.engine.sorts.declared.pop("U")
    kit.perform(calls.DeclareDatatypes([DatatypeSpec("U", (("u", ()),))]))
    assert kit.engine.sorts.of(array(make_sort("U"), INT)) != before


# Binders, definitions, reading back


@pytest.mark.parametrize("seed", range(10))
def test_quantifiers_with_and_without_annotations(seed: int) -> None:
    kit = Kit(seed=seed)
    f, x, one = kit.function("f", INT, INT), kit.variable(INT), kit.value(INT, "1")
    term = kit.binder("forall", BOOL, [x], kit.term(">", BOOL, kit.apply(f, x), x))
    kit.perform(calls.ReadBack(term))
    assert kit.check(term, kit.term("<", BOOL, kit.apply(f, one), one)) is not Answer.SAT


def test_definitions_hold_here_and_in_a_sibling() -> None:
    for seed in range(4):
        kit = Kit(seed=seed)
        x, one = kit.variable(INT), kit.value(INT, "1")
        body = kit.term("+", INT, x, one)
        handle = kit.perform(calls.DefineFunction("inc", [x], kit.sort(INT), body))
        inc = kit.keep(make_sort("->", (), (INT, INT)), handle, TermKind.FUNCTION)
        wrong = kit.term("distinct", BOOL, kit.apply(inc, one), kit.value(INT, "2"))
        sibling = kit.engine.sibling()
        sibling.perform(calls.Assert(wrong))
        assert sibling.perform(calls.CheckSat()) is Answer.UNSAT
        sibling.perform(calls.Delete())
        kit.perform(calls.Push(1))
        assert kit.check(wrong) is Answer.UNSAT
        kit.perform(calls.Reset())
        assert kit.check(wrong) is Answer.UNSAT


def test_recursive_definitions_hold_in_a_sibling() -> None:
    kit = Kit()
    f, x, seven = kit.function("f", INT, INT), kit.variable(INT), kit.value(INT, "7")
    kit.perform(calls.DefineRecursive(f, [x], seven.sort, seven))
    sibling = kit.engine.sibling()
    sibling.perform(calls.Assert(kit.term("distinct", BOOL, kit.apply(f, kit.value(INT, "1")), seven)))
    assert sibling.perform(calls.CheckSat()) is Answer.UNSAT


@pytest.mark.parametrize("seed", [0, 1])
def test_recursive_definitions_outlive_levels_and_resets(seed: int) -> None:
    kit = Kit(seed=seed)
    f, x, seven = kit.function("f", INT, INT), kit.variable(INT), kit.value(INT, "7")
    kit.perform(calls.Push(1))
    kit.perform(calls.DefineRecursive(f, [x], seven.sort, seven))
    wrong = kit.term("distinct", BOOL, kit.apply(f, kit.value(INT, "1")), seven)
    kit.perform(calls.Pop(1))
    assert kit.check(wrong) is Answer.UNSAT
    kit.perform(calls.ResetAssertions())
    assert kit.check(wrong) is Answer.UNSAT


def test_terms_read_back() -> None:
    kit = Kit()
    x = kit.constant(INT, "a b")
    total = kit.term("+", INT, x, kit.value(INT, "(- 3)"), kit.value(INT, "(- 3)"))
    kit.perform(calls.ReadBack(kit.term("*", INT, total, total)))
    half = kit.value(REAL, "(/ (- 1) 2)")
    kit.perform(calls.ReadBack(kit.term("=", BOOL, half, kit.term("to_real", REAL, x))))


@pytest.mark.parametrize("bits", ["1" + "00100110101" + "1" * 52, "0" + "1" * 63, "1" + "1" * 11 + "0" * 52])
def test_floating_point_numbers_are_compared_by_their_bits(bits: str) -> None:
    manager = cvc5.TermManager()
    parts = [manager.mkBitVector(len(part), part, 2) for part in (bits[0], bits[1:12], bits[12:])]
    made = manager.mkTerm(cvc5.Kind.FLOATINGPOINT_FP, *parts)
    assert reads_alike(made, manager.mkFloatingPoint(11, 53, manager.mkBitVector(64, bits, 2)))
    assert not reads_alike(made, manager.mkFloatingPoint(11, 53, manager.mkBitVector(64, "0" * 64, 2)))


def test_what_reads_back_otherwise_is_found() -> None:
    manager = cvc5.TermManager()
    reader = Reader(manager)
    # A constant that the reader does not know.
    with pytest.raises(Misbehaviour, match="does not read back"):
        reader.compare(manager.mkConst(manager.getIntegerSort(), "x"), "t1")
    reader.declare(["(declare-fun x () Int)"])
    reader.compare(manager.mkConst(manager.getIntegerSort(), "x"), "t1")
    # A constant named like a value of another sort.
    with pytest.raises(Misbehaviour) as caught:
        reader.compare(
            manager.mkTerm(cvc5.Kind.ADD, *[manager.mkConst(manager.getIntegerSort(), "|y|")] * 2), "t2"
        )
    assert caught.value.kind == "print"


def test_errors_that_are_known_are_listed_with_their_reports() -> None:
    known = shipped("cvc5")
    assert known
    weak = (ROOT / "docs" / "findings" / "weak.md").read_text("utf-8")
    for entry in known:
        for place in entry.at.split(", or "):
            page, _, section = place.partition(", ")
            assert f"\n## {section}\n" in weak if section else (ROOT / page / "report.md").is_file()
    # A match over a constructor whose name needs bars; the term and its text do not get into the key.
    kit = Kit()
    spec = DatatypeSpec("D", (("plain", ()), ("in bars", ())))
    (datatype,) = kit.perform(calls.DeclareDatatypes([spec]))
    manager = kit.engine.session.manager
    make = manager.mkTerm
    members = datatype.getDatatype()
    values = {"plain": manager.mkTrue(), "in bars": manager.mkFalse()}
    patterns = {n: make(cvc5.Kind.APPLY_CONSTRUCTOR, members.getConstructor(n).getTerm()) for n in values}
    cases = [make(cvc5.Kind.MATCH_CASE, patterns[name], value) for name, value in values.items()]
    match = make(cvc5.Kind.MATCH, manager.mkConst(datatype, "d"), *cases)
    with pytest.raises(Misbehaviour) as caught:
        kit.perform(calls.ReadBack(ApiTerm(0, kit.sort(BOOL), match, TermKind.TERM)))
    key = reported(caught.value.kind, "read-back", str(caught.value)).stem("cvc5")
    assert Ledger(known).silencing(key, None) is not None


def test_an_application_of_a_lambda_reads_back(kit: Kit) -> None:
    x = kit.variable(BOOL)
    function = kit.binder("lambda", make_sort("->", (), (BOOL, BOOL)), [x], x)
    for seed in range(4):
        kit.engine.random.seed(seed)
        kit.perform(calls.ReadBack(kit.apply(function, kit.constant(BOOL))))


def test_terms_that_read_alike() -> None:
    manager = cvc5.TermManager()
    make = manager.mkTerm
    five, two, x = manager.mkInteger(5), manager.mkReal(2), manager.mkConst(manager.getIntegerSort(), "x")
    assert reads_alike(make(cvc5.Kind.NEG, five), manager.mkInteger(-5))
    assert not reads_alike(make(cvc5.Kind.NEG, five), five)
    assert reads_alike(make(cvc5.Kind.DIVISION, two, manager.mkReal(4)), manager.mkReal(1, 2))
    assert not reads_alike(make(cvc5.Kind.DIVISION, two, manager.mkReal(0)), two)
    # A product that was simplified is of another kind inside.
    product = make(cvc5.Kind.MULT, x, x)
    simplified = cvc5.Solver(manager).simplify(product)
    assert product != simplified
    assert reads_alike(make(cvc5.Kind.GT, product, simplified), make(cvc5.Kind.GT, product, product))
    assert not reads_alike(make(cvc5.Kind.GT, product, x), make(cvc5.Kind.GT, x, product))
    # So is a sequence of values.
    units = [make(cvc5.Kind.SEQ_UNIT, manager.mkInteger(number)) for number in (0, 1)]
    for sequence in (units[0], make(cvc5.Kind.SEQ_CONCAT, *units)):
        constant = cvc5.Solver(manager).simplify(sequence)
        assert constant != sequence and str(constant) == str(sequence)
        assert reads_alike(constant, sequence)
        assert not reads_alike(constant, units[1])
    parts = [make(manager.mkOp(cvc5.Kind.DIVISIBLE, number), x) for number in (2, 3)]
    assert not reads_alike(*parts)
    assert not reads_alike(x, manager.mkConst(manager.getRealSort(), "x"))
    named = manager.mkConst(manager.getIntegerSort(), "x")
    assert named != x
    assert reads_alike(named, x)


# Solving


def test_cores_assumptions_and_values(kit: Kit) -> None:
    x, y = kit.constant(BOOL), kit.constant(INT)
    positive = kit.term(">", BOOL, y, kit.value(INT, "0"))
    engine = kit.engine
    assert kit.check(positive) is Answer.SAT
    (value,) = engine.perform(calls.GetValue([y]))
    assert kit.check(kit.keep(BOOL, engine.perform(calls.Equate(y, value)))) is Answer.SAT
    assert str(y.handle) in engine.perform(calls.PrintModel())
    engine.perform(calls.ResetAssertions())
    neither = kit.no(x)
    assert kit.check(positive, x, neither) is Answer.UNSAT
    assert set(map(id, engine.perform(calls.UnsatCore()))) == {id(x), id(neither)}
    engine.perform(calls.ResetAssertions())
    assert engine.perform(calls.CheckSatAssuming([positive, x, neither])) is Answer.UNSAT
    assert set(map(id, engine.perform(calls.UnsatAssumptions()))) <= {id(positive), id(x), id(neither)}


@pytest.mark.parametrize("recursive", [False, True])
def test_a_core_may_name_definitions_but_nothing_else(kit: Kit, recursive: bool) -> None:
    engine = kit.engine
    zero, function = kit.value(INT, "0"), kit.function("f", INT, INT, INT, INT)
    variables = [kit.variable(INT) for _ in range(3)]
    if recursive:
        engine.perform(calls.DefineRecursive(function, variables, zero.sort, zero))
    else:
        defined = engine.perform(calls.DefineFunction("f", variables, zero.sort, zero))
        function = kit.keep(function.sort.sort, defined, TermKind.FUNCTION)
    negative = kit.term("<", BOOL, kit.apply(function, zero, zero, zero), zero)
    assert kit.check(negative) is Answer.UNSAT
    assert engine.perform(calls.UnsatCore()) == [negative]
    # What has the function somewhere below is no definition.
    engine.stack.levels = [[]]
    with pytest.raises(Misbehaviour, match="not given"):
        engine.perform(calls.UnsatCore())


def test_a_core_of_assumptions_is_not_requested_after_a_simplification(kit: Kit) -> None:
    x = kit.constant(BOOL)
    never = kit.term("and", BOOL, x, kit.no(x))
    engine = kit.engine
    assert engine.perform(calls.CheckSatAssuming([never])) is Answer.UNSAT
    engine.perform(calls.Simplify(x))
    for ask in (calls.UnsatCore(), calls.UnsatAssumptions()):
        with pytest.raises(Unsupported, match="after a simplification"):
            engine.perform(ask)
    assert engine.perform(calls.CheckSatAssuming([never])) is Answer.UNSAT
    assert engine.perform(calls.UnsatCore()) == [never]
    # Without assumptions cvc5 has its core still.
    assert kit.check(never) is Answer.UNSAT
    engine.perform(calls.Simplify(x))
    assert engine.perform(calls.UnsatCore()) == [never]


def test_what_is_declared_after_an_answer_leaves_it() -> None:
    for seed in range(8):
        kit = Kit("produce-models", seed=seed)
        x, v = kit.constant(INT), kit.variable(INT)
        assert kit.check(kit.term(">", BOOL, x, kit.value(INT, "3"))) is Answer.SAT
        kit.constant(INT)
        kit.perform(calls.DeclareSort("U", 0))
        kit.perform(calls.DeclareDatatypes([DatatypeSpec("D", (("d", ()),))]))
        kit.perform(calls.MakeFunction("f", [kit.sort(INT)], kit.sort(INT)))
        kit.perform(calls.Simplify(x))
        with pytest.raises(Unsupported, match="answer"):
            kit.perform(calls.DefineFunction("g", [v], kit.sort(INT), v))
        assert kit.perform(calls.GetValue([x]))
        kit.perform(calls.Push(1))
        kit.perform(calls.DefineFunction("g", [v], kit.sort(INT), v))


def test_levels(kit: Kit) -> None:
    x = kit.constant(BOOL)
    kit.perform(calls.Push(2))
    assert kit.check(x, kit.no(x)) is Answer.UNSAT
    kit.perform(calls.Pop(1))
    assert kit.perform(calls.CheckSat()) is Answer.SAT
    with pytest.raises(Rejected, match="pop"):
        kit.perform(calls.Pop(5))


def test_reset_keeps_what_was_set(kit: Kit) -> None:
    x = kit.constant(BOOL)
    for seed in range(4):
        kit.engine.random.seed(seed)
        kit.check(x)
        kit.perform(calls.Reset())
        assert kit.engine.session.logic == "HO_ALL"
        assert kit.check(kit.no(x)) is Answer.SAT
        assert kit.perform(calls.GetValue([x]))


def test_a_check_ends_by_itself() -> None:
    kit = Kit(logic="ALL")
    x, y = kit.constant(REAL), kit.constant(REAL)
    sine = kit.term("sin", REAL, kit.term("*", REAL, x, y))
    assert (
        kit.check(kit.term("=", BOOL, sine, kit.term("exp", REAL, kit.term("*", REAL, y, y, x))))
        is Answer.UNKNOWN
    )


def test_simplified_and_substituted_terms_are_equal(kit: Kit) -> None:
    x, y = kit.constant(INT), kit.constant(INT)
    for seed in range(4):
        kit.engine.random.seed(seed)
        term = kit.term("+", INT, x, x, y)
        simple = ApiTerm(0, term.sort, kit.perform(calls.Simplify(term)), TermKind.TERM)
        assert kit.check(kit.term("distinct", BOOL, term, simple)) is Answer.UNSAT
        replaced = kit.perform(calls.Substitute(term, [x], [y]))
        assert replaced == kit.term("+", INT, y, y, y).handle
        kit.perform(calls.ResetAssertions())


def test_values_that_are_no_terms_are_refused(kit: Kit) -> None:
    kit.perform(calls.DeclareSort("U", 0))
    u = kit.constant(make_sort("U"))
    assert kit.check(kit.term("=", BOOL, u, u)) is Answer.SAT
    (value,) = kit.perform(calls.GetValue([u]))
    with pytest.raises(Unsupported, match="uninterpreted"):
        kit.perform(calls.Equate(u, value))


def test_errors_are_distinguished() -> None:
    kit = Kit(logic="ALL")
    with pytest.raises(Rejected, match="kind"):
        kit.make(Head(HeadKind.OPERATOR, "bvadd"), bit_vector(8), kit.constant(bit_vector(8)))
    complement = kit.term(
        "set.complement", make_sort("Set", (), (INT,)), kit.constant(make_sort("Set", (), (INT,)))
    )
    with pytest.raises(LimitReached, match="experts"):
        kit.check(kit.term("=", BOOL, complement, complement.args[0]))
    with pytest.raises(Unsupported, match="no operator"):
        kit.term("at-most", BOOL, kit.constant(BOOL), indices=(1,))


# What was called


def test_functions_of_the_interface_are_counted_and_recorded() -> None:
    functions = api_functions("cvc5")
    assert len(functions) == len(set(functions)) > 300
    assert "Solver.checkSat" in functions and "TermManager.mkTerm" in functions
    assert "Solver.mkTerm" not in functions and "Term.__eq__" not in functions
    with calls_counted("cvc5") as called:
        kit = Kit()
        kit.check(kit.constant(BOOL))
    assert {"Solver.checkSat", "Solver.assertFormula"} <= called <= set(functions)
    assert "Solver.getProof" not in called
