"""The model that a solver gives satisfies the formula, by the solver itself: also interpretations of Horn
clauses.
"""

from __future__ import annotations

from collections.abc import Iterator

from difftest.models.cross_check import MODELS, own_spelling, put_in
from difftest.models.model_reader import NotCheckable
from difftest.models.state import State
from difftest.relations.base import QUESTION, Case, Claim, Relation, Rule
from smtlib.commands import RECURSIVE, print_command
from smtlib.printer import print_term
from smtlib.terms import postorder
from solvers.report_form import Kind
from solvers.running.script import Script

WHY = "The second script defines the symbols of the formula as the solver's model of it does."
FALSE = (
    "The second script asserts that an assertion is false where the symbols are defined as in the solver's "
    "model."
)


def _negated(formula: str) -> str | None:
    """The script that asks for an assertion that the model in ``formula`` makes false; None if it leaves a
    symbol open, as a recursive definition may. Solvers rarely say sat where there are quantifiers, and more
    often unsat to this.
    """
    state = State.at(Script.of(formula), 0)
    is_recursive = any(command.name in RECURSIVE for command in state.commands)
    if state.symbols or state.uninterpreted or is_recursive:
        return None
    lines = [print_command(command) for command in state.commands if command.name != "assert"]
    terms = " ".join(map(print_term, state.assertions))
    return "\n".join([*lines, f"(assert (not (and true {terms})))", QUESTION]) + "\n"


def _claims(case: Case) -> Iterator[Claim]:
    question = case.question("(get-model)")
    model = case.printed_after("sat", case.text(question=question, before=[MODELS]))
    found = put_in(case.script, case.check, model)
    if found.open_operators:
        raise NotCheckable(f"not defined everywhere: {found.open_operators[0]}")
    if any(term.variables for term in postorder(case.state.assertions)):
        negated = _negated(found.formula)
        if negated is not None:
            yield Claim((own_spelling(case.solver, negated),), Rule.UNSAT, FALSE)
    # Whether sorts may have more elements than the model names is left open.
    yield Claim((own_spelling(case.solver, found.loose or found.formula),), Rule.SAT, WHY)


RELATION = Relation(
    "own-model", "the solver refutes its own model", _claims, ("sat",), "model", kind=Kind.MODEL
)
