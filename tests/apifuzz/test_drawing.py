"""What a run draws on: theories, logics, options, sorts, heads."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apifuzz import calls
from apifuzz.actions.life import draw_value
from apifuzz.actions.sorts import ensure_sort
from apifuzz.chance import Chance
from apifuzz.driving import new_run
from apifuzz.engines.text import TextEngine
from apifuzz.interface import Feature, Head, HeadKind, Option, OptionKind, head_text, read_head
from apifuzz.operators import known_theories, operators_for
from apifuzz.run import Settings
from apifuzz.scope import PRODUCERS, STANDARD, Scope, draw_logic, draw_producers, draw_scope
from apifuzz.sort_drawing import draw_sort
from apifuzz.trace import TraceError
from smtlib import default_theories, make_sort
from smtlib.environment import Environment
from smtlib.reader import read_sexps

KNOWN = known_theories(("z3", "cvc5"), TextEngine().capabilities())
EVERYTHING = frozenset(Feature)


def scopes(count: int = 300, **asked: object) -> list[Scope]:
    expected = {"theories": (), "quantifiers": None, **asked}
    return [draw_scope(KNOWN, EVERYTHING, chance=Chance(i), **expected) for i in range(count)]  # type: ignore[arg-type]


def test_every_theory_is_drawn_alone_and_with_others() -> None:
    drawn = scopes()
    assert frozenset().union(*(s.theories for s in drawn)) == KNOWN
    assert all("Core" in s.theories for s in drawn)
    sizes = Counter(len(s.theories) for s in drawn)
    assert sizes[2] > 30 and max(sizes) > 5


def test_a_theory_brings_what_it_needs() -> None:
    for scope in scopes():
        for theory in scope.theories:
            assert set(default_theories().theories[theory].needs) & KNOWN <= scope.theories


def test_theories_and_quantifiers_can_be_requested() -> None:
    for scope in scopes(20, theories=("UnicodeStrings", "Nonsense"), quantifiers=True):
        assert scope.theories == {"Core", "UnicodeStrings", "Ints"} and scope.quantifiers
    assert not any(s.quantifiers for s in scopes(50, quantifiers=False))
    assert 0 < sum(s.quantifiers for s in scopes()) < 150


def test_theories_that_the_solver_lacks_are_not_replaced_by_others() -> None:
    assert {scope.theories for scope in scopes(20, theories=("Nonsense",))} == {frozenset(("Core",))}


def test_only_what_the_solver_has_is_drawn() -> None:
    none = draw_scope(frozenset(("Core", "Ints")), frozenset(), (), True, Chance(1))
    assert none == Scope(frozenset(("Core", "Ints")), frozenset())


@pytest.mark.parametrize(
    ("theories", "features", "names"),
    [
        (("Ints",), (), {"QF_NIA", "ALL"}),
        (("ArraysEx",), (), {"QF_AX", "ALL"}),
        (("FixedSizeBitVectors", "ArraysEx"), (Feature.FUNCTIONS,), {"QF_AUFBV", "ALL"}),
        (("Ints", "Reals"), (Feature.QUANTIFIERS, Feature.SORTS), {"UFNIRA", "ALL"}),
        (("UnicodeStrings", "Ints"), (), {"QF_SNIA", "ALL"}),
        (("Bags",), (), {"ALL"}),
        ((), (), {"QF_UF", "ALL"}),
    ],
)
def test_a_logic_has_what_the_run_has(
    theories: tuple[str, ...], features: tuple[Feature, ...], names: set[str]
) -> None:
    scope = Scope(frozenset(("Core", *theories)), frozenset(features))
    assert {draw_logic(scope, False, Chance(i)) for i in range(60)} == names
    every = {name.replace("ALL", "HO_ALL") for name in names}
    assert {draw_logic(scope, True, Chance(i)) for i in range(60)} == every
    assert names - {"ALL"} <= STANDARD


@given(st.integers(-5, 50), st.integers(0, 2000), st.integers(0, 2**32))
def test_numbers_stay_in_an_option_s_range(low: int, span: int, seed: int) -> None:
    chance = Chance(seed)
    option = Option("n", OptionKind.INT, "0", low, low + span)
    assert low <= int(draw_value(option, chance)) <= low + span
    option = Option("x", OptionKind.FLOAT, "0", low, low + span)
    assert low <= float(draw_value(option, chance)) <= low + span


def test_values_of_options_are_of_their_kind() -> None:
    chance = Chance(1)
    values = {draw_value(Option("b", OptionKind.BOOL, "true"), chance) for _ in range(30)}
    assert values == {"true", "false"}
    modes = {draw_value(Option("m", OptionKind.MODE, "a", choices=("a", "b")), chance) for _ in range(30)}
    assert modes == {"a", "b"}
    assert all(int(draw_value(Option("n", OptionKind.INT, "0"), chance)) >= 0 for _ in range(30))
    assert draw_value(Option("t", OptionKind.TEXT, "as it is"), chance) == "as it is"


def test_features_are_switched_on_mostly_and_always_where_options_are_not_drawn() -> None:
    options = [Option(name, OptionKind.BOOL, "false") for name in PRODUCERS]
    assert len(draw_producers(options, False, Chance(1))) == len(PRODUCERS)
    drawn = Counter(name for i in range(200) for name, _ in draw_producers(options, True, Chance(i)))
    assert set(drawn) == set(PRODUCERS) and all(60 < count < 200 for count in drawn.values())
    assert draw_producers([Option("other", OptionKind.BOOL, "false")], False, Chance(1)) == ()


@pytest.mark.parametrize("families", [("z3",), ("cvc5",)])
def test_drawn_sorts_are_sorts(families: tuple[str, ...]) -> None:
    heads = set()
    environment = Environment(default_theories())
    for seed in range(60):
        run = new_run(TextEngine(families), Settings(), seed)
        run.prepare()
        run.make(calls.New())
        run.make(calls.MakeSort(make_sort("Bool")))
        for _ in range(25):
            sort = draw_sort(run)
            if sort is not None and not sort.is_function:
                assert ensure_sort(run, sort).sort is sort
                assert environment.sort(read_sexps(str(sort))[0]) is sort
                heads.add(sort.name)
    known = operators_for(families, TextEngine().capabilities(), TextEngine().capabilities().theories)
    # z3's (Set A) is another name of (Array A Bool), and never made.
    assert heads == known.heads - ({"->", "Set"} if families == ("z3",) else {"->"})


@pytest.mark.parametrize(
    ("name", "indices", "needs_as", "text"),
    [
        ("bvadd", (), False, "bvadd"),
        ("extract", (7, 0), False, "(_ extract 7 0)"),
        ("char", (97,), False, "(_ char #x61)"),
        ("seq.empty", (), True, "(as seq.empty)"),
    ],
)
def test_heads_of_operators_read_back(name: str, indices: tuple[int, ...], needs_as: bool, text: str) -> None:
    head = Head(HeadKind.OPERATOR, name, indices, None, needs_as)
    assert head_text(head) == text
    assert read_head(text) == head


@pytest.mark.parametrize("kind", [HeadKind.CONSTRUCTOR, HeadKind.SELECTOR, HeadKind.TESTER, HeadKind.UPDATER])
def test_heads_of_members_read_back(kind: HeadKind) -> None:
    for name in ("cons", "a b", "t1"):
        assert read_head(head_text(Head(kind, name))) == Head(kind, name)


@pytest.mark.parametrize(
    "text", ["()", "(as (as x))", "(_ f)", "(_ f -1)", "(_ f 99999999999)", "(is c)", "(as (apply))"]
)
def test_what_is_no_head_is_reported(text: str) -> None:
    with pytest.raises(TraceError):
        read_head(text)
