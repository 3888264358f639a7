"""The table of known answers, against the reader, the checker, the printer and both solvers."""

from __future__ import annotations

from functools import cache

import pytest

from corpus.acceptance import Acceptance, probe
from smtlib import check_script, postorder, print_script, read_script
from tests.known import BAD, BOTH, GOOD, KNOWN, Known
from tests.smtlib.solving import answer, is_same_for_z3, is_well_sorted, with_logic

good = pytest.mark.parametrize("case", GOOD, ids=lambda k: k.name)
bad = pytest.mark.parametrize("case", BAD, ids=lambda k: k.name)
each_solver = pytest.mark.parametrize("solver", BOTH)


@cache
def printed(case: Known) -> str:
    return print_script(check_script(read_script(case.text)))


def test_names_of_cases_are_unique() -> None:
    assert len({case.name for case in KNOWN}) == len(KNOWN)


@good
def test_checker_accepts(case: Known) -> None:
    assert [str(e) for e in check_script(read_script(case.text)).errors] == []


@good
def test_prints_in_normal_form(case: Known) -> None:
    assert printed(case).strip() == case.normal.strip()


@good
def test_printed_text_reads_back(case: Known) -> None:
    again = check_script(read_script(printed(case)))
    assert again.errors == []
    assert print_script(again) == printed(case)


@good
def test_assertions_have_the_sorts(case: Known) -> None:
    assertions = check_script(read_script(case.text)).assertions
    assert all(str(a.sort) == "Bool" for a in assertions)
    if case.sorts is not None:
        assert tuple(str(a.args[0].sort) for a in assertions) == case.sorts


@good
def test_arguments_come_before_what_uses_them(case: Known) -> None:
    for root in check_script(read_script(case.text)).assertions:
        for term in postorder([root]):
            assert all(arg.id < term.id for arg in term.args)


@bad
def test_checker_names_the_error_and_its_place(case: Known) -> None:
    assert case.error is not None
    checked = check_script(read_script(case.text))
    assert checked.errors, print_script(checked)
    first = checked.errors[0]
    assert case.error.message in first.message
    assert (first.line, first.column) == (case.error.line, case.error.column)


@cache
def acceptances(solver: str) -> dict[str, Acceptance]:
    """What the solver says to every case: as printed where it is well sorted, else as written."""
    texts = [case.text if case.error else printed(case) for case in KNOWN]
    if solver == "cvc5":
        texts = [with_logic(text) for text in texts]
    return dict(zip((case.name for case in KNOWN), probe(texts, solver), strict=True))


@each_solver
@pytest.mark.parametrize("case", KNOWN, ids=lambda k: k.name)
def test_solvers_accept_what_the_table_says(case: Known, solver: str) -> None:
    said = acceptances(solver)[case.name]
    assert is_well_sorted(said) is (solver in case.solvers), said.message


@each_solver
@pytest.mark.parametrize("case", [k for k in GOOD if k.answer], ids=lambda k: k.name)
def test_solvers_give_the_same_answer_to_the_original_and_to_the_printed_text(
    case: Known, solver: str
) -> None:
    if solver not in case.solvers:
        pytest.skip(f"{solver} does not know this")
    to_printed = answer(solver, printed(case))
    assert to_printed in (case.answer, "unknown", "refused")
    # Old spellings are refused as they were written; that is why they are normalised.
    assert answer(solver, case.text) in (to_printed, "unknown", "refused")


STATIC = [
    k
    for k in GOOD
    if k.solvers != ("cvc5",) and not {"dialect", "scopes", "queries", "recursion"} & set(k.features)
]


@pytest.mark.parametrize("case", STATIC, ids=lambda k: k.name)
def test_printed_text_is_the_same_term_for_z3(case: Known) -> None:
    assert is_same_for_z3(case.text, printed(case))


@pytest.mark.parametrize("case", [k for k in GOOD if k.answer], ids=lambda k: k.name)
def test_some_solver_confirms_the_known_answer(case: Known) -> None:
    assert case.answer in {answer(solver, printed(case)) for solver in case.solvers}
