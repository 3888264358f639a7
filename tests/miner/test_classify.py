"""Every rule's own examples, and issues as a whole."""

from __future__ import annotations

import pytest

from miner.bug_class import CLASSES
from miner.classify import classify, is_mined_by_default
from miner.expected import answer_in, expectation_in
from miner.extract import extract_issue
from miner.hits import GROUPS
from miner.learned import Weights
from miner.text_rules import read_rules, rules_for
from tests.miner.mining_help import issue_of

RULES = read_rules("classes.toml")
EXPECTED = read_rules("expected.toml")


@pytest.mark.parametrize("file", ["classes.toml", "expected.toml", "languages.toml"])
def test_rules_hold_on_their_examples_and_on_nothing_they_must_not(file: str) -> None:
    for rule in read_rules(file):
        assert rule.examples
        assert rule.never
        for text in rule.examples:
            assert rule in rules_for(file, text), (rule.id, text)
            assert rule.pattern.search(text), (rule.id, text)
        for text in rule.never:
            assert rule not in rules_for(file, text) or not rule.pattern.search(text), (rule.id, text)


def test_rules_name_known_groups_places_and_classes() -> None:
    assert len({rule.id for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert rule.group in GROUPS
        assert rule.where <= {"title", "label", "text", "output", "formula"}
        assert rule.value in CLASSES if rule.group == "class" else True
        assert rule.value or "v" in rule.pattern.groupindex
    assert {rule.value for rule in RULES if rule.group == "class"} == set(CLASSES) - {"none"}


def test_rules_of_answers_give_the_right_one() -> None:
    for rule in EXPECTED:
        others = ("judged", "misjudged", "later", "without", "whole")
        assert rule.group in ("expected", "unexpected", "credited", "printed", *others)
        if rule.group in others:
            assert rule.value or ("who" if "judged" in rule.group else "a") in rule.pattern.groupindex
            continue
        named = {"a"} | ({"who"} if rule.group == "credited" else set())
        assert rule.value in ("sat", "unsat") or named <= rule.pattern.groupindex.keys()
        for text in rule.examples:
            said = answer_in([text], "cvc5" if "cvc5" in text else "z3", None)
            assert (said if rule.group == "printed" else expectation_in(text, "text", "z3")) is not None
    said = {text: expectation_in(text, "text", "z3") for text in ("should not be sat", "cvc5 says unsat")}
    assert [one and one.answer for one in said.values()] == ["unsat", "unsat"]
    assert expectation_in("z3 says unsat", "text", "z3") is None


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Both checks should return sat twice.", "sat sat"),
        ("The expected answer is unsat twice.", "unsat unsat"),
        ("The expected answer is `unsat` in both cases.", "unsat unsat"),
        ("It should return `unsat,sat`.", "unsat sat"),
    ],
)
def test_answers_to_several_checks_are_read(text: str, answer: str) -> None:
    found = expectation_in(text, "text", "z3")
    assert found is not None and found.answer == answer


@pytest.mark.parametrize(
    ("title", "body", "required"),
    [
        ("Soundness bug in NIA logic", "", "soundness"),
        ("Invalid model with arrays", "```\nsat\n```", "invalid-model"),
        (
            "Bug with check-models",
            '```\n$ z3 a.smt2\n(error "an invalid model was generated")\n```',
            "invalid-model",
        ),
        ("Crash at smt_context.cpp:12", "", "crash"),
        ("Problem", "```\n$ z3 a.smt2\nASSERTION VIOLATION\nFile: a.cpp\n```", "crash"),
        ("ast_manager LEAKED: 6", "", "leak"),
        ("Performance regression on strings", "", "performance"),
        ("z3 returns unknown for trivial LIA", "", "incompleteness"),
        ("Regression from 4.8.5", "", "regression"),
        ("How do I install it?", "Thanks for the tool.", "none"),
    ],
)
def test_class_of_an_issue(title: str, body: str, required: str) -> None:
    issue = issue_of(title, body)
    assert classify(issue, extract_issue(issue)).bug_class.value == required


def test_all_that_is_said_comes_with_its_words() -> None:
    issue = issue_of(
        "Soundness bug in QF_S since commit 2c02264a9",
        "z3 4.8.9 says unsat.\n\nCommit: 1f2e3d4c",
        "regression 387964f5089a\nfixed by 1ec977930a53",
        labels=("major",),
    )
    said = classify(issue, extract_issue(issue))
    assert said.severity is not None
    assert (said.severity.value, said.severity.where) == ("high", "label")
    assert said.version is not None
    assert said.version.value == "4.8.9"
    assert said.commit is not None
    assert said.commit.value == "1f2e3d4c"
    assert said.fixed_by is not None
    assert (said.fixed_by.value, said.fixed_by.where) == ("1ec977930a53", "comment:1")
    assert said.introduced_by is not None
    assert said.introduced_by.reason is not None
    assert said.introduced_by.reason.startswith(("since commit", "regression"))
    assert "strings" in {area.value for area in said.areas}
    assert is_mined_by_default(issue, said)


def test_code_is_not_prose() -> None:
    issue = issue_of("A question", "```python\nraise Exception('segfault')\n```")
    assert not classify(issue, extract_issue(issue), Weights()).is_bug  # the rules; words count anywhere
    issue = issue_of("How can I raise an exception?", "```python\nraise Exception('segfault')\n```")
    assert not classify(issue, extract_issue(issue)).is_bug
