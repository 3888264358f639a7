"""A weakened formula stays satisfiable, a strengthened one unsatisfiable; by the proved rules of the strategy
``weaken``.
"""

from __future__ import annotations

from collections.abc import Iterator

from difftest.models.model_reader import NotCheckable
from difftest.relations.base import Case, Claim, Relation, Rule
from generator.seeds.script import read_seed
from generator.strategies.weaken.walk import STRENGTHEN, WEAKEN, Walker
from smtlib.printer import print_term

WHY = {
    "sat": "{} follows from the formula, so that every model of the formula is a model of it.",
    "unsat": "The formula follows from {}, so that every model of it would be a model of the formula.",
}
_STEPS = 3


def _claims(case: Case) -> Iterator[Claim]:
    weakens = case.answer == "sat"
    rule = Rule.SAT if weakens else Rule.UNSAT
    if weakens:
        for left_out in case.in_order(case.asserted)[:1]:
            rest = [term for term in case.asserted if term != left_out]
            yield Claim((case.text(rest),), rule, WHY["sat"].format("The script with an assertion less"))
    seed = read_seed(case.text())
    if isinstance(seed, str):
        raise NotCheckable(seed)
    walker, chance = Walker(seed), case.chance
    for _ in range(4):
        assertions, notes = list(seed.assertions), []
        for _ in range(_STEPS):
            step = walker.step(assertions, WEAKEN if weakens else STRENGTHEN, chance)
            if step is None:
                break
            assertions = step[0]
            notes.append(step[1].rule)
        if notes:
            why = WHY[case.answer].format(f"The other script (made by {', '.join(notes)})")
            yield Claim((case.text(map(print_term, assertions)),), rule, why)


RELATION = Relation(
    "weaker",
    "a weakened formula is unsat where the formula is sat, or a strengthened one sat where it is unsat",
    _claims,
)
