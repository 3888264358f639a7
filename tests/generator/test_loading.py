"""Libraries from corpora: what the targets accept, the variants, and the strategies by name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from corpus.acceptance import Acceptance, probe
from corpus.probing import solver_id, store_acceptance
from corpus.store import Corpus
from generator import (
    STRATEGIES,
    EnumerationStrategy,
    GenerationError,
    Library,
    SkeletonStrategy,
    StrategySettings,
    load_library,
    make_strategy,
)
from generator.loading import select_usable, target_families
from generator.naming import prefix_of
from generator.refusals import refused_atom, refused_seed
from generator.seeds.script import SeedScript
from smtlib import check_script, read_script
from tests.generator.small import atom, library_of, make_corpus, script_of


def texts_of(library: Library) -> str:
    return "\n".join(" ".join((a.atom.text, *a.atom.prelude)) for a in library.atoms)


def load(path: Path, *solvers: str, **options: object) -> Library:
    with Corpus.open(path) as corpus:
        return load_library(corpus, solvers, **options)  # type: ignore[arg-type]


def test_only_atoms_that_every_target_accepts_are_in(corpus_path: Path) -> None:
    both, cvc5, z3 = (load(corpus_path, *s) for s in (("z3", "cvc5"), ("cvc5",), ("z3",)))
    assert "set.subset" in texts_of(cvc5)
    assert "fp.sqrt" in texts_of(z3)
    assert "set.subset" not in texts_of(both)
    assert "fp.sqrt" not in texts_of(both)
    assert {a.id for a in both.atoms} == {a.id for a in cvc5.atoms} & {a.id for a in z3.atoms}
    assert {s.id for s in both.skeletons} <= {s.id for s in z3.skeletons}


def test_without_targets_everything_well_sorted_is_in(corpus_path: Path) -> None:
    everything = load(corpus_path)
    assert {"set.subset", "fp.sqrt", "RegLan"} <= {
        word for word in ("set.subset", "fp.sqrt", "RegLan") if word in texts_of(everything)
    }


def test_releases_and_unknown_solvers_count_by_their_name(corpus_path: Path) -> None:
    with Corpus.open(corpus_path) as corpus:
        assert target_families(corpus, ["z3==4.8.5", "cvc5", "mine=./solver"]) == ["cvc5", "z3"]
        assert target_families(corpus, ["mine=./mine"]) == []
        assert target_families(corpus, ["mine=./z3"]) == ["z3"]
        assert target_families(corpus, ["z3==4.8.5[a=b,c=d]", "cvc5[e]"]) == ["cvc5", "z3"]
        # Where none of them was asked, it goes by those that were.
        assert select_usable(corpus, ["bitwuzla"]) == ["cvc5", "z3"]
        assert select_usable(corpus, []) == []


def test_atoms_that_cvc5_refuses_only_in_its_theories_are_left_out(corpus_path: Path) -> None:
    for word in ("(Array Int D", "(Array (Array", "RegLan)", '"a" x0'):
        assert word in texts_of(load(corpus_path, "z3"))
        assert word not in texts_of(load(corpus_path, "z3", "cvc5"))


def test_the_version_asked_last_decides(tmp_path: Path) -> None:
    texts = ["(declare-const x Int)(assert (> x 4))", "(declare-const x Int)(assert (not (< x 7)))"]
    path = make_corpus(tmp_path / "formulas", tmp_path / "c.duckdb", texts)
    assert len(load(path, "z3", "cvc5").atoms) == 2
    with Corpus.open(path, write=True) as corpus:
        newer = solver_id(corpus, "z3", "99.0")
        solver_id(corpus, "cvc5", "99.0")  # not asked yet, so the version before it counts
        (first,), (second,) = corpus.rows("select id from formula order by id")
        refused, accepted = Acceptance(False, "refused", "no"), Acceptance(True, "accepted")
        store_acceptance(corpus, newer, [(first, "printed", refused), (second, "printed", accepted)])
    (left,) = load(path, "z3", "cvc5").atoms
    assert "(< x0 7)" in left.atom.text


LIST = "(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))(declare-const l L)"
PAIR = "(declare-datatypes ((P 1)) ((par (X) ((pair (fst X) (snd X))))))(declare-const c (P Int))"
ROSE = "(declare-datatypes ((R 0)) (((rose (kids (Seq R)))))) (declare-const r R)"
MUTUAL = (
    "(declare-datatypes ((A 0) (B 0)) (((n) (a (bs (Array Int B)))) ((b (its A)))))"
    "(declare-const x A)(declare-const y A)"
)
LISTS = "(declare-datatypes ((L 1)) ((par (X) ((nil) (cons (hd X) (tl (L X)))))))"
TREE = f"{LISTS}(declare-datatypes ((R 0)) (((e) (rose (kids (L R))))))(declare-const x R)(declare-const y R)"
FLAT = (
    f"{LISTS}(declare-datatypes ((R 0)) (((e) (rose (kids (L Int))))))(declare-const x R)(declare-const y R)"
)
ORDER = "(set-logic HO_ALL)(declare-const f (-> Int Int))(declare-const g (-> Int Int))"

SOLVERS = ("z3", "cvc5", "bitwuzla")
HALF_SORT = "(_ FloatingPoint 5 11)"
HALF = "((_ to_fp 5 11) RNE x)"

REFUSED_LATE = [
    (LIST, "(= (hd l) 3)", set()),
    (PAIR, "(= (fst c) (snd c))", set()),
    (ROSE, "(= (kids r) (kids r))", {"cvc5"}),
    (MUTUAL, "(= (bs x) (bs y))", {"cvc5"}),
    (TREE, "(= (kids x) (kids y))", {"cvc5"}),
    (FLAT, "(= (kids x) (kids y))", set()),
    (
        "(declare-const a (Array Int (Array Int Int)))(declare-const b (Array Int Int))",
        "(= (select a 1) b)",
        set(),
    ),
    (
        "(declare-const a (Array (Array Int Int) Int))(declare-const b (Array Int Int))",
        "(= (select a b) 1)",
        {"cvc5"},
    ),
    ("(declare-const s String)", '(str.in_re s (re.range "a" "c"))', set()),
    ("(declare-const s String)(declare-const t String)", '(str.in_re t (re.range "a" s))', {"cvc5"}),
    ("(declare-const s String)", "(str.in_re s (re.range (_ char #x61) (_ char #x7A)))", set()),
    ("(declare-const l RegLan)(declare-const s String)", "(str.in_re s l)", {"cvc5"}),
    (
        "(declare-const s String)(declare-const p Bool)",
        "(str.in_re s (ite p (re.* re.allchar) re.none))",
        {"cvc5"},
    ),
    ("(declare-fun f (Int) Int)", "(= (f 1) 2)", set()),
    ("(declare-const x (_ FloatingPoint 8 24))", "(fp.lt x (fp.abs x))", set()),
    ("(declare-const x (_ FloatingPoint 5 11))", "(fp.lt x (fp.abs x))", {"cvc5"}),
    ("(declare-const x (_ FloatingPoint 8 24))", f"(fp.isNaN {HALF})", {"cvc5"}),
    ("(declare-const p Bool)", f"(exists ((x {HALF_SORT})) (fp.lt x (fp.abs x)))", {"cvc5"}),
    ("(declare-const x (_ FiniteField 7))", "(= (ff.mul x x) x)", {"cvc5"}),
    ("(declare-const a (Array Int Int))", "(= a ((as const (Array Int Int)) 0))", {"cvc5"}),
    ("(declare-const a (Array Int Int))", "(eqrange a (store a 1 2) 0 5)", {"cvc5"}),
    ("(declare-const x Int)", "(= (^ x 2) x)", set()),
    ("(declare-const x Int)", "(= (^ 2 x) x)", {"cvc5"}),
]
"""What cvc5 refuses where its theories see it."""

KNOWN_OTHERWISE = [
    (PAIR, "(= ((_ update fst) c 1) c)", {"z3"}),
    ("(declare-const p Bool)", '(= p (exists ((l RegLan)) (= l (str.to_re "a"))))', {"cvc5"}),
    # In the combination of theories, and there not always.
    ("(declare-fun f (RegLan) Int)", "(= (f re.all) (f re.none))", {"cvc5"}),
]


def refusing_seed(script: SeedScript) -> set[str]:
    return {solver for solver in SOLVERS if refused_seed(script, frozenset((solver,)))}


@pytest.mark.parametrize(("declarations", "term", "refusing"), [*REFUSED_LATE, *KNOWN_OTHERWISE])
def test_what_a_solver_refuses_only_in_tests_is_known_of_atoms_and_seeds(
    declarations: str, term: str, refusing: set[str]
) -> None:
    made = atom(1, declarations, term).atom
    assert {solver for solver in SOLVERS if refused_atom(made, [solver])} == refusing
    assert not refused_atom(made, [])
    script = script_of(f"{declarations}(assert (or true {term}))(check-sat)")
    assert refusing_seed(script) == refusing
    assert not refused_seed(script, frozenset())


def test_atoms_with_nothing_of_this_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """There may be tens of thousands; reading one takes 0.4 ms, and a large one 20 ms."""
    declarations = "(declare-const a (Array Int (_ BitVec 8)))(declare-const s String)(declare-const x Real)"
    terms = ["(= (select a 1) #xff)", "(str.< s s)", "(exists ((y Real)) (< (* x y) 1.5))", "(= a a)"]
    atoms = [atom(1, declarations, term).atom for term in terms]

    def read(_: str) -> None:
        pytest.fail("read")

    monkeypatch.setattr("generator.refusals.read_script", read)
    assert not any(refused_atom(one, SOLVERS) for one in atoms)


def test_functions_as_values_are_refused_in_atoms_alone() -> None:
    """The logic of tests from atoms is ALL; that of seeds goes by their sorts."""
    assert refusing_seed(script_of(f"{ORDER}(assert (= f g))(check-sat)")) == set()
    made = atom(1, ORDER, "(= f g)").atom
    assert {solver for solver in SOLVERS if refused_atom(made, [solver])} == {"cvc5"}


def test_constants_that_a_mutant_may_use_count_in_a_seed() -> None:
    script = script_of(f"(declare-const x {HALF_SORT})(assert true)(check-sat)")
    assert refusing_seed(script) == {"cvc5"}


def test_cvc5_does_refuse_these_where_its_theories_see_them() -> None:
    texts = [
        f"(set-logic ALL){declarations}(declare-const open Bool)"
        f"(assert (or open {term}))(assert (or (not open) (not {term})))"
        for declarations, term, _ in REFUSED_LATE
    ]
    for (_, term, refusing), answer in zip(REFUSED_LATE, probe(texts, "cvc5"), strict=True):
        assert answer.accepted == ("cvc5" not in refusing), f"{term}: {answer.message}"


@pytest.mark.slow
def test_several_instances_of_a_parametric_datatype_are_understood() -> None:
    """z3 finds (_ is c) ambiguous there, and knows no is-c of an instance that no sort names."""
    pair = "(declare-datatypes ((P 2)) ((par (X Y) ((pair (fst X) (snd Y))))))"
    terms = ["((_ is pair) (pair b i))", "((_ is pair) (pair i b))", "((_ is pair) (pair i i))"]
    declarations = f"{pair}(declare-const b Bool)(declare-const i Int)(declare-const c (P Int Int))"
    terms += ["(= (snd (fst (pair (pair 1 i) b))) i)", "((_ is pair) c)"]
    library = library_of(["(hole 0)", "(or (hole 0) (hole 1))"], [(declarations, t, -1) for t in terms])
    texts = [t.text for t in SkeletonStrategy(library, 1).generate(0, 200)]
    for solver in ("z3", "cvc5"):
        for text, answer in zip(texts, probe(texts, solver), strict=True):  # type: ignore[arg-type]
            assert answer.accepted, f"{answer.message}\n{text}"


def test_rules_come_over_full_or_coarse_signatures_or_not_at_all(corpus_path: Path) -> None:
    full, coarse, off = (load(corpus_path, "z3", rules=kind) for kind in ("full", "coarse", "off"))
    assert full.rules
    assert len(coarse.rules) >= len(full.rules)
    assert off.rules == ()
    assert {a.id for a in full.atoms} == {a.id for a in coarse.atoms} == {a.id for a in off.atoms}
    assert {a.signature for a in full.atoms} != {a.signature for a in coarse.atoms}
    for library in (full, coarse):
        for rule in library.rules:
            assert any(signature in library.by_signature for signature in rule.consequent)


def test_skeletons_can_come_from_another_corpus(corpus_path: Path, tmp_path: Path) -> None:
    texts = ["(declare-const p Bool)(assert (xor p (xor (not p) (not (not p)))))"]
    donor_path = make_corpus(tmp_path / "formulas", tmp_path / "donor.duckdb", texts)
    own = load(corpus_path, "z3", "cvc5")
    with Corpus.open(corpus_path) as corpus, Corpus.open(donor_path) as donor:
        mixed = load_library(corpus, skeletons_from=donor)
    assert [s.skeleton.text for s in mixed.skeletons] == [
        "(xor (hole 0) (xor (not (hole 1)) (not (not (hole 2)))))"
    ]
    assert [a.id for a in mixed.atoms] == [a.id for a in own.atoms]
    assert mixed.fingerprint != own.fingerprint
    assert mixed.fingerprint[:8] == own.fingerprint[:8]
    for test in SkeletonStrategy(mixed, 1).generate(0, 20):
        assert not check_script(read_script(test.text)).errors


def test_a_corpus_that_was_not_probed_narrows_nothing(tmp_path: Path) -> None:
    texts = ["(declare-const s (Set Int))(assert (set.subset s s))"]
    path = make_corpus(tmp_path / "formulas", tmp_path / "c.duckdb", texts, probe=False)
    assert "set.subset" in texts_of(load(path, "z3", "cvc5"))


def test_an_empty_corpus_says_what_to_do(tmp_path: Path) -> None:
    path = make_corpus(tmp_path / "formulas", tmp_path / "c.duckdb", ["(assert"])
    with pytest.raises(GenerationError, match="run 'exhume learn'"):
        load(path)


def test_names_given_to_symbols_are_none_that_atoms_keep(library: Library) -> None:
    own = re.compile(r"[bp][0-9]+\Z|[SDF][0-9a-f]*(_[0-9a-z]+)?\Z|\$")
    for template in library.atoms:
        for rank in template.ranks:
            assert not own.match(f"{prefix_of(rank)}12")
    assert not own.match("z3")


# Strategies by name


def test_every_strategy_is_made_by_its_name(library: Library) -> None:
    for name, entry in STRATEGIES.items():
        if entry.needs != {"library"}:
            continue
        made = make_strategy(name, library, StrategySettings(seed=3))
        assert made.name == name
        assert made.fingerprint == library.fingerprint
        assert entry.about
        assert next(iter(made.generate(0, 1))).strategy == name


def test_settings_reach_the_strategies(library: Library) -> None:
    made = make_strategy("skeletons", library, StrategySettings(seed=9, given=("incremental=1",)))
    assert isinstance(made, SkeletonStrategy)
    assert made.seed == 9
    assert all("(push" in test.text for test in made.generate(0, 5))
    expected = library.skeletons[-1].id
    enumeration = make_strategy("enumerate", library, StrategySettings(skeleton=expected))
    assert isinstance(enumeration, EnumerationStrategy)
    assert enumeration.skeleton.id == expected


def test_an_unknown_strategy_or_skeleton_is_refused_with_help(library: Library) -> None:
    with pytest.raises(GenerationError, match="did you mean skeletons"):
        make_strategy("skeleton", library, StrategySettings())
    with pytest.raises(GenerationError, match=r"known: congruence, eliminate, enumerate, expand, fusion"):
        make_strategy("zzz", library, StrategySettings())
    with pytest.raises(GenerationError, match="exhume query skeletons"):
        make_strategy("enumerate", library, StrategySettings(skeleton=10**6))
