"""An unsatisfiable core is unsatisfiable by itself, in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator

from difftest.relations.base import Case, Claim, Relation, Rule, listed
from smtlib.reader import sexp_text
from smtlib.terms import Kind, Term

WHY = (
    "The second script has the assertions of the unsatisfiable core that the solver gives, so it is "
    "unsatisfiable as well."
)
_CORES = "(set-option :produce-unsat-cores true)"


def _claims(case: Case) -> Iterator[Claim]:
    own = [_name_of(term) for term in case.state.terms]
    names = {
        name or f"core!{number}": term
        for number, (name, term) in enumerate(zip(own, case.asserted, strict=True))
    }
    # A solver prints the first name that a term has: one with a name of its own gets no other.
    named = [term if name in own else f"(! {term} :named {name})" for name, term in names.items()]
    printed = case.printed(case.text(named, case.question("(get-unsat-core)"), [_CORES]), "unsat")
    # With :print-cores-full in the test, it prints terms.
    core = [sexp_text(item) for item in listed(printed[0])]
    if len(core) < len(names) and names.keys() >= set(core):
        yield Claim((case.text([names[name] for name in core]),), Rule.UNSAT, WHY)


def _name_of(term: Term) -> str | None:
    """The name that an assertion has in the script."""
    while term.op.kind is Kind.ANNOTATION:
        for key, value in term.op.attributes:
            if key == ":named":
                return str(value)
        term = term.args[0]
    return None


RELATION = Relation("core", "an unsatisfiable core is satisfiable", _claims, ("unsat",), "core")
