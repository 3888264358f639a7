"""Seeds: their one form, where they come from, what is skipped."""

from __future__ import annotations

import gc
import os
import pickle
import random
import weakref
from collections import Counter
from hashlib import sha256
from pathlib import Path

import pytest

from corpus.store import Corpus
from generator import (
    GenerationError,
    Library,
    Seed,
    SeedSkipped,
    SkeletonStrategy,
    StrategySettings,
    seeds_of_corpus,
    seeds_of_folder,
    seeds_of_strategy,
)
from generator.build import Sources, build_strategy
from generator.refusals import refused_seed
from generator.seeds.script import MAX_BINDERS, MAX_DEPTH, MAX_WIDTH, SeedScript, once_per_seed, read_seed
from generator.seeds.source import MAX_BYTES, SeedSource, count_causes, random_for
from generator.strategies.mutation.heads import find_sites
from generator.strategies.mutation.operators import operators_for
from generator.strategies.mutation.pool import pool_of
from generator.strategies.storm.openness import open_functions
from smtlib import check_script, read_script
from tests.generator.small import formulas, known_answers, script_of

PLAIN = "(declare-const x Int)(assert (> x 0))(check-sat)"


def text_of(seed: str) -> str:
    return Seed("seed", seed).script().text()


def write(folder: Path, **texts: str) -> Path:
    for name, text in texts.items():
        (folder / f"{name}.smt2").write_text(text)
    return folder


# The one form


def test_only_declarations_and_what_is_asked_about_stay() -> None:
    text = (
        "(set-logic QF_LIA)(set-option :produce-models true)(set-info :status unsat)(declare-fun x () Int)"
        "(push 1)(assert (> x 1))(pop 1)(push 1)(assert (< x 5))(check-sat-assuming ((= x 2)))(get-model)"
        "(assert false)(exit)"
    )
    assert text_of(text) == (
        "(set-logic ALL)\n(declare-fun x () Int)\n(assert (< x 5))\n(assert (= x 2))\n(check-sat)\n"
    )


def test_names_of_terms_are_left_out_and_patterns_stay() -> None:
    text = (
        "(declare-fun f (Int) Int)(assert (! (> (f 1) 0) :named one))(assert (! one :named two :qid q))"
        "(assert (forall ((x Int)) (! (> (f x) 0) :pattern ((f x)))))(check-sat)"
    )
    assert "named" not in text_of(text)
    assert "(assert (! (> (f 1) 0) :qid q))" in text_of(text)
    assert ":pattern ((f x))" in text_of(text)


def test_bound_variables_do_not_catch_what_is_declared_later() -> None:
    script = Seed(
        "seed",
        "(assert (forall ((x Int)) (> x 0)))(declare-fun x () Int)(assert (> x 1))(check-sat)",
    ).script()
    (bound,) = script.assertions[0].variables
    assert bound.op.name != "x"
    assert not check_script(read_script(script.text())).errors


def test_other_assertions_can_be_printed_with_further_declarations() -> None:
    script = Seed("seed", PLAIN).script()
    text = script.text(script.assertions * 2, "(declare-fun y () Int)\n")
    assert text.count("(assert (> x 0))") == 2
    assert text.index("declare-fun y") < text.index("assert")


def test_functions_as_values_ask_for_a_higher_order_logic() -> None:
    text = "(set-logic HO_ALL)(declare-fun f () (-> Int Int))(assert (= (f 1) 2))(check-sat)"
    assert text_of(text).startswith("(set-logic HO_ALL)")


def test_a_strategy_that_has_only_some_tests_gives_no_seeds() -> None:
    with pytest.raises(GenerationError, match=r"--seeds enumerate: .*'exhume generate'"):
        build_strategy("opfuzz", Sources(seeds="enumerate"), StrategySettings())


def test_what_is_found_of_a_seed_is_kept_as_long_as_the_seed() -> None:
    asked = []

    @once_per_seed
    def find(script: SeedScript, more: int) -> SeedScript:
        asked.append(more)
        return script

    script = Seed("seed", PLAIN).script()
    assert find(script, 1) is find(script, 1) is find(script, 2) is script
    assert asked == [1, 2]
    left = script_of(PLAIN)
    find(left, 1)
    find_sites(left, operators_for(("z3", "cvc5")))
    pool_of(left)
    open_functions(left)
    refused_seed(left, frozenset(("cvc5",)))
    kept = weakref.ref(left)
    del left
    gc.collect()
    assert kept() is None


OWN = "a sort with the name of a theory's"
PREDICATES = "(declare-fun P (Int) Bool)(declare-fun R (Int) Bool)"
AGAIN = "a variable bound again in the scope of its binder"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("(assert", "cannot be read"),
        ("(assert (> x 0))(check-sat)", "not well sorted"),
        ("(assert true)", "no check-sat"),
        (PLAIN + "(check-sat)", "several check-sat"),
        ("(declare-const x Int)(check-sat)", "no assertions"),
        ("(assert true)(reset)(check-sat)", "resets before its check-sat"),
        (
            "(push 1)(declare-fun x () Int)(pop 1)(declare-fun x () Bool)(assert x)(check-sat)",
            "a name declared twice",
        ),
        ("; " + "x" * MAX_BYTES + "\n" + PLAIN, "larger than 1 MiB"),
        (
            "(assert " + "(not " * (MAX_DEPTH + 1) + "true" + ")" * (MAX_DEPTH + 2) + "(check-sat)",
            "nested too deep",
        ),
        ("(assert true)" * 60_000 + "(check-sat)", "too many terms"),
        (
            "(assert "
            + "".join(f"(forall ((x{i} Int)) " for i in range(MAX_BINDERS + 1))
            + "(> x0 0)"
            + ")" * (MAX_BINDERS + 2)
            + "(check-sat)",
            "quantifiers nested too deep",
        ),
        (
            f"(declare-fun x () (_ BitVec {MAX_WIDTH + 1}))(assert (= x x))(check-sat)",
            f"bit-vectors wider than {MAX_WIDTH} bits",
        ),
        ("(declare-sort Bag 0)(declare-const b Bag)(assert (= b b))(check-sat)", OWN),
        ("(declare-datatypes ((Seq 0)) (((no) (one (of Seq)))))(assert ((_ is no) no))(check-sat)", OWN),
        (
            PREDICATES + "(assert (let ((q (forall ((y Int)) (P y)))) (exists ((y Int)) (and q (R y)))))"
            "(check-sat)",
            AGAIN,
        ),
        (
            PREDICATES + "(assert (or (! (forall ((y Int)) (P y)) :named q) (P 1)))"
            "(assert (exists ((y Int)) (and q (R y))))(check-sat)",
            AGAIN,
        ),
    ],
)
def test_what_cannot_be_used_says_why(text: str, cause: str) -> None:
    with pytest.raises(SeedSkipped, match=f"^{cause}$"):
        Seed("seed", text).script()


def test_binders_beside_each_other_may_have_the_same_variable() -> None:
    text = PREDICATES + "(assert (and (forall ((y Int)) (P y)) (exists ((y Int)) (R y))))(check-sat)"
    assert Seed("seed", text).script().assertions


@pytest.mark.slow
def test_a_seed_of_ten_thousand_assertions_is_used() -> None:
    text = "".join(f"(declare-fun x{i} () Int)(assert (> x{i} {i}))" for i in range(10_000))
    assert len(Seed("seed", text + "(check-sat)").script().assertions) == 10_000


# Sources


def test_files_of_a_folder_come_in_the_order_of_their_names(tmp_path: Path) -> None:
    write(tmp_path, b=PLAIN, a="(assert true)(check-sat)")
    (tmp_path / "sub").mkdir()
    write(tmp_path / "sub", c=PLAIN)
    (tmp_path / "notes.txt").write_text("no formula")
    source = seeds_of_folder(tmp_path)
    assert [seed.origin for seed in source] == ["a.smt2", "b.smt2", "sub/c.smt2"]
    assert source[1].text == PLAIN
    assert len(source) == 3


def test_what_a_folder_cannot_give_is_reported(tmp_path: Path) -> None:
    write(tmp_path, good=PLAIN)
    (tmp_path / "large.smt2").write_bytes(b";" * (MAX_BYTES + 1))
    (tmp_path / "binary.smt2").write_bytes(b"\xff\xfe")
    (tmp_path / "link.smt2").symlink_to(tmp_path / "good.smt2")
    os.mkfifo(tmp_path / "pipe.smt2")
    source = seeds_of_folder(tmp_path)
    assert [seed.origin for seed in source] == ["good.smt2"]
    assert count_causes(source.skipped) == {
        "not a regular file": 2,
        "larger than 1 MiB": 1,
        "not UTF-8 text": 1,
    }


def test_one_file_is_a_source_too(tmp_path: Path) -> None:
    write(tmp_path, a=PLAIN)
    assert [seed.origin for seed in seeds_of_folder(tmp_path / "a.smt2")] == ["a.smt2"]


@pytest.mark.parametrize("name", ["", "missing"])
def test_a_folder_without_formulas_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(GenerationError):
        seeds_of_folder(tmp_path / name)


def test_the_fingerprint_is_that_of_texts_names_and_answers(tmp_path: Path) -> None:
    first = seeds_of_folder(write(tmp_path, a=PLAIN))
    assert seeds_of_folder(tmp_path).fingerprint == first.fingerprint
    labelled = seeds_of_folder(tmp_path, known_answers({first[0].text: "sat"}))
    assert labelled.fingerprint != first.fingerprint
    assert (labelled[0].answer, labelled.count("sat"), labelled.count("unsat")) == ("sat", 1, 0)
    assert seeds_of_folder(write(tmp_path, a=PLAIN + "\n")).fingerprint != first.fingerprint


def test_a_corpus_gives_what_all_solvers_accept(corpus_path: Path) -> None:
    with Corpus.open(corpus_path) as corpus:
        both, z3 = seeds_of_corpus(corpus), seeds_of_corpus(corpus, ["z3"])
        refused = corpus.scalar(
            "select count(*) from acceptance join solver on id = solver_id"
            " where spec = 'cvc5' and not accepted"
        )
    assert refused
    assert len(both) < len(z3) <= len(formulas())
    assert both[0].origin.startswith("z3#100/")
    assert both[0].issues == ("z3#100",)


def test_tests_of_a_strategy_are_seeds(library: Library) -> None:
    source = seeds_of_strategy(SkeletonStrategy(library, 5), 10)
    assert len(source) == 10
    assert source[3].origin == "skeletons#3"
    assert source[3].text == next(iter(SkeletonStrategy(library, 5).generate(3, 4))).text
    before = source.fingerprint
    source.prefer(len)
    assert source.fingerprint == before
    assert source[3].issues
    assert source.draw(random.Random(1)).script().assertions


def test_drawing_passes_over_what_cannot_be_used(tmp_path: Path) -> None:
    source = seeds_of_folder(write(tmp_path, a=PLAIN, b="(assert", c="(assert true)"))
    drawn = {source.draw(random_for(1, visit)).origin for visit in range(40)}
    assert drawn == {"a.smt2"}
    assert source.skipped == {"b.smt2": "cannot be read", "c.smt2": "no check-sat"}


def test_draws_follow_from_seed_and_number_only(tmp_path: Path) -> None:
    names = {f"f{i}": f"(declare-const x Int)(assert (> x {i}))(check-sat)" for i in range(9)}
    source = seeds_of_folder(write(tmp_path, **names))

    def draw(number: int) -> str:
        return source.draw(random_for(4, number, "test")).origin

    assert [draw(n) for n in range(20)] == list(reversed([draw(n) for n in reversed(range(20))]))
    assert len({draw(n) for n in range(20)}) > 4


def test_seeds_with_an_answer_can_be_requested(tmp_path: Path) -> None:
    plain = seeds_of_folder(write(tmp_path, a=PLAIN, b="(assert false)(check-sat)"))
    source = seeds_of_folder(tmp_path, known_answers({plain[1].text: "unsat"}))
    assert {source.draw(random_for(1, n), "unsat").origin for n in range(9)} == {"b.smt2"}
    with pytest.raises(GenerationError, match="has no seeds whose answer is sat"):
        source.draw(random_for(1, 1), "sat")
    with pytest.raises(GenerationError, match="run 'exhume label'"):
        plain.require_answers("weaken")


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        # What a level declared is gone with it, but a seed has one level.
        (
            "(push 1)(declare-datatypes ((A 0)) (((a))))(pop 1)(declare-datatypes ((A 0)) (((a) (b))))"
            "(declare-fun z () A)(assert (= z a))(check-sat)",
            "a name declared twice",
        ),
        (
            "(push 1)(declare-datatype A ((a)))(pop 1)(declare-fun a () Int)(assert (= a 1))(check-sat)",
            "a name declared twice",
        ),
        ("(declare-fun x () Int)(assert-not (> x 0))(assert (= x 1))(check-sat)", "uses assert-not"),
    ],
)
def test_a_seed_that_would_be_another_formula_is_not_used(text: str, cause: str) -> None:
    assert read_seed(text) == cause


@pytest.mark.parametrize(
    "text",
    [
        # A sort and a symbol may have one name.
        "(declare-datatype A ((A (f Int)) (B (g Int))))(declare-fun z () A)(assert (= z (A 1)))(check-sat)",
        "(declare-sort U 0)(declare-fun U () Int)(assert (= U 1))(check-sat)",
        # What follows the check-sat does not matter.
        "(declare-fun x () Int)(assert (= x 1))(check-sat)(declare-fun zz () Int)",
    ],
)
def test_a_seed_with_names_that_are_apart_is_used(text: str) -> None:
    assert check_script(read_script(script_of(text).text())).errors == []


def test_preferred_seeds_are_drawn_more_often(tmp_path: Path) -> None:
    texts = {name: f"(declare-const {name} Bool)(assert {name})(check-sat)" for name in "abcd"}
    for name, text in texts.items():
        (tmp_path / f"{name}.smt2").write_text(text)
    source = seeds_of_folder(tmp_path, known_answers({texts[name]: "sat" for name in "ab"}))
    alike = source.fingerprint
    source.prefer(lambda text: 0.0)
    assert source.fingerprint == alike
    source.prefer(lambda text: 1.0 if "assert b" in text else 0.0)
    assert source.fingerprint != alike
    drawn = Counter(source.draw(random_for(1, number)).origin for number in range(1300))
    # The others have a tenth of the average: 0.025 each to 1.
    assert drawn.keys() == {f"{name}.smt2" for name in "abcd"} and drawn["b.smt2"] > 1100
    of_answer = Counter(source.draw(random_for(1, number), "sat").origin for number in range(500))
    assert of_answer.keys() == {"a.smt2", "b.smt2"} and of_answer["b.smt2"] > 450


def test_avoided_seeds_are_drawn_a_tenth_as_often(tmp_path: Path) -> None:
    texts = {name: f"(declare-const {name} Bool)(assert {name})(check-sat)" for name in "abcd"}
    for name, text in texts.items():
        (tmp_path / f"{name}.smt2").write_text(text)
    digests = {sha256(texts[name].encode()).hexdigest() for name in "ab"}

    def drawn(source: SeedSource) -> list[str]:
        return [source.draw(random_for(1, number)).origin[0] for number in range(2200)]

    source = seeds_of_folder(tmp_path)
    alike = source.fingerprint
    plain = drawn(source)
    for nothing in ((), ["0" * 64], {sha256(text.encode()).hexdigest() for text in texts.values()}):
        source.avoid(nothing)
        assert drawn(source) == plain
    source.avoid(digests)
    # Stored hunts of before have this fingerprint.
    assert source.fingerprint == alike
    counts = Counter(drawn(source))
    assert counts.keys() == set("abcd")
    # A tenth of 2.2 each, and 1 of 2.2.
    assert 70 < counts["a"] < 130 and 70 < counts["b"] < 130 and 900 < counts["c"] < 1100
    # A preference counts beside it.
    source.prefer(lambda text: 1.0 if "assert a" in text or "assert c" in text else 0.0)
    counts = Counter(drawn(source))
    assert counts["c"] > 1700 and counts["a"] > 5 * counts["b"]


def test_a_source_goes_through_pickle(tmp_path: Path) -> None:
    source = seeds_of_folder(write(tmp_path, a=PLAIN))
    source.draw(random_for(1, 1))
    again: SeedSource = pickle.loads(pickle.dumps(source))
    assert (again.fingerprint, again[0]) == (source.fingerprint, source[0])
