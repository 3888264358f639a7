"""Rules by mlxtend against a tiny brute-force miner; limits."""

from __future__ import annotations

import math
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rules import Rule, apriori, mine
from rules.apriori import largest_shadow

Key = tuple[tuple[str, ...], tuple[str, ...]]


def test_the_strongest_rules_have_the_highest_support() -> None:
    found = mine([frozenset("ab")] * 3 + [frozenset("cde")] * 2, min_support=2)
    assert len(found) == 14
    kept = [str(rule) for rule in found.strongest(4)]
    assert kept == ["{a} -> {b}", "{b} -> {a}", "{c} -> {d}", "{c} -> {e}"]
    assert found.strongest(14) is found


def brute_force(
    transactions: list[frozenset[str]], min_support: int, min_confidence: float
) -> dict[Key, tuple[int, float, float, float]]:
    items = sorted(set().union(*transactions))
    count = {
        chosen: sum(t.issuperset(chosen) for t in transactions)
        for size in range(1, len(items) + 1)
        for chosen in combinations(items, size)
    }
    found = {}
    for whole, support in count.items():
        if support < min_support:
            continue
        for size in range(1, len(whole)):
            for left in combinations(whole, size):
                right = tuple(sorted(set(whole) - set(left)))
                if support >= min_confidence * count[left]:
                    confidence = support / count[left]
                    share = count[right] / len(transactions)
                    conviction = math.inf if confidence == 1 else (1 - share) / (1 - confidence)
                    found[left, right] = (support, confidence, confidence / share, conviction)
    return found


@settings(max_examples=60)
@given(
    st.lists(st.frozensets(st.sampled_from("abcde"), max_size=5), min_size=1, max_size=30),
    st.integers(1, 9),
    st.sampled_from([0.25, 0.5, 0.75, 1.0]),
)
def test_rules_are_those_of_brute_force(
    transactions: list[frozenset[str]], min_support: int, min_confidence: float
) -> None:
    expected = brute_force(transactions, min_support, min_confidence)
    found = mine(transactions, min_support, min_confidence)
    assert found.complete and found.transactions == len(transactions)
    assert [rule.key for rule in found] == sorted(expected)
    for rule in found:
        support, *measures = expected[rule.key]
        assert rule.support == support
        assert [rule.confidence, rule.lift, rule.conviction] == pytest.approx(measures)


def test_known_rule() -> None:
    transactions = [frozenset("ab")] * 9 + [frozenset("a")] * 3 + [frozenset("c")] * 4
    found = mine(transactions)
    assert [str(rule) for rule in found] == ["{a} -> {b}", "{b} -> {a}"]
    assert found.rules[0] == Rule(("a",), ("b",), 9, 0.75, pytest.approx(4 / 3), pytest.approx(1.75))
    assert math.isinf(found.rules[1].conviction)
    assert len(mine(transactions[1:])) == 0


def test_support_is_a_count_whatever_the_number_of_transactions() -> None:
    for others in range(0, 400, 7):
        transactions = [frozenset("ab")] * 9 + [frozenset({f"z{n}"}) for n in range(others)]
        assert len(mine(transactions)) == 2


def test_nothing_to_mine() -> None:
    assert len(mine([])) == 0
    assert len(mine([frozenset()] * 20)) == 0
    assert len(mine([frozenset("a")] * 20)) == 0


def test_many_items_that_always_meet_do_not_explode() -> None:
    together = frozenset(f"item {n:03}" for n in range(60))
    found = mine([together] * 10)
    assert not found.complete and found.max_length == 2 and len(found) == 60 * 59


def test_a_smaller_limit_stops_earlier(monkeypatch: pytest.MonkeyPatch) -> None:
    transactions = [frozenset("abcd")] * 10
    assert len(mine(transactions)) == 50
    monkeypatch.setattr(apriori, "MAX_CANDIDATE_RULES", 20)
    found = mine(transactions)
    assert not found.complete and len(found) == 12


def test_of_too_many_items_that_meet_the_most_frequent_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apriori, "MAX_CANDIDATE_RULES", 20)
    found = mine([frozenset("abcdefgh")] * 2 + [frozenset("h")], min_support=2)
    assert not found.complete and len(found) == 20
    assert {item for rule in found for item in rule.antecedent} == set("habcd")


@pytest.mark.parametrize("limit", [1, 2, 8, 30, 56, 57])
def test_items_are_counted_in_blocks(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    transactions = [frozenset("abcdefgh"), frozenset("abcdefg"), frozenset("bcdfh"), frozenset("ace")]
    monkeypatch.setattr(apriori, "MAX_CANDIDATE_RULES", limit)
    at_once = mine(transactions, min_support=2)
    for block in (1, 3, 8):
        monkeypatch.setattr(apriori, "_BLOCK", block)
        assert mine(transactions, min_support=2) == at_once


@pytest.mark.parametrize(("support", "confidence"), [(0, 0.5), (9, -0.1), (9, 1.5)])
def test_senseless_thresholds_are_refused(support: int, confidence: float) -> None:
    with pytest.raises(ValueError, match=r"support|confidence"):
        mine([frozenset("ab")], support, confidence)


@given(st.sets(st.frozensets(st.integers(0, 6), min_size=3, max_size=3), max_size=35))
def test_the_bound_on_larger_itemsets_holds(family: set[frozenset[int]]) -> None:
    larger = sum(
        all(frozenset(part) in family for part in combinations(candidate, 3))
        for candidate in combinations(range(7), 4)
    )
    assert larger <= largest_shadow(len(family), 3)


def test_the_bound_is_exact_for_all_sets_of_some_items() -> None:
    for items in range(3, 10):
        assert largest_shadow(math.comb(items, 3), 3) == math.comb(items, 4)
