"""The assertions that a solver prints are those that it read."""

from __future__ import annotations

from collections.abc import Iterator

from difftest.relations.base import Case, Claim, Relation, Rule, listed
from smtlib.reader import sexp_text
from solvers.report_form import Kind

WHY = "The second script has the assertions of the first as the solver prints them (get-assertions)."
_OPTION = "(set-option :produce-assertions true)"


def _claims(case: Case) -> Iterator[Claim]:
    printed = case.printed(case.text(question="(get-assertions)", before=[_OPTION]))
    yield Claim((case.text(list(map(sexp_text, listed(printed[0])))),), Rule.SAME, WHY)


RELATION = Relation(
    "printed", "printed assertions are answered differently", _claims, place="printed", kind=Kind.PRINTING
)
