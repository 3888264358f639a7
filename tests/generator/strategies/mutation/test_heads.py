"""Exchanging heads in text: which places there are, what fits, and that the text stays a formula."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from generator import Seed
from generator.strategies.mutation.heads import HeadChain, Sites, find_sites
from generator.strategies.mutation.operators import operators_for
from smtlib import check_script, read_script
from tests.generator.small import formulas

BOTH = operators_for(("z3", "cvc5"))
DOUBLED = "(+ x 1)"
for _ in range(9):
    DOUBLED = f"(let ((d {DOUBLED})) (* d (- d x)))"


def chain_of(text: str) -> tuple[HeadChain, Sites]:
    script = Seed("seed", text).script()
    found = find_sites(script, BOTH)
    return HeadChain(script, found), found


def heads_seen(text: str, draws: int = 2000) -> Counter[str]:
    """The heads of the sites that changed, as the seed has them."""
    chain, found = chain_of(text)
    chance = random.Random(1)
    seen: Counter[str] = Counter()
    for _ in range(draws):
        number = int(chance.random() * len(found.sites))
        site = found.sites[number]
        if chain.change(number, chance):
            seen[found.lines[site.line][site.piece]] += 1
    return seen


@pytest.mark.parametrize("text", formulas())
def test_before_any_change_the_text_is_the_seed(text: str) -> None:
    script = Seed("seed", text + "\n(check-sat)\n").script()
    table = check_script(read_script(script.text())).table
    again = check_script(read_script(HeadChain(script, find_sites(script, BOTH)).text()))
    assert not again.errors
    assert len(again.table) == len(table)
    assert len(again.assertions) == len(script.assertions)


@pytest.mark.parametrize(
    "text",
    [
        # Written with let, where a term is one place.
        f"(declare-fun x () Int)(assert (> {DOUBLED} 7))(check-sat)",
        # With let below what binds the variables of its terms.
        f"(declare-fun z () Int)(assert (forall ((x Int)) (> {DOUBLED} z)))(check-sat)",
        "(declare-datatype L ((nil) (cons (hd Int) (tl L))))(declare-fun l () L)"
        f"(assert (match l ((nil true) ((cons x t) (> {DOUBLED} 1)))))(check-sat)",
        # Annotations and patterns, names that begin like the printer's.
        "(declare-fun $ (Int) Int)(declare-fun $0 (Int) Int)(assert (forall ((y Int)) "
        "(! (= ($0 ($ (+ y y))) (* (+ y y) 2)) :pattern (($0 ($ (+ y y)))))))(check-sat)",
        "(declare-datatype L ((nil) (cons (hd Int) (tl L))))(declare-fun l () L)"
        "(assert (match l ((nil true) ((cons h t) (> (+ h 1) (- h 1))))))(check-sat)",
    ],
)
def test_what_the_printer_prints_stays_well_sorted(text: str) -> None:
    chain, found = chain_of(text)
    chance = random.Random(3)
    made = {chain.text()}
    for _ in range(60):
        chain.change(int(chance.random() * len(found.sites)), chance)
        made.add(chain.text())
        assert not check_script(read_script(chain.text())).errors, chain.text()
    assert len(made) > 20


def test_a_shared_term_is_one_place_where_it_is_printed_once() -> None:
    text = f"(declare-fun x () Int)(assert (> {DOUBLED} 7))(check-sat)"
    assert len(chain_of(text)[1].sites) < 40


def test_patterns_and_required_values_stay() -> None:
    text = (
        "(declare-fun f (Int) Int)(declare-fun g (Int) Int)(declare-fun s () String)"
        "(assert (forall ((x Int)) (! (> (^ x 2) 0) :pattern ((f x)))))"
        '(assert (str.in_re s (re.range "a" "b")))(check-sat)'
    )
    assert set(heads_seen(text)) == {"forall", ">", "^"}


def test_powers_and_ranges_come_only_where_solvers_take_them() -> None:
    text = (
        "(declare-fun x () Int)(declare-fun y () Int)(assert (> (* x 2) (* x y)))"
        "(assert (> (* x 99) (* x (- 2))))(check-sat)"
    )
    chain, found = chain_of(text)
    chance = random.Random(4)
    powers: set[str] = set()
    for _ in range(3000):
        chain.change(int(chance.random() * len(found.sites)), chance)
        powers.update(part.split(")")[0] for part in chain.text().split("(^ ")[1:])
    assert powers == {"x 2"}


def test_functions_of_the_seed_change_places() -> None:
    text = (
        "(declare-datatype D ((a) (b)))(declare-fun f (Int) Int)(declare-fun g (Int) Int)(declare-fun d () D)"
        "(assert (and ((_ is a) d) (= (f 1) 2)))(check-sat)"
    )
    chain, found = chain_of(text)
    chance = random.Random(5)
    said = ""
    for _ in range(200):
        chain.change(int(chance.random() * len(found.sites)), chance)
        said += chain.text()
    assert "((_ is b) d)" in said and "(g 1)" in said


def test_what_is_printed_names_heads_as_they_were_then() -> None:
    chain, _ = chain_of("(declare-fun x () Int)(assert (< (+ x 1) 50))(check-sat)")
    chance = random.Random(6)
    before = "<"
    for step in range(1, 41):
        assert chain.change(0, chance)
        line = chain.log.text().splitlines()[-1]
        after = chain.text().split("(assert (")[1].split()[0]
        expected = f"; mutation {step} (operator) in assertion 1: ({before} (+ ..) 50) -> ({after} (+ ..) 50)"
        assert line == expected
        before = after
    chain.change(1, chance)
    chain.change(0, chance)
    inner = chain.text().split("(assert (")[1].split("(")[1].split()[0]
    lines = chain.log.text().splitlines()
    assert lines[0] == "; 20 mutations before these"
    assert len(lines) == 23
    assert f"({inner} ..) 50)" in lines[-1]
