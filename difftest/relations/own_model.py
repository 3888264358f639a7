"""The model that a solver gives satisfies the formula, by the solver itself: also interpretations of Horn
clauses.
"""

from __future__ import annotations

from collections.abc import Iterator

from difftest.models.cross_check import own_spelling, put_in
from difftest.models.model_reader import NotCheckable
from difftest.relations.base import Case, Claim, Relation, Rule

WHY = "The second script defines the symbols of the formula as the solver's model of it does."


def _claims(case: Case) -> Iterator[Claim]:
    printed = case.ask(
        case.text(question="(check-sat)(get-model)", before=["(set-option :produce-models true)"])
    )
    said, _, model = printed.lstrip().partition("\n")
    if said.strip() != "sat":
        raise NotCheckable("not sat when more is asked")
    found = put_in(case.script, case.check, model)
    if found.open_operators:
        raise NotCheckable(f"not defined everywhere: {found.open_operators[0]}")
    # Whether sorts may have more elements than the model names is left open.
    yield Claim((own_spelling(case.solver, found.loose or found.formula),), Rule.SAT, WHY)


RELATION = Relation("own-model", "the solver refutes its own model", _claims, ("sat",), "model")
