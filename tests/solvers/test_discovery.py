"""What solvers have that is not known here: how they are asked, and the names known to be missing."""

from __future__ import annotations

import struct

import pytest

from solvers.discovery.comparing import discover, is_known
from solvers.discovery.ranks import DECLARATIONS, ranks_of
from solvers.discovery.scripts import open_listing
from solvers.discovery.words import words_in
from solvers.options import option_table
from solvers.running.runner import Runner
from tests.releases import find_or_skip

MISSING: dict[str, dict[str, str]] = {
    "z3": {},
    "cvc5": {},
    "bitwuzla": {},
    "yices": {},
    "boolector": {"model": "a word that its parser keeps for itself"},
}
"""By solver the names that are known to be missing, each with the reason. A name that a new release brings is
added to the theory files, or here.
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "family", ["z3", "cvc5", *(pytest.param(name, marks=pytest.mark.thorough) for name in list(MISSING)[2:])]
)
@pytest.mark.few(1)
def test_installed_solvers_have_nothing_that_is_not_known(family: str) -> None:
    new = discover(find_or_skip(family))
    assert [name for name in new if name.name not in MISSING[family]] == []


def test_words_end_strings_and_other_words() -> None:
    data = b"\0\x7fset.union\0N4cvc56parserE\0src/term.cpp\0not a name: bvadd\0\x01=>\0"
    words = words_in(data)
    assert {"set.union", "union", "bvadd", "add", "=>"} <= words
    assert not words & {"not", "a", "parserE", "cpp", "term.cpp"}


def test_only_constants_of_a_program_are_read() -> None:
    names, constants = b"\0.rodata\0.text\0", b"\0bvadd\0"
    start = 64
    sections = [(0, 0, 0), (1, start, len(constants)), (9, start, 0), (0, start + len(constants), len(names))]
    body = constants + names + b"\0junk\0"
    table = b"".join(struct.pack("<IIQQQQIIQQ", n, 1, 0, 0, at, size, 0, 0, 0, 0) for n, at, size in sections)
    head = b"\x7fELF\x02\x01".ljust(0x28, b"\0") + struct.pack("<Q", start + len(body))
    head = head.ljust(0x3A, b"\0") + struct.pack("<HHH", 64, len(sections), 3)
    assert words_in(head + body + table) >= {"bvadd", "add"}
    assert "junk" not in words_in(head + body + table)
    assert "junk" in words_in(head.replace(b"@\0", b"\xff\xff", 1) + body + table)


@pytest.mark.parametrize("family", ["z3", "cvc5", "boolector"])
def test_a_solver_says_which_words_are_functions_and_what_they_take(family: str) -> None:
    solver = find_or_skip(family)
    with Runner() as runner:
        listing = open_listing(solver, runner)
        assert listing.functions(["bvsdiv", "frob", "extract", "push-frob"]) == {"bvsdiv", "extract"}
        declared = [line for line in DECLARATIONS if "BitVec" in line]
        terms = ["(concat |a (_ BitVec 8)| |a (_ BitVec 1)|)", "(bvcomp |a (_ BitVec 8)| |a (_ BitVec 8)|)"]
        wrong = "(bvcomp |a (_ BitVec 8)| |a (_ BitVec 1)|)"
        said = listing.sorts_of(declared, [*terms, wrong, "frob"])
        listing.close()
    assert said == [said[0], "(_ BitVec 1)", "", ""]
    assert said[0] in ("(_ BitVec 9)", "?")


def test_ranks_are_tried_with_indices_where_a_function_has_none_without() -> None:
    class Pretend:
        def sorts_of(self, declarations: object, terms: list[str]) -> list[str]:
            accepted = {"(frob |a Int| |a Int|)": "Bool", "((_ twist 2 1) |a (_ BitVec 8)|)": "(_ BitVec 8)"}
            accepted |= dict.fromkeys(("|a Int|", "|a (_ BitVec 8)|"), "known")
            return [accepted.get(term, "") for term in terms]

    found = ranks_of(Pretend(), ["frob", "twist", "other"])  # type: ignore[arg-type]
    assert [one.rank(sort) for tried in found.values() for one, sort in tried] == [
        "(frob Int Int Bool)",
        "((_ twist 2 1) (_ BitVec 8) (_ BitVec 8))",
    ]


@pytest.mark.parametrize(
    ("name", "known"),
    [("bvadd", True), ("emptyset", True), ("extract", True), ("is", True), ("lambda", True), ("frob", False)],
)
def test_a_name_is_known_if_the_checker_reads_it(name: str, known: bool) -> None:
    assert is_known(name) is known


def test_an_option_that_only_a_pattern_covers_is_new_unless_it_is_listed() -> None:
    table = option_table("z3")
    assert table.mentions("smt.relevancy")
    assert table.mentions("pp.max_depth")
    assert table.find("smt.frob=1") is not None
    assert not table.mentions("smt.frob")
