"""Skeletons, atoms, signatures and rule sets in the store."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from corpus.importer import import_paths
from corpus.intake import Intake
from corpus.learn import decompose_pending, learn
from corpus.learned import (
    atom_of,
    fingerprint,
    refresh_counts,
    store_rule_set,
    transactions,
)
from corpus.query import find_query, run_query
from corpus.records import Added, FormulaSource, Tracker
from corpus.stats import stats
from corpus.store import Corpus
from rules import Rule, RuleSet, Skeleton, decompose_script
from smtlib import check_script, read_script

ATOMS = """
    select atom.text, segments, occurrences, slots, prelude, fine.text, coarse.text, theories, size
    from atom
    join signature as fine on fine.id = signature_id
    join signature as coarse on coarse.id = coarse_signature_id
"""

TEXTS = {
    "z3/1_0": "(declare-const x Int)(assert (or (> x 0) (not (> 1 x))))(assert (> x 0))(check-sat)",
    "z3/2_0": "(declare-const y Int)(assert (or (> y 0) (not (< y 5))))",
    "cvc5/1_0": "(declare-const a Real)(assert (forall ((b Real)) (> a 0.0)))(assert (or (> a 0.0) c))",
    "cvc5/2_0": "(declare-const v (_ BitVec 8))(assert (= (bvadd v #x01) v))(assert (> 1 2))",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in TEXTS.items():
        file = tmp_path / "in" / f"{name}.smt2"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path / "in"


@pytest.fixture
def corpus(tmp_path: Path, folder: Path) -> Corpus:
    made = Corpus.open(tmp_path / "c", write=True)
    import_paths(made, [folder])
    return made


def tables(corpus: Corpus) -> list[object]:
    names = ("formula", "assertion", "skeleton", "atom", "signature", "text")
    links = corpus.rows("select * from assertion_atom order by all")
    return [links, *(corpus.rows(f"select * from {name} order by id") for name in names)]


def test_skeletons_and_atoms_are_stored_once_and_counted(corpus: Corpus) -> None:
    with corpus:
        skeletons = corpus.rows(
            "select text, holes, binders, quantified, assertions, formulas from skeleton order by id"
        )
        # The first is of cvc5/1_0, whose other assertion has a sort error.
        assert skeletons == [
            ("(forall 1 (hole 0))", 1, 1, True, 1, 1),
            ("(hole 0)", 1, 0, False, 3, 2),
            ("(or (hole 0) (not (hole 1)))", 2, 0, False, 2, 2),
        ]
        uses = dict(corpus.rows("select text, uses from atom"))
        assert uses["(lambda ((x0 Int)) (> x0 0))"] == 3
        assert corpus.scalar("select formulas from atom where text = '(lambda ((x0 Int)) (> x0 0))'") == 2
        assert sum(uses.values()) == corpus.scalar("select count(*) from assertion_atom") == 8
        assert corpus.scalar("select sum(assertions) from skeleton") == corpus.scalar(
            "select count(*) from assertion"
        )
        assert corpus.verify() == []
        counts = stats(corpus)
        assert (counts["skeletons"], counts["atoms"], counts["assertions"]) == (3, len(uses), 6)


def test_signatures_have_a_coarse_form_and_counts(corpus: Corpus) -> None:
    with corpus:
        rows = corpus.rows(
            """select fine.text, fine.operator, coarse.text, fine.atoms, fine.formulas, coarse.formulas
            from signature as fine join signature as coarse on coarse.id = fine.coarse_id
            where not fine.coarse and coarse.coarse order by fine.text"""
        )
        assert ("(> var_Int const_Int)", ">", "(> var_Int const_Int)", 1, 2, 2) in rows
        assert any(
            fine == "(= var_BitVec_8 var_BitVec_8)" and coarse == "(= var_BitVec var_BitVec)"
            for fine, _, coarse, *_ in rows
        )
        assert len(rows) == corpus.scalar("select count(*) from signature where not coarse")


def test_what_is_stored_comes_back_equal(corpus: Corpus) -> None:
    with corpus:
        atoms = {row[0]: atom_of(row) for row in corpus.rows(ATOMS)}
        skeletons = set(map(Skeleton.parse, corpus.values("select text from skeleton")))
        found = set()
        for text in corpus.values("select body from formula join text on text.id = text_id"):
            for assertion in decompose_script(check_script(read_script(text))):
                assert assertion.skeleton in skeletons
                for atom in assertion.atoms:
                    stored = atoms[atom.text]
                    assert (stored.segments, stored.occurrences, stored.slots) == (
                        atom.segments,
                        atom.occurrences,
                        atom.slots,
                    )
                    assert (stored.prelude, stored.signature, stored.coarse) == (
                        atom.prelude,
                        atom.signature,
                        atom.coarse,
                    )
                    assert (stored.theories, stored.size) == (atom.theories, atom.size)
                    found.add(atom.text)
        assert found == set(atoms)


def test_decomposing_later_gives_the_same_corpus_as_the_import(corpus: Corpus) -> None:
    with corpus:
        before, name = tables(corpus), fingerprint(corpus)
        with corpus.transaction():
            for table in ("assertion_atom", "assertion", "skeleton", "atom", "signature"):
                corpus.clear(table)
            corpus.execute("update formula set decomposed = false")
        progress: list[tuple[int, int]] = []
        report = decompose_pending(corpus, progress=lambda done, total: progress.append((done, total)))
        assert report == (4, 0)
        assert progress == [(4, 4)]
        assert (tables(corpus), fingerprint(corpus)) == (before, name)
        assert decompose_pending(corpus) == (0, 0)
        assert tables(corpus) == before


def test_superseding_takes_counts_back(corpus: Corpus) -> None:
    with corpus:
        before = fingerprint(corpus)
        with corpus.transaction():
            corpus.execute("update formula set superseded_by = 4 where id = 3")
            refresh_counts(corpus)
        assert corpus.scalar("select assertions from skeleton where text like '(or%'") == 1
        assert corpus.scalar("select uses from atom where text = '(lambda ((x0 Int)) (> x0 0))'") == 1
        assert corpus.scalar("select uses from atom where text = '(lambda ((x0 Int)) (> 1 x0))'") == 0
        assert set(transactions(corpus)) == {1, 2, 4}
        assert fingerprint(corpus) != before
        unused = corpus.scalar("select id from atom where text = '(lambda ((x0 Int)) (> 1 x0))'")
        source = corpus.scalar("select source from formula where id = 3")
        emptied = corpus.scalar("select skeleton_id from assertion where formula_id = 3 order by position")
        assert stats(corpus)["signatures"] == corpus.scalar(
            "select count(distinct signature_id) from atom where uses > 0"
        )
    assert run_query(corpus.path, find_query("issues-behind-atom"), {"atom": unused}).rows == []
    behind = run_query(corpus.path, find_query("issues-behind-skeleton"), {"skeleton": emptied})
    assert source not in [row[behind.columns.index("source")] for row in behind.rows]
    for name in ("signatures", "skeletons"):
        listed = run_query(corpus.path, find_query(name))
        assert 0 not in [row[listed.columns.index("formulas")] for row in listed.rows]


def test_skipped_parts_keep_their_reason(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    with corpus:
        script = check_script(read_script("(declare-const p Bool)(assert (or p (not p)))"))
        [whole] = decompose_script(script)
        cut = type(whole)(whole.skeleton, (whole.holes[0], type(whole.holes[1])(None, (), "too large")))
        nothing = type(whole)(None, skipped="too many holes")
        with corpus.transaction():
            tracker = Intake(corpus).add_tracker(Tracker("mine"))
            source = FormulaSource("mine:x", script.script.text, tracker)
            monkeypatch.setattr("corpus.learned.decompose_script", lambda checked: [cut, nothing])
            formula = Intake(corpus).add_formulas([source])[0].id
        rows = corpus.rows(
            "select skeleton_id is null, skipped from assertion where formula_id = ? order by position",
            [formula],
        )
        assert rows == [(False, "too large"), (True, "too many holes")]
        assert corpus.verify() == []


def test_transactions_are_the_signatures_of_each_formula(corpus: Corpus) -> None:
    with corpus:
        fine, coarse = transactions(corpus), transactions(corpus, coarse=True)
        assert list(fine) == list(coarse) == [1, 2, 3, 4]
        assert fine[3] == ("(> const_Int var_Int)", "(> var_Int const_Int)")
        assert "(= var_BitVec var_BitVec)" in coarse[2]


def rule_set(*rules: Rule) -> RuleSet:
    return RuleSet(rules, 3, 4, 2, True)


INT_RULES = (
    Rule(("(> var_Int const_Int)",), ("(> const_Int var_Int)",), 9, 0.9, 2.5, math.inf),
    Rule(("(> const_Int var_Int)", "(> var_Int const_Int)"), ("(< var_Int const_Int)",), 10, 0.5, 1.1, 1.25),
)


def store(corpus: Corpus, mined: RuleSet, coarse: bool = False, min_support: int = 9) -> Added:
    return store_rule_set(corpus, mined, [("a",)], coarse=coarse, min_support=min_support, min_confidence=0.5)


def test_the_same_rule_set_is_stored_once_in_a_row(tmp_path: Path, corpus: Corpus) -> None:
    with corpus:
        before = fingerprint(corpus)
        assert store(corpus, rule_set(*INT_RULES)) == Added(1, True)
        assert store(corpus, rule_set(*INT_RULES)) == Added(1, False)
        assert store(corpus, rule_set(*INT_RULES), min_support=10) == Added(2, True)
        assert store(corpus, rule_set(INT_RULES[1])) == Added(3, True)
        assert store(corpus, rule_set(INT_RULES[1])) == Added(3, False)
        assert stats(corpus)["rules"] == 1
        assert fingerprint(corpus) != before
        assert corpus.verify() == []
        assert corpus.rows("select antecedent, support, conviction from current_rule") == [
            (["(> const_Int var_Int)", "(> var_Int const_Int)"], 10, 1.25)
        ]
    [row] = run_query(tmp_path / "c", find_query("rules-by-lift")).rows
    assert row[1:4] == ("(> const_Int var_Int) , (> var_Int const_Int)", "(< var_Int const_Int)", 10)


def test_rule_sets_of_both_kinds_are_current_together(corpus: Corpus) -> None:
    with corpus:
        store(corpus, rule_set(*INT_RULES))
        rule = Rule(("(= var_BitVec var_BitVec)",), ("(> var_Int const_Int)",), 9, 1.0, 1.0, math.inf)
        store(corpus, rule_set(rule), coarse=True)
        kinds = corpus.rows("select coarse, count(*) from current_rule group by coarse order by coarse")
        assert kinds == [(False, 2), (True, 1)]
        assert stats(corpus)["rules"] == 2
        assert store(corpus, rule_set(), coarse=True).new
        assert corpus.scalar("select count(*) from current_rule where coarse") == 0


def test_learning_ends_in_rules_and_learning_again_changes_nothing(corpus: Corpus) -> None:
    with corpus:
        before = tables(corpus)
        report = learn(corpus, min_support=1, min_confidence=0.4)
        assert (report.decomposed, report.failed, report.new_rule_sets, report.complete) == (0, 0, 2, True)
        assert report.rules == stats(corpus)["rules"] > 0
        assert report.coarse_rules == corpus.scalar("select count(*) from current_rule where coarse")
        key = fingerprint(corpus)
        again = learn(corpus, min_support=1, min_confidence=0.4)
        assert again == replace(report, new_rule_sets=0)
        assert fingerprint(corpus) == key
        assert tables(corpus) == before
        assert learn(corpus, min_support=9).rules == 0
        with pytest.raises(ValueError, match="confidence"):
            learn(corpus, min_confidence=2)


def test_learning_an_empty_corpus_gives_nothing(tmp_path: Path) -> None:
    with Corpus.open(tmp_path / "empty", write=True) as corpus:
        report = learn(corpus)
        assert (report.decomposed, report.rules, report.coarse_rules, report.skipped) == (0, 0, 0, {})


def test_the_fingerprint_follows_what_solvers_accept(corpus: Corpus) -> None:
    with corpus:
        before = fingerprint(corpus)
        assert fingerprint(corpus) == before
        with corpus.transaction():
            corpus.execute("insert into solver values (1, 'z3', '5')")
            corpus.execute("insert into acceptance values (3, 1, 'printed', true, 'accepted', null, null)")
        assert fingerprint(corpus) != before
        assert corpus.rows("select distinct solver_id, accepted from atom_acceptance") == [(1, True)]
