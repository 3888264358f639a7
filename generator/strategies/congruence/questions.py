"""Scripts that compare two terms, with an answer that is known."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from generator.horn_logic import CHECK_BY_HORN, horn_has
from generator.seeds.script import SeedScript
from generator.strategies.mutation.literals import one_of
from smtlib import Declaration, Sort, Term, TermTable, print_term
from smtlib.commands import print_declaration
from smtlib.printer import all_of, quantified, sort_text
from smtlib.sorts import REGLAN
from smtlib.terms import declarations_in, substitute

_VALID_SHARE = 0.2
"""Share of tests that assert what is valid."""
_BESIDE_SHARE = 0.25
"""Share of unsatisfiable tests that have the assertions of the seed formula, too."""
_HORN_SHARE = 0.25
_MOST_STEPS = 2

_OPPOSITE = {"=": "distinct", "distinct": "="}

_PLAIN_WAYS = ("terms", "terms", "constants", "constant")
_WAYS = (*_PLAIN_WAYS, "exists", "forall")
"""How two terms are compared: as they are, with constants for the forms, below a quantifier."""


@dataclass(frozen=True)
class Comparison:
    """A term with a hole, and two forms to put there. ``are_equal``: they are of one value, so the results
    are equal; else the term is the hole and the values differ.
    """

    table: TermTable
    context: Term
    hole: Term
    forms: tuple[Term, Term]
    are_equal: bool

    @cached_property
    def sides(self) -> tuple[Term, Term]:
        """The term with each of the forms."""
        return self.with_term(self.forms[0]), self.with_term(self.forms[1])

    def with_term(self, term: Term) -> Term:
        """The context with this term in its hole."""
        return substitute(self.table, self.context, {self.hole: term})


@dataclass(frozen=True, slots=True)
class ComparisonScript:
    """Writes scripts about a comparison. ``declared`` are its symbols beside those of ``script``; new names
    begin with ``prefix``.
    """

    script: SeedScript
    declared: Sequence[Declaration]
    prefix: str
    comparison: Comparison

    def draw(self, can_bind: bool, has_horn: bool, chance: random.Random) -> tuple[str, str]:
        """A script's commands and its answer. ``can_bind``: the solvers take its terms below quantifiers.
        ``has_horn``: they have z3's tactic for Horn clauses.
        """
        variables = self._variables() if has_horn else None
        if variables is not None and chance.random() < _HORN_SHARE:
            return self._horn(variables, chance), "unsat"
        is_valid = chance.random() < _VALID_SHARE and not self.script.is_recursive
        way = one_of(_WAYS if can_bind else _PLAIN_WAYS, chance)
        declarations, assertions = self._assertions(is_valid, way)
        if not is_valid and chance.random() < _BESIDE_SHARE:
            assertions += map(print_term, self.script.assertions)
            chance.shuffle(assertions)
        lines = [
            *map(print_declaration, self.declared),
            *declarations,
            *(f"(assert {text})" for text in assertions),
            "(check-sat)",
        ]
        return self.script.prelude_text + "\n".join(lines) + "\n", "sat" if is_valid else "unsat"

    def _assertions(self, is_valid: bool, way: str) -> tuple[list[str], list[str]]:
        """Declarations, and assertions that hold, or cannot hold together."""
        comparison, sort = self.comparison, self.comparison.hole.sort
        one, other = (print_term(form) for form in comparison.forms)
        left, right = (print_term(side) for side in comparison.sides)
        holds = "=" if comparison.are_equal else "distinct"
        relation = holds if is_valid else _OPPOSITE[holds]
        if way == "terms" or sort is REGLAN:
            return [], [f"({relation} {left} {right})"]
        name, second = f"{self.prefix}x", f"{self.prefix}y"
        left = self._with_constant(name)
        if way == "forall":
            implied = f"(=> (= {name} {one}) ({holds} {left} {right}))"
            implied = quantified("forall", [(name, sort)], implied)
            return [], [implied if is_valid else f"(not {implied})"]
        if way == "exists":
            found = f"(and (= {name} {one}) ({relation} {left} {right}))"
            return [], [quantified("exists", [(name, sort)], found)]
        names, equal = [name], [f"(= {name} {one})"]
        if way == "constants":
            right = self._with_constant(second)
            names, equal = [name, second], [*equal, f"(= {second} {other})"]
        declarations = [f"(declare-const {constant} {sort_text(sort)})" for constant in names]
        return declarations, [*equal, f"({relation} {left} {right})"]

    def _with_constant(self, name: str) -> str:
        comparison = self.comparison
        constant = Declaration(name, (), comparison.hole.sort)
        return print_term(comparison.with_term(comparison.table.symbol(constant)))

    def _variables(self) -> list[Declaration] | None:
        """The constants in the terms, which are variables of clauses; None where something else is declared
        that they need, or that cannot be a variable.
        """
        script = self.script
        used = [d for d in declarations_in(self.comparison.sides) if not d.is_of_datatype]
        can_be = {*script.bindable, *(d for d in self.declared if not d.params)}
        is_plain = set(script.declared) == set(script.bindable) and can_be.issuperset(used)
        return used if is_plain and self.comparison.context.sort is not REGLAN else None

    def _horn(self, variables: Sequence[Declaration], chance: random.Random) -> str:
        """Clauses by which a predicate has the one term, and must not have the other. Of values that differ,
        it must have no other.
        """
        left, right = (print_term(side) for side in self.comparison.sides)
        sort = self.comparison.context.sort
        predicates = [f"{self.prefix}p{number}" for number in range(chance.randint(1, 1 + _MOST_STEPS))]
        bound = [(d.name, d.result) for d in variables]
        met = (f"{self.prefix}z", sort)
        has_last = f"({predicates[-1]} {met[0]})"
        if not self.comparison.are_equal:
            query = _clause([*bound, met], [has_last, f"(distinct {met[0]} {right})"], "false")
        elif chance.random() < 0.5:
            query = _clause([*bound, met], [has_last, f"(= {met[0]} {right})"], "false")
        else:
            query = _clause(bound, [f"({predicates[-1]} {right})"], "false")
        clauses = [_clause(bound, [], f"({predicates[0]} {left})")]
        for before, after in itertools.pairwise(predicates):
            clauses.append(_clause([met], [f"({before} {met[0]})"], f"({after} {met[0]})"))
        is_plain = horn_has(self.script, self.comparison.sides)
        lines = [
            "(set-logic HORN)" if is_plain else "(set-logic ALL)",
            *self.script.prelude_without(self.script.constants),
            *(f"(declare-fun {name} ({sort_text(sort)}) Bool)" for name in predicates),
            *(f"(assert {text})" for text in [*clauses, query]),
            "(check-sat)" if is_plain else CHECK_BY_HORN,
        ]
        return "\n".join(lines) + "\n"


def _clause(bound: Sequence[tuple[str, Sort]], premises: Sequence[str], conclusion: str) -> str:
    implied = f"(=> {all_of(premises)} {conclusion})" if premises else conclusion
    return quantified("forall", bound, implied)
