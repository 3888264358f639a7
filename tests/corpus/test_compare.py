"""Two corpora side by side, and the statistics behind it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from scipy.stats import fisher_exact
from typer.testing import CliRunner

from corpus.compare import CorpusComparison, compare_corpora
from corpus.errors import CorpusMissing, QueryError
from corpus.learned import transactions
from corpus.store import Corpus
from exhume.cli import app
from rules import apriori, mine
from tests.corpus.asked import normal_corpus


@pytest.fixture(scope="module")
def normal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("normal")
    return normal_corpus(folder / "normal.duckdb", folder / "in")


@pytest.fixture(scope="module")
def compared(bugs: Path, normal: Path) -> CorpusComparison:
    return compare_corpora(bugs, normal)


def baskets_of(path: Path) -> list[frozenset[str]]:
    with Corpus.open(path) as corpus:
        return [frozenset(basket) for basket in transactions(corpus).values()]


def skeletons_of(path: Path) -> set[str]:
    with Corpus.open(path) as corpus:
        return set(corpus.values("select text from skeleton where formulas > 0"))


# What both have


@pytest.mark.thorough
def test_rules_at_each_support_are_those_mined_at_it(
    bugs: Path, normal: Path, compared: CorpusComparison
) -> None:
    assert [at.support for at in compared.rules] == [5, 6, 7, 8, 9, 10]
    for at in compared.rules:
        ours, theirs = ({r.key for r in mine(baskets_of(p), at.support)} for p in (bugs, normal))
        assert (at.rules.first, at.rules.second, at.rules.both) == (
            *(len(ours), len(theirs)),
            len(ours & theirs),
        )
        assert at.length is None
    assert compared.rules[0].rules.both > 0
    assert compared.rules[0].rules.first > compared.rules[-1].rules.first


@pytest.mark.thorough
def test_the_rules_listed_are_those_at_the_support(bugs: Path, normal: Path) -> None:
    found = compare_corpora(bugs, normal, support=4)
    ours, theirs = ({r.key for r in mine(baskets_of(path), 4)} for path in (bugs, normal))
    assert {r.key for r in found.shared_rules} == ours & theirs
    assert {r.key for r in found.only_first} == ours - theirs
    assert {r.key for r in found.only_second} == theirs - ours
    lifts = [rule.lift for rule in found.only_first]
    assert lifts == sorted(lifts, reverse=True)


def test_skeletons_and_signatures_are_counted(bugs: Path, normal: Path, compared: CorpusComparison) -> None:
    ours, theirs = skeletons_of(bugs), skeletons_of(normal)
    shared = compared.skeletons
    assert (shared.first, shared.second, shared.both) == (len(ours), len(theirs), len(ours & theirs))
    assert {text for text, _ in compared.skeletons_only_first} == ours - theirs
    signatures = [set().union(*baskets_of(path)) for path in (bugs, normal)]
    assert compared.signatures.first == len(signatures[0])
    assert compared.signatures.both == len(signatures[0] & signatures[1]) > 0
    assert compared.signatures.share == compared.signatures.both / compared.signatures.first


def test_signatures_in_excess_are_fishers(bugs: Path, normal: Path, compared: CorpusComparison) -> None:
    ours, theirs = baskets_of(bugs), baskets_of(normal)
    counts = [Counter(s for basket in side for s in basket) for side in (ours, theirs)]
    assert {e.signature for e in compared.excess} == counts[0].keys()
    for e in compared.excess:
        assert (e.first, e.second) == (counts[0][e.signature], counts[1][e.signature])
        cells = [[e.first, e.second], [len(ours) - e.first, len(theirs) - e.second]]
        assert e.p == pytest.approx(fisher_exact(cells, alternative="greater").pvalue, rel=1e-9)
        assert e.p <= e.q <= 1
    ps = [e.p for e in compared.excess]
    # Benjamini and Hochberg: the least p times the number of tests over its rank, from this one on.
    ranked = [min(1.0, p * len(ps) / sum(other <= p for other in ps)) for p in ps]
    assert [e.q for e in compared.excess] == pytest.approx([min(ranked[i:]) for i in range(len(ps))])


def test_a_corpus_is_like_itself(bugs: Path) -> None:
    found = compare_corpora(bugs, bugs)
    assert {s.share for s in (found.skeletons, found.signatures)} == {1.0}
    assert found.only_first == found.only_second == found.skeletons_only_first == ()
    assert all(at.rules.first == at.rules.second == at.rules.both for at in found.rules)
    assert all(e.q > 0.5 for e in found.excess)


def test_a_class_of_bugs_and_a_sample(bugs: Path, normal: Path) -> None:
    wrong = compare_corpora(bugs, normal, bug_class="soundness")
    with Corpus.open(bugs) as corpus:
        count = corpus.scalar(
            "select count(*) from current_formula f join issue i on i.id = issue_id"
            " where decomposed and coalesce(f.bug_class, i.bug_class) = 'soundness'"
        )
    assert wrong.first.formulas == count
    drawn = compare_corpora(bugs, normal, sample=10, seed=3)
    assert (drawn.first.formulas, drawn.second.formulas) == (10, 10)
    assert drawn == compare_corpora(bugs, normal, sample=10, seed=3)
    assert drawn != compare_corpora(bugs, normal, sample=10, seed=4)
    assert compare_corpora(bugs, normal, sample=10_000).first.formulas > 100


def test_coarse_signatures(bugs: Path, normal: Path, compared: CorpusComparison) -> None:
    coarse = compare_corpora(bugs, normal, coarse=True)
    assert coarse.signatures.first < compared.signatures.first
    assert coarse.skeletons == compared.skeletons


def test_too_many_rules_are_cut_alike_on_both_sides(
    bugs: Path, normal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apriori, "MAX_CANDIDATE_RULES", 20)
    found = compare_corpora(bugs, normal, support=5)
    assert {at.length for at in found.rules} == {2}
    rules = (*found.only_first, *found.only_second, *found.shared_rules)
    assert {len(rule.antecedent) + len(rule.consequent) for rule in rules} == {2}
    assert found.to_json()["rules"][0]["rules_of_at_most"] == 2


def test_what_cannot_be_compared_is_reported(bugs: Path, normal: Path, tmp_path: Path) -> None:
    with pytest.raises(CorpusMissing):
        compare_corpora(bugs, tmp_path / "none")
    with Corpus.open(tmp_path / "empty", write=True):
        pass
    with pytest.raises(QueryError, match="no formula to compare"):
        compare_corpora(bugs, tmp_path / "empty")
    with pytest.raises(QueryError, match="no formula of the bug class leak'; drop"):
        compare_corpora(bugs, normal, bug_class="leak'; drop table issue")
    for wrong in ({"support": 0}, {"min_confidence": -0.1}, {"sample": 0}):
        with pytest.raises(QueryError):
            compare_corpora(bugs, normal, **wrong)  # type: ignore[arg-type]


# The command


def test_the_command_prints_a_table_and_json(bugs: Path, normal: Path, compared: CorpusComparison) -> None:
    shown = CliRunner().invoke(app, ["compare", str(bugs), str(normal), "--support", "5", "--limit", "3"])
    assert shown.exit_code == 0
    for part in (
        "rules, support 5 ",
        "rules, support 10 ",
        "skeletons",
        "no signature is significantly more frequent in A (smallest q: ",
        "Rules only in A",
    ):
        assert part in shown.stdout
    done = CliRunner().invoke(app, ["compare", str(bugs), str(normal), "--json", "--limit", "2"])
    document = json.loads(done.stdout)
    assert document == json.loads(json.dumps(compared.to_json(2)))
    assert [at["support"] for at in document["rules"]] == [5, 6, 7, 8, 9, 10]
    assert len(document["over_represented"]) == 2
    assert document["skeletons"].keys() == {"first", "second", "both", "share"}


# Statistics
