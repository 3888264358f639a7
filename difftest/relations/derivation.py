"""The derivation of ``false`` that a solver prints for Horn clauses replays: every step is an instance of its
rule, and every rule follows from the clauses.

The solver prints ground facts, each with the rule and the facts before it that it comes from (steps of
hyper-resolution). The rules are the clauses, or what the solver made of several of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from difftest.models.model_reader import NotCheckable
from difftest.relations.base import Case, Claim, Relation, Rule, listed
from difftest.relations.fixedpoint import GOAL, Rules
from difftest.relations.horn import arguments_are, definition_of
from smtlib.commands import declaration_text
from smtlib.printer import all_of, sort_text
from smtlib.reader import SExp, SExpList, sexp_text
from smtlib.terms import Declaration

STEPS = (
    "The second script asserts that each step of the solver's derivation of false is an instance of its rule "
    "with the facts before it."
)
RULES = (
    "The second script asserts that the clauses hold and one of the rules in the solver's derivation fails."
)
# Without the first one, finite sorts go to an engine that prints none; without the second, predicates lose
# arguments and get other names.
_OPTIONS = ("(set-option :fp.engine spacer)", "(set-option :fp.xform.slice false)")
# Every other test gets the clauses themselves as rules: else nothing may be left but one without conditions.
_NOT_MERGED = (
    "(set-option :fp.xform.inline_eager false)",
    "(set-option :fp.xform.inline_linear false)",
)
_QUERY = "query!"
_MOST_STEPS = 200
_MOST_TEXT = 200_000
_MOST_FORMULA = 20_000


@dataclass(frozen=True, slots=True)
class _Rule:
    """``head`` holds for all ``variables`` (as printed) for which ``body`` does; ``whole`` says so."""

    variables: SExp
    body: SExp
    head: SExp
    whole: SExp


@dataclass(frozen=True, slots=True)
class _Step:
    """``conclusion`` comes from ``rule`` with these facts."""

    rule: _Rule
    facts: tuple[SExp, ...]
    conclusion: SExp


class _Reader:
    """Reads a printed derivation; its parts are shared, by ``let``, and stay so."""

    def __init__(self) -> None:
        self.steps: dict[int, _Step] = {}
        self._sizes: dict[int, int] = {}

    def read(self, printed: SExp) -> None:
        """The steps of a derivation, each once. NotCheckable if it has another form or is too long."""
        # As long as it is there, the numbers of its parts stay theirs.
        whole = _without_lets(printed, {})
        _, last, final, _ = listed(whole, "mp", 4)
        concluded = self._step(last)
        if listed(_asserted(final), "=>", 3)[1:] != [concluded, "false"]:
            raise NotCheckable("a derivation of another form")

    def _step(self, sexp: SExp) -> SExp:
        """What a step concludes."""
        step = listed(sexp)
        if id(step) not in self.steps:
            if len(step) < 3 or listed(step[0])[:2] != ["_", "hyper-res"]:
                raise NotCheckable("a derivation of another form")
            facts = tuple(map(self._step, step[2:-1]))
            rule, conclusion = _asserted(step[1]), step[-1]
            if len(self.steps) >= _MOST_STEPS or self._size(rule) + self._size(conclusion) > _MOST_FORMULA:
                raise NotCheckable("a long derivation")
            self.steps[id(step)] = _Step(_rule(rule), facts, conclusion)
        return self.steps[id(step)].conclusion

    def _size(self, sexp: SExp) -> int:
        """The length of its text about, with what it shares repeated."""
        if isinstance(sexp, str):
            return len(sexp)
        if id(sexp) not in self._sizes:
            self._sizes[id(sexp)] = len(sexp) + sum(map(self._size, sexp))
        return self._sizes[id(sexp)]


def _asserted(sexp: SExp) -> SExp:
    formula: SExp = listed(sexp, "asserted", 2)[1]
    return formula


def _rule(whole: SExp) -> _Rule:
    formula, variables = whole, SExpList()
    while formula[:1] in (["forall"], ["!"]):
        if formula[0] == "forall":
            _, bound, formula = listed(formula, "forall", 3)
            variables = SExpList([*variables, *listed(bound)])
        elif len(formula) > 1:
            formula = formula[1]
        else:
            raise NotCheckable("a derivation of another form")
    if formula[:1] == ["=>"]:
        _, body, head = listed(formula, "=>", 3)
    else:
        body, head = "true", formula
    return _Rule(variables, body, head, whole)


def _without_lets(sexp: SExp, known: dict[str, SExp]) -> SExp:
    """The same with what names stand for, shared and not copied."""
    if isinstance(sexp, str):
        return known.get(sexp, sexp)
    if sexp[:1] == ["let"]:
        _, pairs, body = listed(sexp, "let", 3)
        named = (listed(pair, length=2) for pair in listed(pairs))
        values = {sexp_text(name): _without_lets(value, known) for name, value in named}
        return _without_lets(body, known | values)
    return SExpList([_without_lets(part, known) for part in sexp])


def _renamed(sexp: SExp, names: dict[str, str]) -> SExp:
    if isinstance(sexp, str):
        return names.get(sexp, sexp)
    return SExpList([_renamed(part, names) for part in sexp])


def _with_goal(sexp: SExp) -> SExp:
    """The formula with the goal for the predicate that the solver put in its place."""
    if _name(sexp).startswith(_QUERY):
        return GOAL
    return sexp if isinstance(sexp, str) else SExpList([_with_goal(part) for part in sexp])


def _name(atom: SExp) -> str:
    name = atom if isinstance(atom, str) else (atom[0] if atom else "")
    return name if isinstance(name, str) else ""


def _instance(number: int, step: _Step, predicates: list[Declaration]) -> tuple[list[str], str]:
    """Definitions of the predicates by the facts that a step uses, and the formula that it is an instance."""
    names = {d.name: f"step!{number}!{n}" for n, d in enumerate(predicates)}
    lines = []
    for predicate in predicates:
        facts = [_arguments(fact) for fact in step.facts if _name(fact) == predicate.name]
        cases = [all_of(arguments_are(map(sexp_text, values))) for values in facts]
        lines.append(definition_of(names[predicate.name], predicate, cases))
    terms, values = _arguments(step.rule.head), _arguments(step.conclusion)
    if _name(step.rule.head) != _name(step.conclusion) or len(terms) != len(values):
        raise NotCheckable("a derivation of another form")
    equal = (f"(= {sexp_text(t)} {sexp_text(v)})" for t, v in zip(terms, values, strict=True))
    formula = all_of((sexp_text(_renamed(step.rule.body, names)), *equal))
    bound = sexp_text(step.rule.variables)
    return lines, f"(exists {bound} {formula})" if step.rule.variables else formula


def _arguments(atom: SExp) -> list[SExp]:
    return [] if isinstance(atom, str) else list(atom[1:])


def _claims(case: Case) -> Iterator[Claim]:
    case.require_free(_QUERY, "step!")
    rules = Rules(case)
    case.require_total()
    predicates = rules.predicates
    options = (*_OPTIONS, *(_NOT_MERGED if case.salt % 2 else ()))
    found = case.printed(rules.text(options, " :print-certificate true"), "sat")
    if len(found) != 1:
        raise NotCheckable("no derivation")
    reader = _Reader()
    reader.read(found[0])
    steps = list(reader.steps.values())
    names = {d.name for d in predicates}
    if any(_name(variable) in names for step in steps for variable in step.rule.variables):
        raise NotCheckable("names that are taken")
    instances = [_instance(number, step, predicates) for number, step in enumerate(steps)]
    head = ["(set-logic ALL)", *rules.others, f"(declare-fun {GOAL} () Bool)"]
    defined = [line for lines, _ in instances for line in lines]
    declared = [declaration_text(d.name, map(sort_text, d.params), "Bool") for d in predicates]
    used = {sexp_text(_with_goal(step.rule.whole)): None for step in steps}
    failing = f"(not {all_of(used)})"
    claims = [
        Claim((case.text([text for _, text in instances], head=[*head, *defined]),), Rule.SAT, STEPS),
        Claim((case.text([*rules.formulas, failing], head=[*head, *declared]),), Rule.UNSAT, RULES),
    ]
    if any(len(text) > _MOST_TEXT for claim in claims for text in claim.texts):
        raise NotCheckable("a long derivation")
    yield from case.in_order(claims, lambda claim: claim.why)


RELATION = Relation(
    "derivation",
    "the derivation of false from Horn clauses does not replay",
    _claims,
    ("unsat",),
    "derivation",
    "query",
)
