"""The strategy ``skeletons``: Algorithm 1, translocation, binders, declarations, commands."""

from __future__ import annotations

import re
import time
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from base.version import VERSION
from corpus.acceptance import probe
from generator import (
    GenerationError,
    Library,
    SkeletonStrategy,
    StrategySettings,
    make_strategy,
)
from generator.strategies.skeletons import THEME_SHARES
from smtlib import CheckedScript, Kind, Term, check_script, postorder, read_script
from tests.generator.small import library_of, skeleton
from tests.sizes import size

INT = "(declare-const x Int)(declare-const y Int)"
REAL = "(declare-const r Real)"
A, B, C, D = range(1, 5)
ATOMS = [(INT, "(> x y)", A), (INT, "(= (* x y) 7)", B), (REAL, "(< r 1.0)", C), (REAL, "(= (/ r r) 1.0)", D)]


def strategy(library: Library, seed: int = 1, **options: object) -> SkeletonStrategy:
    return SkeletonStrategy(library, seed, **options)  # type: ignore[arg-type]


def check(text: str) -> CheckedScript:
    checked = check_script(read_script(text))
    assert not checked.errors, f"{[str(e) for e in checked.errors]}\n{text}"
    return checked


def declared_names(text: str) -> list[str]:
    return re.findall(r"^\(declare-fun (\S+) ", text, re.MULTILINE)


def free_symbols(script: CheckedScript) -> set[str]:
    """Symbols declared by the script that its assertions use, as the checker sees them."""
    found = set()
    for term in postorder(script.assertions):
        if term.op.kind is Kind.SYMBOL and term.op.declaration is not None:
            if term.op.declaration.origin == "declare":
                found.add(term.op.declaration.name)
    return found


# Algorithm 1


def test_a_rule_that_is_met_picks_the_next_atom() -> None:
    library = library_of(["(and (hole 0) (hole 1))"], ATOMS, [([A], [D])])
    followed = 0
    for test in strategy(library).generate(0, 300):
        for first, second in zip(test.atoms[::2], test.atoms[1::2], strict=True):
            if first == A:
                assert second == D
                followed += 1
    assert followed > 100


def test_a_rule_waits_until_its_whole_antecedent_is_there() -> None:
    followed = 0
    library = library_of(["(and (hole 0) (hole 1) (hole 2))"], ATOMS, [([A, B], [D])])
    for test in strategy(library).generate(0, 300):
        for start in range(0, len(test.atoms), 3):
            first, second, third = test.atoms[start : start + 3]
            if {first, second} == {A, B}:
                assert third == D
                followed += 1
    assert followed


def test_each_rule_is_used_at_most_once_in_a_skeleton() -> None:
    holes = " ".join(f"(hole {n})" for n in range(12))
    library = library_of([f"(or {holes})"], ATOMS, [([A], [D]), ([C], [B])])
    for test in strategy(library).generate(0, 100):
        assertions = len(test.skeletons)
        assert max(Counter(test.rules).values(), default=0) <= assertions
    assert any(test.rules for test in strategy(library).generate(0, 100))


def test_the_atom_that_a_rule_picks_has_a_signature_of_its_consequent() -> None:
    atoms = [*ATOMS, (INT, "(= (* x y) 9)", B)]
    library = library_of(["(and (hole 0) (hole 1))"], atoms, [([A], [B])])
    seen = set()
    for test in strategy(library).generate(0, 300):
        pairs = zip(test.atoms[::2], test.atoms[1::2], strict=True)
        seen |= {second for first, second in pairs if first == A}
    assert seen == {2, 5}


def test_a_rule_prefers_a_signature_that_is_not_there_yet() -> None:
    followed = 0
    library = library_of(["(and (hole 0) (hole 1))"], ATOMS, [([A], [A, C])])
    for test in strategy(library).generate(0, 200):
        for first, second in zip(test.atoms[::2], test.atoms[1::2], strict=True):
            if first == A:
                assert second == C
                followed += 1
    assert followed


def test_without_rules_any_atom_follows() -> None:
    library = library_of(["(and (hole 0) (hole 1))"], ATOMS)
    tests = list(strategy(library).generate(0, 300))
    assert not any(test.rules for test in tests)
    after_a = {b for t in tests for a, b in zip(t.atoms[::2], t.atoms[1::2], strict=True) if a == A}
    assert after_a == {A, B, C, D}


def test_a_rule_without_atoms_for_its_consequent_is_left_out() -> None:
    library = library_of(["(hole 0)"], ATOMS, [([A], [99]), ([A], [99, B])])
    assert [rule.id for rule in library.rules] == [2]
    assert all(test.text for test in strategy(library).generate(0, 50))


@pytest.mark.parametrize(("skeletons", "atoms"), [([], ATOMS), (["(hole 0)"], [])])
def test_a_library_with_nothing_to_fill_or_to_fill_with_says_so(
    skeletons: list[str], atoms: list[tuple[str, str, int]]
) -> None:
    with pytest.raises(GenerationError, match="exhume learn"):
        library_of(skeletons, atoms)


def test_atoms_of_core_alone_make_tests_too() -> None:
    library = library_of(["(hole 0)"], [("(declare-const p Bool)", "p", -1)])
    assert [name for name, _ in library.themes()] == ["Core"]
    for test in strategy(library).generate(0, 20):
        check(test.text)


# Symbols


def ranks_of(checked: CheckedScript) -> dict[str, tuple[str, ...]]:
    return {
        d.name: (*map(str, d.params), str(d.result))
        for term in postorder(checked.assertions)
        if (d := term.op.declaration) is not None
    }


def test_symbols_are_shared_between_atoms_only_at_equal_ranks(library: Library) -> None:
    """The checker would refuse anything else; here: sharing happens, and names tell their sorts."""
    shared = 0
    for test in strategy(library, seed=3).generate(0, 200):
        ranks = ranks_of(check(test.text))
        for name, rank in ranks.items():
            if re.fullmatch(r"i\d+", name):
                assert rank == ("Int",)
        body = test.text[test.text.index("(assert") :]
        shared += any(len(re.findall(rf"(?<![\w_]){name}(?![\w_])", body)) > 1 for name in ranks)
    assert shared > 150


def test_tests_share_symbols_between_their_assertions(library: Library) -> None:
    several = shared = 0
    for test in strategy(library).generate(0, 300):
        script = check(test.text)
        if len(script.assertions) > 1:
            uses = [set(re.findall(r"\b[a-z]+\d+\b", line)) for line in test.text.split("\n(assert")[1:]]
            several += 1
            shared += any(uses[i] & uses[j] for i in range(len(uses)) for j in range(i))
    assert shared > several / 2


def test_a_test_has_few_symbols_of_a_rank() -> None:
    library = library_of(["(and (hole 0) (hole 1) (hole 2) (hole 3))"], ATOMS)
    for test in strategy(library).generate(0, 200):
        names = declared_names(test.text)
        assert sum(name.startswith("i") for name in names) <= 7


def test_slots_of_one_atom_get_different_symbols_as_a_rule() -> None:
    library = library_of(["(hole 0)"], ATOMS[:1])
    tests = list(strategy(library).generate(0, 400))
    holes = sum(len(test.atoms) for test in tests)
    same = sum(len(re.findall(r"\(> (\w+) \1\)", test.text)) for test in tests)
    assert 0 < same < holes / 10


def test_declarations_are_exactly_the_symbols_that_occur_free(library: Library) -> None:
    for test in strategy(library, seed=5).generate(0, 300):
        names = [n for n in declared_names(test.text) if not n.startswith("F")]
        assert len(set(names)) == len(names)
        assert set(names) == {n for n in free_symbols(check(test.text)) if not n.startswith("F")}


# Binders

QUANTIFIED = ["(forall 2 (or (hole 0) (exists 1 (hole 1))))", "(exists 1 (forall 1 (forall 1 (hole 0))))"]


def binders_of(root: Term) -> list[Term]:
    return [t for t in postorder([root]) if t.op.kind is Kind.BINDER]


def test_binders_bind_what_is_below_them_or_nothing_and_take_its_sorts() -> None:
    library = library_of(QUANTIFIED, ATOMS)
    bound = unused = 0
    sorts = set()
    for test in strategy(library).generate(0, 200):
        for root in check(test.text).assertions:
            for binder in binders_of(root):
                inside = set(postorder(binder.args))
                for variable in binder.variables:
                    sorts.add(str(variable.sort))
                    if variable in inside:
                        bound += 1
                        assert variable.op.name[0] in "ir"
                    else:
                        unused += 1
    assert sorts == {"Int", "Real"}
    assert bound > 200
    assert unused > 200


def test_the_binders_around_holes_are_found_in_nested_skeletons() -> None:
    small = skeleton(1, "(or (forall 1 (and (hole 0) (exists 1 (hole 1)))) (forall 1 (hole 2)) (hole 3))")
    assert small.enclosing == ((0,), (0, 1), (2,), ())
    depth = 1000
    deep = f"{'(forall 1 ' * depth}(or {' '.join(f'(hole {n})' for n in range(depth))}){')' * depth}"
    start = time.process_time()
    assert skeleton(1, deep).enclosing == (tuple(range(depth)),) * depth
    assert time.process_time() - start < 1


def test_the_variables_of_one_binder_differ() -> None:
    library = library_of(["(forall 4 (and (hole 0) (hole 1)))"], ATOMS)
    for test in strategy(library).generate(0, 200):
        binders = re.findall(r"\(forall \(((?:\(\w+ \w+\) ?)+)\)", test.text)
        assert binders
        for names in binders:
            found = re.findall(r"\((\w+) ", names)
            assert len(found) == len(set(found)) == 4


def test_an_inner_binder_takes_no_variable_of_an_outer_one() -> None:
    library = library_of(QUANTIFIED[1:], ATOMS)
    for test in strategy(library).generate(0, 200):
        check(test.text)
        for line in re.findall(r"^\(assert .*", test.text, re.MULTILINE):
            names = re.findall(r"\((\w+) (?:Int|Real)\)", line)
            assert len(names) == len(set(names)) == 3


def test_a_symbol_bound_in_one_place_and_free_in_another_is_declared() -> None:
    """One name may be bound in one assertion and free in the next: then both are meant."""
    library = library_of(["(forall 1 (hole 0))", "(hole 0)"], ATOMS[:1])
    both = 0
    for test in strategy(library).generate(0, 300):
        bound = set(re.findall(r"\(forall \(\((\w+) Int\)\)", test.text))
        both += bool(bound & free_symbols(check(test.text)))
    assert both > 20


def test_a_symbol_that_is_only_bound_is_not_declared() -> None:
    library = library_of(["(forall 2 (hole 0))"], ATOMS[:1])
    without = [t.text for t in strategy(library).generate(0, 300) if not declared_names(t.text)]
    assert len(without) > 10
    for text in without:
        check(text)


def test_functions_and_regular_languages_are_never_bound() -> None:
    atoms = [
        ("(declare-fun f (Int) Bool)", "(f 1)", -1),
        ("(declare-const l RegLan)", '(str.in_re "a" l)', -1),
    ]
    for test in strategy(library_of(["(forall 2 (hole 0))"], atoms)).generate(0, 100):
        assert re.findall(r"\(z\d+ Bool\)", test.text)
        check(test.text)


# Whole tests


def test_tests_have_one_to_five_assertions_and_nearly_three_on_average(library: Library) -> None:
    counts = [t.text.count("\n(assert ") for t in strategy(library).generate(0, 3000)]
    assert set(counts) == {1, 2, 3, 4, 5}
    assert Counter(counts).most_common(1)[0][0] == 3
    assert 2.7 < sum(counts) / len(counts) < 2.9


def test_the_header_names_version_corpus_seed_index_and_origins(library: Library) -> None:
    test = strategy(library, seed=77).test(12)
    first, second, third = test.text.splitlines()[:3]
    corpus = library.fingerprint[:16]
    assert first == f"; exhume {VERSION} corpus {corpus} seed 77 index 12 strategy skeletons"
    assert second == (
        f"; skeletons {' '.join(map(str, test.skeletons))}; atoms {' '.join(map(str, test.atoms))}; "
        f"rules {' '.join(map(str, test.rules)) or 'none'}"
    )
    assert third.startswith("; issues z3#1")
    by_id = {a.id: a.issue for a in library.atoms}
    assert {by_id[a] for a in test.atoms} <= set(test.issues)


def test_the_header_shows_eight_issues_and_counts_the_others() -> None:
    atoms = [(INT, f"(> x {n})", -1) for n in range(30)]
    holes = " ".join(f"(hole {n})" for n in range(25))
    test = strategy(library_of([f"(and {holes})"], atoms)).test(0)
    line = test.text.splitlines()[2]
    assert line.count("#") == 8
    assert line.endswith(f"and {len(test.issues) - 8} more")
    assert "issues none" in strategy(_anonymous()).test(0).text


def _anonymous() -> Library:
    library = library_of(["(hole 0)"], ATOMS[:1])
    (skeleton,), (atom,) = library.skeletons, library.atoms
    return Library.of(
        "x",
        [type(skeleton)(1, skeleton.skeleton, skeleton.enclosing, "")],
        [type(atom).of(1, atom.atom, -1, "")],
        [],
    )


def test_mixed_themes_leave_the_theory_of_a_test_more_often_and_its_class_as_it_is(library: Library) -> None:
    leading = {atom.id: name for name, atoms in library.themes() for atom in atoms}
    shares = {}
    for themes in THEME_SHARES:
        made = strategy(library, themes=themes)
        inside = [
            leading[atom] == made.class_of(test.index)
            for test in made.generate(0, 400)
            for atom in set(test.atoms)
        ]
        shares[themes] = sum(inside) / len(inside)
    # A rule may leave the theme, too; an atom drawn from all atoms may be of the theme.
    assert shares["mixed"] < shares["one"] - 0.1
    one, mixed = strategy(library), strategy(library, themes="mixed")
    assert [one.class_of(i) for i in range(300)] == [mixed.class_of(i) for i in range(300)]


def test_a_share_of_the_tests_is_incremental(library: Library) -> None:
    tests = list(strategy(library, incremental=0.25).generate(0, 800))
    assert 150 <= sum(test.text.count("(check-sat)") > 1 or "(push" in test.text for test in tests) <= 250


def test_settings_are_in_the_header_unless_they_are_the_defaults(library: Library) -> None:
    assert "settings" not in strategy(library).test(3).text
    text = strategy(library, themes="mixed", incremental=0.5).test(3).text
    assert text.splitlines()[3] == "; settings themes=mixed incremental=0.5"


def test_settings_given_by_name_make_the_tests(library: Library) -> None:
    given = StrategySettings(seed=4, given=("themes=mixed", "incremental=0.5"))
    made = [t.text for t in make_strategy("skeletons", library, given).generate(0, 20)]
    direct = strategy(library, seed=4, themes="mixed", incremental=0.5)
    assert made == [t.text for t in direct.generate(0, 20)]


def test_incremental_tests_balance_push_and_pop_and_end_with_check_sat(library: Library) -> None:
    pushes = 0
    for test in strategy(library, incremental=1.0).generate(0, 200):
        depth = 0
        asserted = False
        commands = re.findall(r"^\((push|pop|assert|check-sat) ?(\d*)", test.text, re.MULTILINE)
        for name, number in commands:
            if name == "push":
                depth += int(number)
                pushes += 1
            elif name == "pop":
                depth -= int(number)
                assert depth >= 0
            elif name == "assert":
                asserted = True
            else:
                assert asserted
        assert commands[-1][0] == "check-sat"
        assert not re.search(r"\(check-sat\)\n\(check-sat\)", test.text)
        check(test.text)
    assert pushes > 200


@settings(max_examples=size(50, 150))
@given(seed=st.integers(0, 2**40), index=st.integers(0, 2**39), incremental=st.sampled_from([0.0, 0.5, 1.0]))
def test_every_test_is_well_sorted(library: Library, seed: int, index: int, incremental: float) -> None:
    check(strategy(library, seed=seed, incremental=incremental).test(index).text)


@pytest.mark.slow
@pytest.mark.parametrize("incremental", [0.0, 1.0])
@pytest.mark.few(1)
def test_z3_and_cvc5_accept_every_test(library: Library, incremental: float) -> None:
    texts = [t.text for t in strategy(library, 11, incremental=incremental).generate(0, size(60, 150))]
    for solver in ("z3", "cvc5"):
        for text, answer in zip(texts, probe(texts, solver), strict=True):  # type: ignore[arg-type]
            assert answer.accepted, f"{solver}: {answer.message}\n{text}"


def test_different_indices_and_seeds_give_different_tests(library: Library) -> None:
    bodies = [t.text.split("(set-logic", 1)[1] for t in strategy(library).generate(0, 1000)]
    assert len(set(bodies)) > 990
    other = [t.text.split("(set-logic", 1)[1] for t in strategy(library, seed=2).generate(0, 1000)]
    assert len(set(other) & set(bodies)) < 10


def test_what_is_to_be_distinct_never_gets_one_symbol_twice() -> None:
    library = library_of(["(hole 0)"], [(f"{INT}(declare-const z Int)", "(distinct x y z)", -1)])
    for test in strategy(library).generate(0, 200):
        applications = re.findall(r"\(distinct ([^)]*)\)", test.text)
        assert applications
        for names in applications:
            assert len(set(names.split())) == 3


def test_free_choices_lean_towards_atoms_of_the_sorts_in_use() -> None:
    """Twenty widths of bit-vectors, five atoms each: chance alone would rarely meet a width again."""
    atoms = [
        (f"(declare-const v (_ BitVec {width}))(declare-const w (_ BitVec {width}))", f"({op} v w)", -1)
        for width in range(1, 21)
        for op in ("bvult", "bvule", "bvslt", "bvsle", "=")
    ]
    library = library_of(["(and (hole 0) (hole 1))"], atoms)
    met = pairs = 0
    for test in strategy(library).generate(0, 300):
        widths = re.findall(r"\(declare-fun \w+ \(\) \(_ BitVec (\d+)\)\)", test.text)
        pairs += len(test.atoms) - 1
        met += len(test.atoms) - len(set(widths))
    assert met > pairs / 3


@pytest.mark.parametrize(
    ("learned", "made"),
    [
        ("(hole 0)", "(hole 0)"),
        ("(and (hole 0))", "(hole 0)"),
        ("(not (and (or (hole 0))))", "(not (hole 0))"),
        ("(and (hole 0) (xor (hole 1)))", "(and (hole 0) (hole 1))"),
        ("(forall 2 (or (exists 1 (and (hole 0)))))", "(forall 2 (exists 1 (hole 0)))"),
    ],
)
def test_a_connective_of_one_formula_is_left_out(learned: str, made: str) -> None:
    library = library_of([learned], [(f"{INT}(declare-const z Int)", "(< x y z)", -1)])
    assert [skeleton.skeleton.text for skeleton in library.skeletons] == [made]
    for test in strategy(library).generate(0, 20):
        checked = check_script(read_script(test.text))
        roots = [c.terms[0] for c in checked.commands if c.name == "assert"]
        assert not [t for t in postorder(roots) if t.name in ("and", "or", "xor") and len(t.args) < 2]


def test_a_connective_of_one_formula_in_an_atom_is_left_out() -> None:
    """Also where quoted parts of it look like one."""
    term = '(= (and (or p)) (and p (str.contains s "(and ""x)  )")) (|(or| q))'
    head = (
        "(declare-const p Bool)(declare-const q Bool)(declare-const s String)(declare-fun |(or| (Bool) Bool)"
    )
    (made,) = library_of(["(hole 0)"], [(head, term, -1)]).atoms
    names = [f"x{number}" for number in range(len(made.ranks))]
    assert made.atom.join(names) == '(= x0 (and x0 (str.contains x1 "(and ""x)  )")) (x2 x3))'
