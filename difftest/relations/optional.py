"""An assertion that may be left out: what is satisfiable without it is so with it as an alternative.

A solver that forgets a reason of a conflict learns that the rest is to blame. As long as everything is
asserted, this shows only in wrong cores; with an alternative to what was forgotten, the answer is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator

from difftest.relations.base import Case, Claim, Relation, Rule

WHY = (
    "The solver says sat to the script without one of its assertions. The second script asserts it only "
    "under a new proposition, which may be false, so each model of the rest is a model of it."
)
_CHOSEN, _OTHER = "chosen!", "other!"
# Each is asked about: where a core is small, most rests are unsatisfiable.
_TRIED = 5


def _claims(case: Case) -> Iterator[Claim]:
    declared = [f"(declare-const {name} Bool)" for name in (_CHOSEN, _OTHER)]
    for optional in case.in_order(case.asserted)[:_TRIED]:
        rest = [term for term in case.asserted if term != optional]
        if case.ask(case.text(rest)).split()[:1] != ["sat"]:
            continue
        # Implications: solvers simplify a disjunction with the assertion in it, and forget nothing.
        alternative = [f"(=> {_CHOSEN} {optional})", f"(or {_CHOSEN} {_OTHER})"]
        yield Claim((case.text([*alternative, *rest], head=[*case.head, *declared]),), Rule.SAT, WHY)


RELATION = Relation(
    "optional", "a script is unsat although it is sat without one of its alternatives", _claims, ("unsat",)
)
