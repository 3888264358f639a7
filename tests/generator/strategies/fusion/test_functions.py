"""The fusion functions: each is proved invertible, for every constant and several widths."""

from __future__ import annotations

import itertools

import pytest

from generator.errors import GenerationError
from generator.strategies.fusion.functions import (
    FusionFunction,
    fusion_functions,
    instantiate,
    read_functions,
)
from smtlib import print_term
from smtlib.reader import SExp
from smtlib.signature import Bindings
from tests.generator.strategies.weaken.proving import answer

WIDTHS = (1, 4, 13)


def widths_of(function: FusionFunction) -> list[Bindings]:
    names = sorted({str(p.indices[0]) for p in function.sorts[:2] if p.indices})
    return [dict(zip(names, chosen, strict=True)) for chosen in itertools.product(WIDTHS, repeat=len(names))]


def constants_of(function: FusionFunction) -> list[dict[str, SExp]]:
    choices = itertools.product(*function.constants.values())
    return [dict(zip(function.constants, chosen, strict=True)) for chosen in choices]


def wrong_text(function: FusionFunction, widths: Bindings, constants: dict[str, SExp]) -> str:
    """A script that is satisfiable where an inverse gives something else than was put in."""
    made = instantiate(function, widths, constants)
    lines = ["(set-logic ALL)", function.declarations(widths), f"(assert (= z {print_term(made.of)}))"]
    wrong = [f"(distinct {v} {print_term(t)})" for v, t in made.inverses.items()]
    lines.append(f"(assert (or false {' '.join(wrong)}))\n(check-sat)")
    return "\n".join(lines)


@pytest.mark.parametrize("function", fusion_functions(), ids=lambda f: f.name)
def test_each_function_is_proved_invertible(function: FusionFunction) -> None:
    for widths, constants in itertools.product(widths_of(function), constants_of(function)):
        text = wrong_text(function, widths, constants)
        assert answer(text) == "unsat", text


@pytest.mark.parametrize(
    ("of", "x"),
    [("(* x y)", "(div z y)"), ("(+ (* 2 x) y)", "(div z 2)"), ("(* x 0)", "z")],
)
def test_the_proof_refuses_what_is_not_invertible(of: str, x: str) -> None:
    (function,) = read_functions(f"(fusion bad (x Int) (y Int) (z Int) :of {of} :x {x})", "test")
    assert answer(wrong_text(function, {}, {})) == "sat"


def test_every_theory_that_is_fused_has_functions() -> None:
    sorts = {str(f.sorts[0]) for f in fusion_functions()}
    assert {"Int", "Real", "String", "Bool"} <= sorts
    assert any("bvxor" in str(f.of) for f in fusion_functions())
    assert any("bvadd" in str(f.of) for f in fusion_functions())


def test_names_are_distinguished() -> None:
    names = [f.name for f in fusion_functions()]
    assert len(set(names)) == len(names) >= 30


@pytest.mark.parametrize(
    "text",
    [
        "(fusion)",
        "(fusion f (x Int) (y Int) (z Int) :x z)",
        "(fusion f (x Int) (y Int) (z Int) :of (+ x y))",
        "(fusion f (a Int) (y Int) (z Int) :of (+ x y) :x z)",
        "(fusion f (x Int) (y Int) (z Int) :of (+ x y) :x z :w y)",
        "(fusion f (x Int) (y Int) (z Int) :of (+ x y) :x",
        "(fusion f (x Int) (y Int) (z Int) :constants (c Int 1) :of (+ x y) :x z)",
        "fusion",
    ],
)
def test_a_malformed_file_is_reported_in_one_line(text: str) -> None:
    with pytest.raises(GenerationError, match=r"^user.smt2: [^\n]+$"):
        read_functions(text, "user.smt2")


def test_an_ill_sorted_function_is_reported() -> None:
    (function,) = read_functions("(fusion odd (x Int) (y Int) (z Int) :of (str.len x) :x z)", "test")
    with pytest.raises(GenerationError, match="fusion function odd"):
        instantiate(function, {}, {})
