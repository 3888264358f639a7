"""The goals that a tactic leaves are satisfiable together if and only if the formula is."""

from __future__ import annotations

from collections.abc import Iterator

from difftest.models.model_reader import NotCheckable
from difftest.relations.base import Case, Claim, Relation, Rule, listed
from smtlib.reader import SExp, sexp_text

WHY = (
    "The second script asserts that one of the goals holds that the tactic {} makes of the formula, and "
    "calls precise."
)


def formula_of(goal: SExp) -> str:
    """A goal as one formula; NotCheckable if it is not a precise one."""
    goal = listed(goal, "goal")
    end = goal.index(":precision") if ":precision" in goal else len(goal)
    if goal[end + 1 : end + 2] != ["precise"]:
        raise NotCheckable("goals that are not precise")
    return f"(and true {' '.join(map(sexp_text, goal[1:end]))})"


def _claims(case: Case) -> Iterator[Claim]:
    tactics = case.table.first_tactics
    for tactic in case.in_order(tactics)[:1]:
        printed = case.printed(case.text(question=f"(apply {tactic})"))[0]
        goals = list(map(formula_of, listed(printed, "goals")[1:]))
        yield Claim((case.text([f"(or false {' '.join(goals)})"]),), Rule.SAME, WHY.format(tactic))


RELATION = Relation(
    "goals", "the goals of a tactic are answered differently from the formula", _claims, command="apply"
)
