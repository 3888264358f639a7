"""z3's operators and values: each that the theory files ascribe to it is made, in every way there is."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
import z3

from apifuzz.engines.z3.engine import Z3Engine
from apifuzz.interface import ApiSort, Head, HeadKind
from smtlib import BOOL, INT, REAL, STRING, Signature, Sort, default_theories, make_sort
from smtlib.signature import SortPattern
from smtlib.sorts import REGLAN, ROUNDING_MODE, array, bit_vector, floating_point

pytestmark = pytest.mark.usefixtures("own_context_only")

UNICODE = make_sort("Unicode")


def over(name: str, *args: Sort) -> Sort:
    return make_sort(name, (), args)


B8 = bit_vector(8)
SAMPLES = (
    *(
        INT,
        BOOL,
        REAL,
        B8,
        bit_vector(1),
        bit_vector(2),
        bit_vector(4),
        bit_vector(18),
        STRING,
        REGLAN,
        UNICODE,
    ),
    *(floating_point(2, 3), floating_point(3, 5), ROUNDING_MODE, make_sort("FiniteField", (5,))),
    *(array(INT, B8), array(B8, BOOL), array(INT, BOOL), over("Seq", INT), over("Seq", B8), over("Set", INT)),
    *(over("FiniteSet", INT), over("List", INT), over("->", INT, INT), over("->", INT, BOOL)),
    *(over("->", UNICODE, BOOL), over("->", INT, INT, INT), over("->", INT, INT, INT, INT)),
)
INDICES = (3, 5, 4, 2, 1, 0, 8)
ALONE = frozenset(("/", "div", "re.++", "re.union", "re.inter", "re.diff", "xor", "distinct"))


@pytest.fixture(scope="module")
def engine() -> Z3Engine:
    made = Z3Engine()
    made.random.seed(1)
    made.new()
    return made


def known() -> list[Signature]:
    theories = Z3Engine().capabilities().theories
    return [
        s for s in default_theories().signatures() if (not s.only or "z3" in s.only) and s.theory in theories
    ]


def fits(pattern: SortPattern, sort: Sort) -> bool:
    if pattern.is_parameter:
        return True
    same = (pattern.name, len(pattern.args), len(pattern.indices))
    return same == (sort.name, len(sort.args), len(sort.indices)) and all(map(fits, pattern.args, sort.args))


def instances(signature: Signature) -> Iterator[tuple[tuple[int, ...], tuple[Sort, ...], Sort]]:
    """A handful of indices, argument sorts and result sort; one with three arguments where it takes them."""
    found = list(itertools.islice(_all_instances(signature), 200))
    yield from found[:: max(1, len(found) // 4)][:4]
    if signature.associativity and found:
        indices, sorts, _ = found[0]
        more = (sorts[0], *sorts) if signature.associativity == ":right-assoc" else (*sorts, sorts[-1])
        result = signature.apply(indices, more, None)
        if result is not None:
            yield indices, more, result


def _all_instances(signature: Signature) -> Iterator[tuple[tuple[int, ...], tuple[Sort, ...], Sort]]:
    candidates = [[s for s in SAMPLES if fits(p, s)] for p in signature.params]
    results = [s for s in SAMPLES if fits(signature.result, s)] if signature.needs_as else [None]
    choices = [[int(i)] if i.isdigit() else list(INDICES) for i in signature.indices]
    if len(choices) > 3:
        choices = [[2] for _ in choices]
    for sorts in itertools.product(*candidates):
        for expected in results:
            for indices in itertools.product(*choices):
                result = signature.apply(indices, sorts, expected)
                if result is not None:
                    yield indices, sorts, result
                    break


def applications(engine: Z3Engine, signature: Signature) -> Iterator[tuple[Sort, list[Any]]]:
    """For each instance that the engine takes the result sort and the ways to make it over constants."""
    making = engine.terms
    for indices, sorts, result in instances(signature):
        if engine.takes(signature, sorts, result):
            args = [z3.Const(f"k{i}", engine.sorts.of(s)) for i, s in enumerate(sorts)]
            head = Head(HeadKind.OPERATOR, signature.name, indices)
            yield result, making.ways(head, result, args, sorts)


@pytest.mark.parametrize("theory", sorted({s.theory for s in known()}))
def test_every_operator_is_made_in_every_way_and_has_its_sort(engine: Z3Engine, theory: str) -> None:
    for signature in (s for s in known() if s.theory == theory):
        made = 0
        for result, ways in applications(engine, signature):
            terms = [way() for way in ways]
            for term in terms:
                assert term.sort().eq(engine.sorts.of(result)), f"{signature}: {term.sort()}"
            for term in terms[:-1]:
                assert not engine.session.differ(term, terms[-1]), f"{signature}: {term} is not {terms[-1]}"
            made += 1
        alone = signature.name in ALONE and len(signature.params) <= 1
        assert made or alone, f"{signature} is never made"


def test_only_what_has_no_call_is_left_to_the_parser(engine: Z3Engine) -> None:
    has_call = {
        signature.name
        for signature in known()
        if any(len(ways) > 1 for _, ways in applications(engine, signature))
    }
    transcendental = {s.name for s in known() if s.theory == "Transcendental"}
    assert {s.name for s in known()} - has_call - transcendental == {
        *("re.of.pred", "re.reverse", "re.xor", "str.is_digit"),
        *("nil", "insert", "head", "tail"),
    }


VALUES: tuple[tuple[Sort, tuple[str, ...]], ...] = (
    (BOOL, ("true", "false")),
    (INT, ("0", "5", "(- 3)", str(2**70), f"(- {2**63})", str(2**32 - 1))),
    (REAL, ("0.0", "1.5", "(- 2.0)", "(/ 1 3)", "(/ (- 1.0) 3.0)", "(- (/ 1.0 7.0))")),
    (B8, ("#b00000001", "#xff", "#x80", "(_ bv7 8)")),
    (bit_vector(70), ("#b" + "1" * 70,)),
    (STRING, ('""', '"a"', '"a""b"', r'"\u{41}b\u{2ffff}"', r'"\u0041"', r'"\u{5c}u{41}"', r'"\u{d800}"')),
    (floating_point(3, 5), ("(fp #b0 #b001 #b0001)", "(fp #b1 #b000 #b0001)", "(fp #b1 #b110 #xf)")),
    (floating_point(3, 5), ("(_ +oo 3 5)", "(_ -oo 3 5)", "(_ NaN 3 5)", "(_ -zero 3 5)", "(_ +zero 3 5)")),
    (
        floating_point(8, 24),
        ("(fp #b0 #x7f #b00000000000000000000000)", "(fp #b1 #x81 #b00000000000000000000001)"),
    ),
    (floating_point(11, 53), ("(fp #b0 #b01111111111 #x0000000000001)",)),
    (ROUNDING_MODE, ("RNE", "RNA", "RTP", "RTN", "RTZ")),
    (make_sort("FiniteField", (5,)), ("(as ff3 (_ FiniteField 5))", "#f4m5")),
    (UNICODE, ("(_ Char 97)",)),
    (over("Seq", INT), ("(as seq.empty (Seq Int))", "(seq.unit 3)")),
    (array(INT, BOOL), ("((as const (Array Int Bool)) true)",)),
)


@pytest.mark.parametrize(("sort", "texts"), VALUES, ids=str)
def test_every_way_to_say_a_value_gives_the_same(
    engine: Z3Engine, sort: Sort, texts: tuple[str, ...]
) -> None:
    own = ApiSort(1, sort, engine.sorts.of(sort))
    for text in texts:
        ways = engine.terms.value_ways(own, text)
        terms = [way() for way in ways if not (way is ways[-1] and text.startswith("#f"))]
        assert len({z3.simplify(term).sexpr() for term in terms}) == 1, text
        assert all(term.sort().eq(own.handle) for term in terms)
