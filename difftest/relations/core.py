"""An unsatisfiable core is unsatisfiable by itself, in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator

from difftest.relations.base import Case, Claim, Relation, Rule
from smtlib.reader import SExpList

WHY = (
    "The second script has the assertions of the unsatisfiable core that the solver gives, so it is "
    "unsatisfiable as well."
)
_CORES = "(set-option :produce-unsat-cores true)"


def _claims(case: Case) -> Iterator[Claim]:
    names = {f"core!{number}": term for number, term in enumerate(case.asserted)}
    named = [f"(! {term} :named {name})" for name, term in names.items()]
    printed = case.printed(case.text(named, "(check-sat)(get-unsat-core)", [_CORES]), "unsat")
    core = printed[0]
    if isinstance(core, SExpList) and len(core) < len(names) and all(name in names for name in core):
        yield Claim((case.text([names[name] for name in core]),), Rule.UNSAT, WHY)


RELATION = Relation("core", "an unsatisfiable core is satisfiable", _claims, ("unsat",), "core")
