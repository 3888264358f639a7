"""What a solver has to refute for a rule to be right.

Each law gives obligations: scripts that are unsatisfiable if the law holds for these sorts, indices and
numbers of arguments. A sort parameter that may be any sort is an uninterpreted sort, which stands for
them all. The sides are built by the same code that builds mutants.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from generator.strategies.weaken.conditions import holds
from generator.strategies.weaken.patterns import Builder, Match, Run, variables_of
from generator.strategies.weaken.ruleset import Law, Rule, _Reader, common_theories
from smtlib import (
    BOOL,
    STRING,
    Declaration,
    Sort,
    SortError,
    Term,
    TermTable,
    check_script,
    make_sort,
    print_script,
    print_term,
    read_script,
    read_sexps,
    sexp_text,
)
from smtlib.application import Applications
from smtlib.environment import Environment
from smtlib.reader import SExp
from smtlib.signature import Bindings, SortPattern, evaluate_index
from smtlib.sorts import REGLAN
from smtlib.values import literal_value

_WIDTHS: Mapping[str, tuple[int, ...]] = {"n": (1, 3, 8), "m": (1, 4)}
_FORMATS = ((2, 3), (3, 5))

_SAMPLES = tuple(read_sexps('(str.to_re "a") (re.* (str.to_re "ab")) (re.opt (re.range "b" "d")) re.none'))
"""Regular expressions a law about any is tried with: no solver takes variables for them."""


@dataclass(frozen=True, slots=True)
class Obligation:
    """A script to be refuted. ``is_bounded``: some variable stands for a few terms only."""

    label: str
    text: str
    is_bounded: bool


def obligations(rule: Rule) -> Iterator[Obligation]:
    """All obligations of a rule, at least one."""
    if rule.obligation:
        yield Obligation(rule.name, f"(set-logic ALL)\n{rule.obligation}\n(check-sat)\n", False)
    for law in rule.laws:
        for sorts in _instances(rule, law):
            yield from _Instance(rule, law, sorts).obligations()


def premises(rule: Rule) -> Iterator[Obligation]:
    """The same scripts with nothing but what the law starts from: some of them should be satisfiable."""
    for law in rule.laws:
        for sorts in _instances(rule, law):
            yield from _Instance(rule, law, sorts).obligations(premise=True)


def _instances(rule: Rule, law: Law) -> Iterator[Bindings]:
    """Every choice of sorts and indices that the law is tried with."""
    patterns = [v.sort for side in (law.left, law.right) for v in variables_of(side)]
    parameters = dict.fromkeys(name for p in patterns for name in sorted(p.parameters()))
    indices = dict.fromkeys(name for p in patterns for name in _index_names(p))
    choices: list[list[dict[str, Sort | int | str]]] = []
    for name in parameters:
        domain = law.domains.get(name)
        sorts = [make_sort(s) for s in sorted(domain)] if domain else [make_sort(f"U_{name}")]
        choices.append([{name: sort} for sort in sorts])
    if "e" in indices and "s" in indices:
        choices.append([{"e": e, "s": s} for e, s in _FORMATS])
    choices.extend([{name: w} for w in _WIDTHS[name]] for name in indices if name in _WIDTHS)
    if rule.instances:
        given = {name for instance in rule.instances for name in instance}
        choices = [c for c in choices if not given & set(c[0])]
        choices.append([dict(instance) for instance in rule.instances])
    for chosen in itertools.product(*choices):
        bindings: Bindings = {name: value for part in chosen for name, value in part.items()}
        if law.where is None or evaluate_index(law.where, bindings):
            yield bindings


def _index_names(pattern: SortPattern) -> Iterator[str]:
    for index in pattern.indices:
        if isinstance(index, str) and not index.isdigit():
            yield index
    for arg in pattern.args:
        yield from _index_names(arg)


class _Instance:
    """A law at certain sorts and indices."""

    def __init__(self, rule: Rule, law: Law, sorts: Bindings) -> None:
        self.rule = rule
        self.law = law
        self.sorts = sorts
        self.table = TermTable()
        self.applications = Applications(Environment(common_theories()), self.table)
        self.bound = itertools.count(1)
        self.builder = Builder(self.applications, self._fresh)
        self.variables = {v.name: v for side in (law.left, law.right) for v in variables_of(side)}

    def _fresh(self, sort: Sort) -> Term:
        return self.table.variable(f"bound{next(self.bound)}", sort)

    def obligations(self, premise: bool = False) -> Iterator[Obligation]:
        """One for each number of arguments in the runs, and for each choice of bounded variables."""
        runs = [v for v in self.variables.values() if isinstance(v, Run)]
        for lengths in itertools.product(range(4 if len(runs) == 1 else 3), repeat=len(runs)):
            for values in self._bounded():
                found = Match(dict(values), {}, dict(self.sorts))
                names = self._declare(found, dict(zip((r.name for r in runs), lengths, strict=True)))
                try:
                    claim = self._claim(found, premise)
                except SortError:
                    continue  # such as (or) without arguments
                yield self._obligation(found, names, values, claim, lengths)

    def _bounded(self) -> Iterator[dict[str, Term]]:
        """Every choice of the variables that stand for a few terms only, where the condition allows it."""
        groups = []
        for variable in self.variables.values():
            sort = variable.sort.instantiate(self.sorts)
            texts = self.rule.bounded.get(variable.name)
            if texts is None and sort is REGLAN:
                texts = _SAMPLES
            if texts is None:
                continue
            terms = []
            for text in texts:
                term = self.applications.convert(self._ground(text), sort)
                if term is not None:
                    terms.append((variable.name, term))
            groups.append(terms)
        for chosen in itertools.product(*groups):
            values = dict(chosen)
            if self._allowed(values):
                yield values

    def _ground(self, sexp: SExp) -> Term:
        """The term without variables that is written so."""
        return self.builder.build(_Reader(common_theories(), {}).pattern(sexp, frozenset()), Match())

    def _allowed(self, values: Mapping[str, Term]) -> bool:
        condition = self.law.condition
        if condition is None or not values:
            return True
        known = {name: value for name, t in values.items() if (value := literal_value(t)) is not None}
        try:
            return bool(holds(condition, known))
        except KeyError:
            return True

    def _declare(self, found: Match, lengths: Mapping[str, int]) -> list[Term]:
        constants: list[Term] = []
        for name, variable in self.variables.items():
            sort = variable.sort.instantiate(self.sorts)
            if name in found.terms:
                continue
            count = lengths[name] if isinstance(variable, Run) else 1
            made = tuple(
                self.table.symbol(Declaration(f"{name}_{i}" if isinstance(variable, Run) else name, (), sort))
                for i in range(count)
            )
            constants.extend(made)
            if isinstance(variable, Run):
                found.runs[name] = made
            else:
                found.terms[name] = made[0]
        return constants

    def _claim(self, found: Match, premise: bool) -> Term:
        """What must be unsatisfiable."""
        left, right = (self.builder.build(side, found) for side in (self.law.left, self.law.right))
        if left.sort is not right.sort:
            raise SortError(f"rule {self.rule.name}: {left.sort} becomes {right.sort}")
        if left.sort is REGLAN:
            text = self.table.symbol(Declaration("text", (), STRING))
            left, right = (self._apply("str.in_re", text, side) for side in (left, right))
        if premise:
            return left if left.sort is BOOL else self._apply("=", left, left)
        if self.law.is_equal:
            return self._apply("distinct", left, right)
        return self._apply("and", left, self._apply("not", right))

    def _apply(self, name: str, *args: Term) -> Term:
        return self.applications.operator(name, (), None, args)

    def _obligation(
        self,
        found: Match,
        constants: list[Term],
        values: Mapping[str, Term],
        claim: Term,
        lengths: tuple[int, ...],
    ) -> Obligation:
        sorts = {s.text for s in self.sorts.values() if isinstance(s, Sort) and s.name.startswith("U_")}
        lines = ["(set-logic ALL)", *(f"(declare-sort {name} 0)" for name in sorted(sorts))]
        lines += [f"(declare-fun {c.op.text} () {c.sort})" for c in constants]
        lines.append("(declare-fun text () String)")
        if self.law.condition is not None:
            condition = self.law.condition
            lines.append(f"(assert {sexp_text(_with_values(condition, values))})")
        lines.append(f"(assert {print_term(claim)})")
        lines.append("(check-sat)")
        # Reading it once more makes numerals Reals where the condition meets Reals.
        text = print_script(check_script(read_script("\n".join(lines) + "\n")))
        shown = [
            *(f"{k}={v}" for k, v in self.sorts.items()),
            *(f"{k}={print_term(t)}" for k, t in values.items()),
        ]
        label = " ".join([self.rule.name, self.law.label, *shown, *map(str, lengths)])
        return Obligation(label, text, bool(values))


def _with_values(condition: SExp, values: Mapping[str, Term]) -> SExp:
    if isinstance(condition, str):
        return print_term(values[condition]) if condition in values else condition
    return type(condition)([_with_values(part, values) for part in condition])
