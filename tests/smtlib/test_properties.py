"""Properties of reader, checker and printer on random terms and random text."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from corpus.acceptance import probe
from smtlib import SmtLibError, check_script, print_script, read_script
from tests.known import GOOD, KNOWN, Known
from tests.sizes import size
from tests.smtlib.solving import is_same_for_z3, is_well_sorted
from tests.smtlib.strategies import scripts

SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)
many = settings(max_examples=size(40, 100), suppress_health_check=SLOW)


def normal(text: str) -> str:
    checked = check_script(read_script(text))
    assert [str(e) for e in checked.errors] == [], text
    return print_script(checked)


@pytest.mark.slow
@many
@given(scripts())
def test_random_terms_are_well_sorted_and_print_as_they_read(script: tuple[str, frozenset[str]]) -> None:
    printed = normal(script[0])
    assert normal(printed) == printed


@many
@given(scripts(frozenset({"z3"})))
def test_random_terms_print_as_z3_reads_them(script: tuple[str, frozenset[str]]) -> None:
    """Whatever shadows whatever: the printed term is the original, names of bound variables apart."""
    assert is_same_for_z3(script[0], normal(script[0]))


def collect(solvers: frozenset[str], count: int) -> list[str]:
    """Printed random scripts that the solvers know."""
    found: list[str] = []

    @settings(max_examples=count, suppress_health_check=SLOW, phases=[Phase.generate], database=None)
    @given(scripts(solvers))
    def draw(script: tuple[str, frozenset[str]]) -> None:
        text, takers = script
        if solvers <= takers:
            found.append(normal(text))

    draw()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["z3", "cvc5"])
@pytest.mark.few(1)
def test_solvers_accept_random_terms(solver: str) -> None:
    texts = ["(set-logic ALL)\n" + t for t in dict.fromkeys(collect(frozenset({solver}), size(120, 200)))]
    assert len(texts) > size(48, 80)
    refused = [
        (text, said.message)
        for text, said in zip(texts, probe(texts, solver), strict=True)
        if not is_well_sorted(said)
    ]
    assert not refused, "\n\n".join(f"{t}{m[:300]}" for t, m in refused[:5])


# Text that is no SMT-LIB

WORDS = sorted({w for k in KNOWN for w in k.text.replace("(", " ( ").replace(")", " ) ").split()})


def survives(text: str) -> None:
    """Reading and checking end, and complain in their own words only."""
    try:
        checked = check_script(read_script(text))
    except SmtLibError as error:
        assert error.message
        return
    for sort_error in checked.errors:
        assert sort_error.line >= 1
        assert sort_error.column >= 1
    printed = print_script(checked)
    assert print_script(check_script(read_script(printed))) == printed


@many
@given(st.text())
@example("\u2003\x1c\x85")
@example("(assert |a\\b|)")
def test_any_text_is_read_or_refused(text: str) -> None:
    survives(text)


@many
@given(st.lists(st.sampled_from(WORDS), max_size=40))
def test_any_words_are_read_or_refused(words: list[str]) -> None:
    survives(" ".join(words))


@settings(many, max_examples=size(100, 300))
@given(st.sampled_from(GOOD), st.randoms(use_true_random=False))
def test_damaged_scripts_are_read_or_refused(case: Known, source: random.Random) -> None:
    """A known script with one s-expression or word dropped, doubled or replaced by one of another script."""
    pieces = case.text.replace("(", " ( ").replace(")", " ) ").split(" ")
    for _ in range(source.randint(1, 3)):
        place = source.randrange(len(pieces))
        end = piece_end(pieces, place)
        other = source.choice((source.choice(WORDS), "()", "(a)", "5", '"s"', ":k", "_", "(x Int)", "|let|"))
        change = source.choice(("drop", "double", "replace"))
        new = {"drop": [], "double": pieces[place:end] * 2, "replace": [other]}[change]
        pieces[place:end] = new
        if not pieces:
            break
    survives(" ".join(pieces))


def piece_end(pieces: list[str], place: int) -> int:
    """Behind the s-expression that begins at ``place``."""
    depth = 0
    for position in range(place, len(pieces)):
        depth += (pieces[position] == "(") - (pieces[position] == ")")
        if depth <= 0:
            return position + 1
    return len(pieces)


# Names do not matter


@pytest.mark.slow
@many
@given(scripts(), st.sampled_from(("z", "|q q|", "v!7")))
def test_renaming_bound_variables_keeps_the_shape(script: tuple[str, frozenset[str]], name: str) -> None:
    """Printing renames what shadows; a text that is printed already has its bound variables renamed here."""
    printed = normal(script[0])
    renamed = printed.replace("|a b|", name)
    if name in printed:
        return
    assert normal(renamed) == renamed


@pytest.mark.slow
@many
@given(scripts())
def test_a_let_around_a_term_changes_nothing(script: tuple[str, frozenset[str]]) -> None:
    text = script[0]
    declarations, assertion = text[: text.index("(assert ")], text[text.index("(assert ") + 8 : -2]
    for around in (
        f"(let ((fresh.name {assertion})) fresh.name)",
        f"(let ((f1 true) (fresh.name {assertion})) (let ((f2 fresh.name)) f2))",
        f"(let ((f1 true)) {assertion})",
    ):
        assert normal(f"{declarations}(assert {around})") == normal(text)
