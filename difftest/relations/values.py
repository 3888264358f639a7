"""The values that a solver gives for terms satisfy the formula together, also after another command that asks
about the model or simplifies a term.
"""

from __future__ import annotations

from collections.abc import Iterator

from difftest.models.cross_check import MODELS, own_spelling
from difftest.models.model_reader import is_element
from difftest.relations.base import Case, Claim, Relation, Rule, has_command, listed
from smtlib.printer import print_term
from smtlib.reader import SExp, sexp_text
from smtlib.sorts import Sort, subsorts
from smtlib.terms import Kind, Term

WHY = "The second script asserts the formula and values of its terms that the solver gives in one model{}."
_MOST = 12
# What may be asked before the values, and the option that it takes.
_BEFORE = {
    "get-assertions": "produce-assertions",
    "get-model": "produce-models",
    "get-learned-literals": "produce-learned-literals",
    "get-difficulty": "produce-difficulty",
    "simplify": "",
}


def _claims(case: Case) -> Iterator[Claim]:
    case.require_exact()
    terms = [t for t in case.subterms if t.kind in (Kind.SYMBOL, Kind.OPERATOR) and not t.sort.is_function]
    terms = sorted(terms, key=lambda t: bool(t.args))[:_MOST]
    texts = [print_term(term) for term in terms]
    if not texts:
        return
    options, asked = [MODELS], ""
    command = case.chance.choice(["", *(name for name in _BEFORE if has_command(case.solver, name))])
    if command:
        asked = f"({command} {texts[0]})" if command == "simplify" else f"({command})"
        options += [f"(set-option :{option} true)" for option in filter(None, [_BEFORE[command]])]
    text = case.text(question=case.question(f"{asked}(get-value ({' '.join(texts)}))"), before=options)
    printed = case.printed(text, "sat")[-1]
    values = [listed(pair, length=2)[1] for pair in listed(printed)]
    if len(values) != len(texts):
        return
    why = WHY.format(f", after {command}" if command else "")
    if equations := _equations(case, terms, texts, values):
        yield Claim((own_spelling(case.solver, case.text([*case.asserted, *equations])),), Rule.SAT, why)


def _equations(case: Case, terms: list[Term], texts: list[str], values: list[SExp]) -> list[str]:
    """What the values say of the terms. The elements of a declared sort have no names in a script: which
    terms are equal is said of them, and nothing of values that are made of them.
    """
    unreadable = case.state.unreadable
    equations: list[str] = []
    equal: dict[Sort, dict[str, list[str]]] = {}
    for term, text, value in zip(terms, texts, values, strict=True):
        if unreadable.isdisjoint(sort.name for sort in subsorts(term.sort)):
            equations.append(f"(= {text} {sexp_text(value)})")
        elif is_element(value):
            equal.setdefault(term.sort, {}).setdefault(sexp_text(value), []).append(text)
    for classes in equal.values():
        equations += [f"(= {' '.join(same)})" for same in classes.values() if len(same) > 1]
        if len(classes) > 1:
            equations.append(f"(distinct {' '.join(same[0] for same in classes.values())})")
    return equations


RELATION = Relation("values", "values of terms do not satisfy the formula", _claims, ("sat",), "values")
