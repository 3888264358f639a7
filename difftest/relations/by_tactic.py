"""A tactic answers as the solver does."""

from __future__ import annotations

from collections.abc import Iterator

from difftest.relations.base import Case, Claim, Relation, Rule
from solvers.tactics import COMMAND, random_row

WHY = "Both scripts ask the same question; the second one by the tactic {}."


def _claims(case: Case) -> Iterator[Claim]:
    table = case.table
    if table.tactic_settings and not case.state.assumed:
        row = random_row(table.first_tactics, table.last_tactics, case.chance)
        yield Claim((case.text(question=f"({COMMAND} {row})"),), Rule.SAME, WHY.format(row))


RELATION = Relation("by-tactic", "a tactic answers differently from the solver", _claims, command=COMMAND)
