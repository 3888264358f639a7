"""The strategies typefuzz and opfuzz: their mutants are well sorted, repeatable and accepted."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from generator import (
    GenerationError,
    SeedSource,
    StrategySettings,
    make_strategy,
    seeds_of_folder,
)
from generator.strategies.mutation.strategy import NO_OPERATOR
from smtlib import Kind, Term, check_script, postorder, read_script


def mutants_of(source: SeedSource, name: str, start: int, stop: int, *given: str, seed: int = 1) -> list[str]:
    made = make_strategy(name, None, StrategySettings(seed=seed, given=given), source)
    return [test.text for test in made.generate(start, stop)]


def heads(text: str) -> Counter[str]:
    checked = check_script(read_script(text))
    return Counter(t.op.text for t in postorder(checked.assertions) if t.op.kind is not Kind.ANNOTATION)


def test_the_header_tells_seed_formula_settings_and_chain(source: SeedSource) -> None:
    lines = mutants_of(source, "typefuzz", 34, 35, "chain=10")[0].splitlines()
    assert "seed 1 index 34 strategy typefuzz" in lines[0]
    assert "chain=10 mutations=1" in lines[1]
    assert lines[2].startswith("; from f0")
    assert [line.split(" (")[0] for line in lines[4:9]] == [f"; mutation {n}" for n in range(1, 6)]
    assert lines[9] == "(set-logic ALL)"


def test_a_chain_starts_at_its_seed_and_continues_link_by_link(source: SeedSource) -> None:
    made = make_strategy("opfuzz", None, StrategySettings(given=("chain=5",)), source)
    texts = [test.text for test in made.generate(0, 5)]
    origin = texts[0].split("; from ")[1].split("\n")[0]
    seed = next(s for s in source if s.origin == origin)
    for before, after in zip([seed.script().text(), *texts], texts, strict=False):
        changed = heads(before) - heads(after)
        assert sum(changed.values()) <= 2  # one operator, unless it stood twice and was shared


def test_several_mutations_between_tests(source: SeedSource) -> None:
    text = mutants_of(source, "typefuzz", 1, 2, "mutations=3")[0]
    assert "; mutation 6 (" in text


def test_opfuzz_keeps_arguments_and_literals(source: SeedSource) -> None:
    made = make_strategy("opfuzz", None, StrategySettings(given=("chain=1",)), source)
    for test in made.generate(0, 60):
        seed = next(s for s in source if f"; from {s.origin}\n" in test.text)
        old, new = (
            Counter(t.op.text for t in postorder(check_script(read_script(x)).assertions) if is_leaf(t))
            for x in (seed.script().text(), test.text)
        )
        assert old == new


def is_leaf(term: Term) -> bool:
    return term.op.kind in (Kind.LITERAL, Kind.VARIABLE) or (term.op.kind is Kind.SYMBOL and not term.args)


def test_quantifiers_are_swapped(tmp_path: Path) -> None:
    text = "(declare-fun p (Int) Bool)(assert (forall ((x Int)) (p x)))(check-sat)"
    (tmp_path / "a.smt2").write_text(text)
    texts = mutants_of(seeds_of_folder(tmp_path), "opfuzz", 0, 3, "chain=1")
    assert all("(assert (exists ((x Int)) (p x)))" in text for text in texts)


def test_a_formula_without_other_operators_is_counted_and_left(tmp_path: Path) -> None:
    (tmp_path / "a.smt2").write_text("(declare-fun p () Bool)(assert p)(check-sat)")
    made: Any = make_strategy("opfuzz", None, StrategySettings(), seeds_of_folder(tmp_path))
    with pytest.raises(GenerationError, match="makes no test from 100 seeds in a row"):
        next(made.generate(0, 1))
    (tmp_path / "b.smt2").write_text("(declare-fun f (Int) Bool)(assert (f 1))(check-sat)")
    made = make_strategy("opfuzz", None, StrategySettings(), seeds_of_folder(tmp_path / "b.smt2"))
    with pytest.raises(GenerationError):
        next(made.generate(0, 1))
    assert made.counts[NO_OPERATOR] > 0


def test_seeds_that_a_solver_may_refuse_are_left_and_the_reason_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.smt2").write_text("(declare-const x (_ FloatingPoint 5 11))(assert (= x x))(check-sat)")
    made = make_strategy("eliminate", None, StrategySettings(), seeds_of_folder(tmp_path))
    with pytest.raises(GenerationError, match=r"\(the last: a floating-point format that needs an option\)"):
        next(made.generate(0, 1))


def test_operators_can_come_from_a_file(source: SeedSource, tmp_path: Path) -> None:
    file = tmp_path / "operators.smt2"
    file.write_text("(theory Mine :funs ((xor Bool Bool Bool :left-assoc) (nand Bool Bool Bool)))")
    texts = mutants_of(source, "typefuzz", 0, 40, f"operators={file}", "literals=0", "chain=4")
    added = Counter[str]()
    for text in texts:
        lines = [line for line in text.splitlines() if line.startswith("; mutation")]
        added.update(line.split(" -> (")[1].split()[0] for line in lines if " -> (" in line)
    assert added["xor"] > 0
    assert added["nand"] > 0
    # Functions of the seeds are operators always.
    assert not {"and", "or", "=", "+", "bvadd"} & set(added)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot read the operators in"),
        ("(theory", "never closed"),
        ("(declare-fun f () Int)", "expected .theory NAME"),
        ("", "declares no operators"),
    ],
)
def test_a_bad_file_of_operators_is_one_line(
    source: SeedSource, tmp_path: Path, content: str | None, message: str
) -> None:
    file = tmp_path / "operators.smt2"
    if content is not None:
        file.write_text(content)
    with pytest.raises(GenerationError, match=message) as caught:
        mutants_of(source, "typefuzz", 0, 1, f"operators={file}")
    assert "\n" not in str(caught.value)
    assert str(file) in str(caught.value)


@pytest.mark.slow
@pytest.mark.thorough
def test_what_one_solver_alone_knows_is_used_for_that_solver_only(tmp_path: Path) -> None:
    (tmp_path / "a.smt2").write_text(
        "(declare-fun x () (_ BitVec 8))(declare-fun y () Int)(assert (= (bvadd x #x01) x))"
        "(assert (> (+ y 1) (ubv_to_int x)))(check-sat)"
    )
    source = seeds_of_folder(tmp_path)

    def used(*solvers: str) -> set[str]:
        made = make_strategy("typefuzz", None, StrategySettings(solvers=solvers), source)
        found: set[str] = set()
        for test in made.generate(0, 300):
            found.update(heads(test.text))
        return found

    z3_only, cvc5_only = {"ext_rotate_left", "bvumul_noovfl", "rem"}, {"int.pow2", "div_total", "bvite"}
    assert used("z3[smt.arith.solver=6]") & z3_only
    assert used("cvc5") & cvc5_only
    assert not used("z3", "cvc5") & (z3_only | cvc5_only)
    assert not used("z3", "mine=true") & (z3_only | cvc5_only)


def test_the_worked_examples_of_the_documentation_are_what_comes_out(tmp_path: Path) -> None:
    page = (Path(__file__).resolve().parents[3] / "docs" / "strategies.md").read_text("utf-8")
    seed, typefuzz, opfuzz = (part.split("```")[0] for part in page.split("```smt2\n")[1:])
    (tmp_path / "replace.smt2").write_text(seed)
    source = seeds_of_folder(tmp_path / "replace.smt2")
    for required, (made,) in (
        (typefuzz, mutants_of(source, "typefuzz", 2, 3)),
        (opfuzz, mutants_of(source, "opfuzz", 2, 3, seed=3)),
    ):
        # All but exhume's version.
        assert made.split(" ", 3)[3] == required.split(" ", 3)[3]
