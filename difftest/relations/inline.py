"""A definition inlined, or a name for a term, changes no answer."""

from __future__ import annotations

from collections.abc import Iterator

from difftest.relations.base import Case, Claim, Relation, Rule
from smtlib.checker import Definition
from smtlib.mentions import theories_in
from smtlib.printer import print_term, sort_text
from smtlib.terms import Declaration, Kind, Term, TermTable, postorder, rewrite, substitute

INLINED = "The second script has the bodies of definitions in the place of their names."
NAMED = "The second script has a name for a term of the first."
_NAME = "named!"


def _inlined(table: TermTable, root: Term, definitions: dict[Declaration, Definition]) -> Term:
    def change(old: Term, args: tuple[Term, ...]) -> Term | None:
        found = definitions.get(old.op.declaration) if old.op.declaration is not None else None
        if found is None or len(args) != len(found.params) or old.kind is not Kind.SYMBOL:
            return None
        return found.applied(table, args)

    return rewrite(table, root, change)


def _claims(case: Case) -> Iterator[Claim]:
    table = case.state.table
    roots = case.state.terms
    simple = {
        d.declaration: d
        for command in case.state.commands
        for d in command.definitions
        if d.declaration.origin == "define" and not any(t.bound for t in postorder([d.body]))
    }
    if simple:
        terms = roots
        # Bodies may use earlier definitions.
        for _ in range(len(simple)):
            after = [_inlined(table, term, simple) for term in terms]
            if after == terms:
                break
            terms = after
        if terms != roots:
            yield Claim((case.text(map(print_term, terms)),), Rule.SAME, INLINED)
    if not case.is_free(_NAME):
        return
    # A term about a part of a heap says something else where it is asserted, as in an equation.
    only_defines = "SeparationLogic" in theories_in(case.script.text)
    for chosen in case.subterms:
        if not chosen.args or chosen.kind is Kind.ANNOTATION:
            continue
        sort, text = sort_text(chosen.sort), print_term(chosen)
        defines = only_defines or case.salt % 2 == 0
        name = table.symbol(Declaration(_NAME, (), chosen.sort))
        asserted = [print_term(substitute(table, root, {chosen: name})) for root in roots]
        line = f"(define-fun {_NAME} () {sort} {text})" if defines else f"(declare-const {_NAME} {sort})"
        equation = [] if defines else [f"(= {_NAME} {text})"]
        yield Claim((case.text([*asserted, *equation], head=[*case.head, line]),), Rule.SAME, NAMED)


RELATION = Relation("inline", "an inlined definition, or a name for a term, changes the answer", _claims)
