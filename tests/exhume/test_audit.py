"""The command audit-rules."""

from __future__ import annotations

import json

from tests.stored import Command


def test_a_rule_of_the_installed_release(exhume: Command) -> None:
    done = exhume("audit-rules", "cvc5", "--instances", "20", "--rule", "bv-ult-self", "--json")
    assert done.code == 0
    (row,) = json.loads(done.out)
    assert (row["rule"], row["theory"], row["instances"], row["refuted"]) == ("bv-ult-self", "bv", 20, 0)


def test_the_table_names_theories(exhume: Command) -> None:
    done = exhume(
        "audit-rules", "cvc5", "--instances", "20", "--rule", "bv-ult-self", "--rule", "re-opt-elim"
    )
    assert done.code == 0
    assert [line.split()[:3] for line in done.out.splitlines()] == [
        ["theory", "rules", "instances"],
        ["bv", "1", "20"],
        ["re", "1", "20"],
    ]


def test_bad_input_is_one_line(exhume: Command) -> None:
    done = exhume("audit-rules", "cvc5", "--rule", "bv-ult-sel")
    assert (done.code, done.err) == (2, "exhume: there is no rule 'bv-ult-sel'; did you mean bv-ult-self?\n")
    done = exhume("audit-rules", "z3")
    assert done.code == 2
    assert done.err.startswith("exhume: solver 'z3': it does not print its rewrite rules;")
