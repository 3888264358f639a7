"""The strategy transplant: atoms of a corpus in formulas, with the formula's own terms in their slots."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from generator import Library, SeedSource, StrategySettings, make_strategy, seeds_of_folder
from generator.strategies.transplant import GUARDED, Graft
from smtlib import Kind, check_script, postorder, read_script
from tests.generator.small import atom, library_of

INT = "(declare-const x Int)(declare-const y Int)"
REAL = "(declare-const r Real)"
TEXT = "(declare-const s String)(declare-const n Int)"


def made_of(
    library: Library, source: SeedSource, start: int, stop: int, *given: str, seed: int = 1
) -> list[str]:
    made = make_strategy("transplant", library, StrategySettings(seed=seed, given=given), source)
    return [test.text for test in made.generate(start, stop)]


def from_one(folder: Path, text: str, atoms: list[tuple[str, str, int]], *given: str) -> list[str]:
    """Thirty tests of one seed and these atoms, without their headers."""
    (folder / "seeds").mkdir()
    (folder / "seeds" / "a.smt2").write_text(text + "(check-sat)")
    made = made_of(library_of(["(hole 0)"], atoms), seeds_of_folder(folder / "seeds"), 0, 30, *given)
    return [test.partition("(set-logic ALL)\n")[2] for test in made]


def test_slots_are_filled_with_the_formulas_terms(tmp_path: Path) -> None:
    seed = "(declare-const a Int)(declare-const b Int)(assert (= a (* b a)))(assert (< b a))"
    bodies = from_one(tmp_path, seed, [(INT, "(= (mod x y) x)", 1)], "foreign=0")
    assert all("(mod " in body and "new" not in body for body in bodies)
    # The atom stands as it was learned, over constants, literals and terms of the seed.
    first = re.search(r"\(= \(mod (a|b|\(\* b a\)) (a|b|\(\* b a\))\) (.*?)\)\)", bodies[0])
    assert first and first[1] == first[3]


def test_the_header_names_the_atoms_and_their_issues(tmp_path: Path) -> None:
    (tmp_path / "a.smt2").write_text("(declare-const a Int)(assert (< a 4))(check-sat)")
    library = library_of(["(hole 0)"], [(INT, "(= (mod x y) 3)", 1)])
    text = made_of(library, seeds_of_folder(tmp_path), 0, 1)[0]
    assert "; settings chain=10 mutations=1 foreign=0.1\n; from a.smt2\n" in text
    assert "; mutation 1 (atom 1 of z3#1) in assertion 1: (< a 4) -> (and (< ..) (= ..))\n" in text


def test_an_atom_that_is_the_whole_assertion_is_kept(tmp_path: Path) -> None:
    seed = "(declare-const a Int)(declare-const b Int)(assert (< a b))(assert (or (< b 4) (< 4 a)))"
    bodies = from_one(tmp_path, seed, [(INT, "(= (mod x y) x)", 1)], "chain=1", "foreign=0")
    joined = re.findall(r"\((and|or) \(< a b\) \(= \(mod ", "".join(bodies))
    assert set(joined) == {"and", "or"}
    assert all("(< a b)" in body for body in bodies)
    assert any(re.search(r"\(or \(= \(mod ", body) for body in bodies)


def test_a_variable_stays_below_its_binder(tmp_path: Path) -> None:
    seed = "(declare-fun p (Int) Bool)(declare-const c Int)(assert (and (< c 0) (forall ((v Int)) (p v))))"
    bodies = from_one(tmp_path, seed, [(INT, "(< x y)", 1)])
    inside = [body for body in bodies if re.search(r"\(forall \(\(v Int\)\) .*\(< [^()]*\bv\b", body)]
    assert inside
    for body in bodies:
        assert check_script(read_script(body)).errors == []


def test_a_slot_without_a_term_in_scope_gets_a_new_symbol(tmp_path: Path) -> None:
    seed = "(declare-const new0 Int)(declare-fun new1 (Int) Int)(assert (< (new1 new0) 4))"
    text = f"{TEXT}(declare-fun f (String) Int)"
    bodies = from_one(tmp_path, seed, [(text, "(= (str.len s) (f s) n)", 1)], "foreign=1", "chain=5")
    # The seed has names that begin with "new".
    assert "(declare-fun new!0 () String)\n" in bodies[0]
    assert "(declare-fun new!1 (String) Int)\n" in bodies[0]
    assert "(= (str.len new!0) (new!1 new!0) " in bodies[0]


def test_atoms_of_foreign_sorts_are_drawn_as_often_as_set(tmp_path: Path) -> None:
    atoms = [(INT, "(< x y)", 1), (TEXT, "(= (str.len s) n)", 2)]
    seed = "(declare-const a Int)(assert (< a 4))"
    other = tmp_path / "other"
    other.mkdir()
    assert not any("str.len" in body for body in from_one(tmp_path, seed, atoms, "foreign=0"))
    first = from_one(other, seed, atoms, "foreign=1", "chain=1")
    assert all("str.len" in body for body in first)


def test_literals_fill_no_slot(tmp_path: Path) -> None:
    bodies = from_one(tmp_path, "(assert (or (< 1 2) true))", [(INT, "(< x y)", 1)], "chain=1")
    assert all("(< new0 new1)" in body for body in bodies)


def test_few_atoms_are_of_truth_values_alone(tmp_path: Path) -> None:
    logic = [
        ("(declare-const p Bool)(declare-const q Bool)", f"({op} p q)", n) for n, op in enumerate("=" * 40)
    ]
    seed = "(declare-const b Bool)(declare-const c Bool)(declare-const a Int)(assert (or b c (< a 4)))"
    bodies = from_one(tmp_path, seed, [(INT, "(< x y)", 1), *logic], "chain=1", "foreign=0")
    assert sum("(= " in body for body in bodies) <= 8


def test_atoms_of_functions_alone_are_left_out(tmp_path: Path) -> None:
    atoms = [("(declare-fun f (Int) Bool)", "(f 3)", 1), (INT, "(< x y)", 1)]
    bodies = from_one(tmp_path, "(declare-const a Int)(assert (< a 4))", atoms)
    assert not any("(new" in body for body in bodies)


def test_functions_of_the_formula_take_the_place_of_an_atoms(tmp_path: Path) -> None:
    seed = "(declare-fun g (Int) Int)(declare-const a Int)(assert (< (g a) 4))"
    bodies = from_one(tmp_path, seed, [(f"{INT}(declare-fun f (Int) Int)", "(> (f x) (f y))", 1)])
    assert all("(declare-fun new" not in body for body in bodies)
    assert all(re.search(r"\(> \(g ", body) for body in bodies)


def test_transcendental_atoms_stay_with_formulas_that_have_some(tmp_path: Path) -> None:
    atoms = [(REAL, "(< (sin r) 1.0)", 1), (REAL, "(< r 1.0)", 2)]
    plain, other = tmp_path / "plain", tmp_path / "other"
    plain.mkdir()
    other.mkdir()
    bodies = from_one(plain, "(declare-const a Real)(assert (< a 4.0))", atoms)
    assert not any("(sin " in body for body in bodies)
    bodies = from_one(other, "(declare-const a Real)(assert (< (cos a) 4.0))", atoms)
    assert any("(sin " in body for body in bodies)


def test_a_foreign_theory_is_counted(tmp_path: Path) -> None:
    (tmp_path / "a.smt2").write_text("(declare-const a Real)(assert (< a 4.0))(check-sat)")
    library = library_of(["(hole 0)"], [(REAL, "(< (sin r) 1.0)", 1), (REAL, "(< r 1.0)", 2)])
    made = make_strategy("transplant", library, StrategySettings(), seeds_of_folder(tmp_path))
    list(made.generate(0, 20))
    assert made.counts[GUARDED] > 0  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("declarations", "term"),
    [
        ("(declare-sort U 0)(declare-const u U)", "(= u u)"),
        ("(declare-const a (Array Int Int))", "(= a (ite (exists ((i Int)) (= (select a i) 0)) a a))"),
        ("(declare-const p Bool)", "p"),
        ("(declare-const s String)", '(str.in_re s (re.range "a" s))'),
    ],
)
def test_an_atom_that_cannot_stand_anywhere_is_left_out(declarations: str, term: str) -> None:
    assert Graft.of(atom(1, declarations, term)) is None


def test_a_planted_atom_is_made_of_the_tables_own_terms(source: SeedSource) -> None:
    script = source[0].script()
    table = script.table.copy()
    graft = Graft.of(atom(1, INT, "(= (mod x 3) (+ x y))"))
    assert graft is not None
    fill = {slot: table.literal(str(n), slot.result) for n, slot in enumerate(graft.slots)}
    made = graft.planted(table, fill, "new")
    order = list(postorder([made[-1]]))
    assert all(table.make(term.op, term.args, term.sort) is term for term in order)
    own = [table.op(t.op.kind, t.op.name, t.op.text, t.op.indices, None, t.op.attributes) for t in order]
    assert all(op is term.op for op, term in zip(own, order, strict=True))
    assert all(arg.id < term.id for term in order for arg in term.args)
    assert not any(term.op.kind is Kind.SYMBOL for term in order)


def test_other_seeds_or_atoms_have_another_fingerprint(source: SeedSource, library: Library) -> None:
    other = library_of(["(hole 0)"], [(INT, "(< x y)", 1)])
    one, two = (make_strategy("transplant", a, StrategySettings(), source) for a in (library, other))
    assert one.fingerprint[:8] == two.fingerprint[:8] and one.fingerprint != two.fingerprint
