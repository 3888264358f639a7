"""Bug classes by words: the weights, the features, and how they and the rules decide together."""

from __future__ import annotations

from math import exp

import pytest

from corpus.records import Comment, Issue
from miner.bug_class import CLASSES
from miner.classify import classify
from miner.extract import extract_issue
from miner.learned import ALWAYS, Weights, default_weights, features_of

TOY = Weights.parse("feature\tcrash\tnone\nalways\t0\t50\ntitle:plonk\t300\t-300\nany:no\t-100\t100\n")


def _class(issue: Issue, weights: Weights | None = None) -> tuple[str, str, str]:
    found = classify(issue, extract_issue(issue), weights).bug_class
    return found.value, found.rule, found.reason or ""


def test_weights_of_the_package_are_well_formed() -> None:
    weights = default_weights()
    assert list(weights.classes) == sorted(CLASSES)
    assert list(weights.rows) == sorted(weights.rows)
    assert ALWAYS in weights.rows
    assert len(weights.rows) > 1000
    for name, row in weights.rows.items():
        assert len(row) == len(weights.classes), name
        assert any(row), name
        assert name == ALWAYS or name.partition(":")[0] in ("title", "any", "comment", "output"), name


def test_words_and_pairs_of_words_count_by_place() -> None:
    features = features_of([("title", "It broke"), ("comment", "It WORKS")])
    assert features.keys() == {
        *(ALWAYS, "title:it", "title:broke", "title:it broke", "any:it", "any:broke", "any:it broke"),
        *("comment:it", "comment:works", "comment:it works", "any:works", "any:it works"),
    }
    many = features_of([("body", " ".join("abcdefghijklmnop"[k % 16] * (k // 16 + 1) for k in range(400)))])
    assert sum(value**2 for name, value in many.items() if name != ALWAYS) == pytest.approx(16)
    assert max(features.values()) == 1 > features["title:it"] > many["any:a"] > 0


def test_chances_are_logarithms_of_probabilities() -> None:
    for text in ("plonk", "no, no", "plonk no " * 1000):
        chances = TOY.chances(features_of([("title", text)]))
        assert sum(map(exp, chances.values())) == pytest.approx(1)
    assert max(chances, key=lambda value: chances[value]) == "crash"
    # By hand: 4 / sqrt(60) times the weights, and the feature that all have.
    plonk = TOY.chances(features_of([("title", "plonk")]))
    assert plonk["crash"] - plonk["none"] == pytest.approx(6 * 4 / 60**0.5 - 0.5)


def test_an_issue_without_a_known_word_has_the_class_of_the_rules() -> None:
    odd = Issue(tracker="a/b", number=1, title="Xqzzt wvvrk", body="Xqzzt")
    crash = Issue(tracker="a/b", number=1, title="Segfault", body="")
    assert default_weights().chances(features_of([("title", odd.title), ("body", odd.body)])) == {}
    assert _class(odd) == ("none", "", "")
    assert _class(crash, TOY)[0] == _class(crash, Weights())[0] == "crash"


def test_words_decide_where_rules_find_nothing_and_are_named() -> None:
    issue = Issue(tracker="a/b", number=1, title="plonk", body="")
    assert _class(issue, Weights()) == ("none", "", "")
    assert _class(issue, TOY) == ("crash", "learned", 'the words "plonk"')
    # What a rule finds in a title outweighs few words against it.
    assert _class(Issue(tracker="a/b", number=1, title="No segfault", body=""), TOY)[0] == "crash"


def test_a_comment_that_calls_it_no_bug_outweighs_words() -> None:
    said = Comment(id=1, body="This is not a bug.")
    issue = Issue(tracker="a/b", number=1, title="plonk plonk", body="", comments=(said,))
    assert TOY.chances(features_of([("title", issue.title)]))["crash"] > -0.1
    assert _class(issue, TOY)[0] == "none"


def test_what_only_words_say() -> None:
    """No rule has a pattern for these sentences."""
    issue = Issue(
        tracker="Z3Prover/z3",
        number=1,
        title="Memory is not given back after the context is gone",
        body="I make a context and free it again in a loop. valgrind says that bytes are reachable, and "
        "the process grows with each round until the system has no memory left.",
    )
    assert _class(issue, Weights())[0] == "none"
    assert _class(issue)[:2] == ("leak", "learned")


def test_long_texts_are_cut() -> None:
    words = " ".join(
        f"{chr(97 + k % 26)}{chr(97 + k // 26 % 26)}{chr(97 + k // 676 % 26)}" for k in range(17_000)
    )
    assert len(features_of([("body", words)])) == len(features_of([("body", words[:12_000])])) < 7000
    assert len(features_of([("comment", f"{words[k * 40 :]}") for k in range(300)])) < 40_000
    assert len(features_of([("body", "a" * 1_000_000)])) == 2
    assert len(features_of([("title", "?" * 1_000_000)])) == 5
