"""The values that a solver gives for terms satisfy the formula together, also after another command that asks
about the model or simplifies a term.
"""

from __future__ import annotations

from collections.abc import Iterator

from difftest.models.cross_check import own_spelling
from difftest.relations.base import Case, Claim, Relation, Rule, has_command, listed
from smtlib.printer import print_term
from smtlib.reader import sexp_text
from smtlib.terms import Kind

WHY = "The second script asserts the formula and values of its terms that the solver gives in one model{}."
_OPTION = "(set-option :produce-models true)"
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
    texts = [print_term(term) for term in sorted(terms, key=lambda t: bool(t.args))[:_MOST]]
    if not texts:
        return
    options, asked = [_OPTION], ""
    command = case.chance.choice(["", *(name for name in _BEFORE if has_command(case.solver, name))])
    if command:
        asked = f"({command} {texts[0]})" if command == "simplify" else f"({command})"
        options += [f"(set-option :{option} true)" for option in filter(None, [_BEFORE[command]])]
    text = case.text(question=case.question(f"{asked}(get-value ({' '.join(texts)}))"), before=options)
    printed = case.printed(text, "sat")[-1]
    values = [sexp_text(listed(pair, length=2)[1]) for pair in listed(printed)]
    if len(values) == len(texts):
        why = WHY.format(f", after {command}" if command else "")
        equations = [f"(= {term} {value})" for term, value in zip(texts, values, strict=True)]
        yield Claim((own_spelling(case.solver, case.text([*case.asserted, *equations])),), Rule.SAT, why)


RELATION = Relation("values", "values of terms do not satisfy the formula", _claims, ("sat",), "values")
